// The one table of all tensors of a run: parameters, gradients, optimizer state, activations and
// workspace. The arena allocates from it, `plan` predicts from it, checkpoints use its names, and
// the optimizer groups by it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/device/arena.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace ingot {

enum class TensorKind {
  Weight,
  Gradient,
  MasterWeight,
  OptimizerState,
  GatherBuffer,
  Activation,
  Workspace,
  Input,
  Cache,     // keys and values of a generated sequence
  Quantized  // 8-bit copies of weights, and the scales of everything 8-bit
};

// What a parameter is; decides initialisation, weight decay and optimizer.
enum class Role { None, Embedding, Matrix, Norm, Bias, Head };

// Initial values of a parameter: N(0, std²), all 0 if std is 0, or all 1.
enum class InitRule { None, Normal, Ones };

// The recompute policies that drop the tensor after the forward pass and rebuild it in the backward
// pass. Always: every policy, since another pass rebuilds it at no cost.
enum class Recompute { Never, Selective, Full, Always };

// A range of ticks of one micro-step (spec/rows/block_use.h), both ends included. The default lasts
// for the whole run.
struct Lifetime {
  static constexpr int kForever = std::numeric_limits<int>::max();

  int first = 0;
  int last = kForever;

  bool at(int tick) const { return first <= tick && tick <= last; }
  bool operator==(const Lifetime&) const = default;
};

// Index of a row; a type of its own, so that it is not confused with a layer or a rank.
struct TensorId {
  int32_t row = -1;
  bool valid() const { return row >= 0; }
  bool operator==(const TensorId&) const = default;
};

struct TensorSpec {
  std::string name;  // "layers.3.qkv.weight", "layers.3.qkv", "d.residual"
  Shape shape;
  DType dtype = DType::F32;
  TensorKind kind = TensorKind::Activation;
  Role role = Role::None;
  InitRule init = InitRule::None;
  double init_std = 0.0;
  std::vector<int64_t> parts;  // rows of each matrix if several are stacked in one; else empty
  int block = -1;              // of parameters and of the store's rows
  int64_t shard_dim = -1;      // tensor parallel split; -1 = replicated
  MemorySpace space = MemorySpace::Device;
  // In order and disjoint. Between lifetimes the contents are undefined: two rows may share memory
  // if no tick is in a lifetime of both. A tensor used by a transfer on another lane must live
  // through every tick of that transfer.
  std::vector<Lifetime> lives = {Lifetime{}};
  Recompute recompute = Recompute::Never;
  // For rows of a parameter store: the parameters whose elements it contains, in block order, as
  // ids of the parameter table.
  std::vector<TensorId> parameters;

  int64_t bytes() const { return shape.numel() * size_of(dtype); }
  bool whole_run() const { return lives == std::vector{Lifetime{}}; }
};

class TensorTable {
 public:
  TensorId add(TensorSpec spec);                   // throws if the name exists
  TensorId find(std::string_view name) const;      // throws ErrorCode::Internal if absent
  TensorId try_find(std::string_view name) const;  // invalid id if absent
  const TensorSpec& operator[](TensorId id) const { return rows_[static_cast<size_t>(id.row)]; }
  const std::vector<TensorSpec>& rows() const { return rows_; }

 private:
  std::vector<TensorSpec> rows_;
  std::unordered_map<std::string, int32_t> by_name_;
};

// The offset of every row, aligned to kArenaAlignment, in one arena per memory space.
// Deterministic: the same table gives the same plan everywhere.
struct MemoryPlan {
  std::vector<int64_t> offset;  // by row, in the arena of its space
  int64_t total_bytes = 0;      // of the device's arena
  int64_t pinned_bytes = 0;     // of page-locked host memory
  int64_t host_bytes = 0;       // of plain host memory
  // On the device: the sum of aligned row bytes by kind. Rows that do not live for the whole run
  // are packed; they count as activations with their peak, so that the column adds up to
  // total_bytes.
  struct Category {
    TensorKind kind;
    int64_t bytes;
  };
  std::vector<Category> categories;
};

MemoryPlan plan_memory(const TensorTable& table);

std::string_view name_of(TensorKind kind);
std::string_view name_of(Role role);

}  // namespace ingot
