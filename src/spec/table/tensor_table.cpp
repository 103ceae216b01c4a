#include "spec/table/tensor_table.h"

#include "core/error/error.h"

namespace ingot {

TensorId TensorTable::add(TensorSpec spec) {
  check(!spec.lives.empty(), ErrorCode::Internal, "{} expected a life, got none", spec.name);
  int64_t before = -1;  // the tick that the life before ends with
  for (const Lifetime& life : spec.lives) {
    check(before < life.first && life.first <= life.last, ErrorCode::Internal,
          "{} expected lives in order that end after they begin, got ticks {} to {} after {}",
          spec.name, life.first, life.last, before);
    before = life.last;
  }
  const TensorId id{static_cast<int32_t>(rows_.size())};
  const bool added = by_name_.emplace(spec.name, id.row).second;
  check(added, ErrorCode::Internal, "the tensor table already has a row named {}", spec.name);
  rows_.push_back(std::move(spec));
  return id;
}

TensorId TensorTable::find(std::string_view name) const {
  const TensorId id = try_find(name);
  check(id.valid(), ErrorCode::Internal, "the tensor table has no row named {}", name);
  return id;
}

TensorId TensorTable::try_find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  return found == by_name_.end() ? TensorId{} : TensorId{found->second};
}

std::string_view name_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::Weight:
      return "weights";
    case TensorKind::Gradient:
      return "gradients";
    case TensorKind::MasterWeight:
      return "master weights";
    case TensorKind::OptimizerState:
      return "optimizer states";
    case TensorKind::GatherBuffer:
      return "gather buffers";
    case TensorKind::Activation:
      return "activations";
    case TensorKind::Workspace:
      return "workspace";
    case TensorKind::Input:
      return "inputs";
    case TensorKind::Cache:
      return "KV cache";
    case TensorKind::Quantized:
      return "quantized";
  }
  throw Error(ErrorCode::Internal, "unknown tensor kind");
}

std::string_view name_of(Role role) {
  switch (role) {
    case Role::None:
      return "none";
    case Role::Embedding:
      return "embedding";
    case Role::Matrix:
      return "matrix";
    case Role::Norm:
      return "norm";
    case Role::Bias:
      return "bias";
    case Role::Head:
      return "head";
  }
  throw Error(ErrorCode::Internal, "unknown role");
}

}  // namespace ingot
