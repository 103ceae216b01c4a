// The one table that lists every tensor of a run: parameters, gradients, optimizer state,
// activations and workspace. The arena allocates from it, `plan` predicts from it, checkpoints name
// by it, the optimizer groups by it.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/dtype.h"
#include "core/shape.h"

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

// What a parameter is, for init, decay and optimizer choice.
enum class Role { None, Embedding, Matrix, Norm, Head };

// How a parameter is initialised: N(0, std²) or a constant.
enum class InitRule { None, Normal, Ones };

// Which recompute policy drops the tensor after the forward pass and rebuilds it in the backward;
// Always: every one, since rebuilding it costs nothing (it comes with another pass).
enum class Recompute { Never, Selective, Full, Always };

// Ticks of one micro-step; a tensor lives from `first` to `last`, both included, but for a gap. Two
// tensors may share memory only when their lives do not touch. By default it keeps its memory for
// as long as the run lasts.
struct Lifetime {
  static constexpr int kForever = std::numeric_limits<int>::max();

  int first = 0;
  int last = kForever;
  int gap = -1;  // a tick in between at which it holds nothing; -1: none

  bool at(int tick) const { return first <= tick && tick <= last && tick != gap; }
  bool whole_run() const { return first == 0 && last == kForever && gap < 0; }
};

// Index of a row; typed so that it cannot be mixed up with a layer or a rank.
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
  std::vector<int64_t> parts;  // rows of each matrix, where several stand stacked in one; else none
  int block = -1;              // parameters: the block the store gathers it with
  int gradient_tick = 0;       // parameters: when a micro-step first writes to their gradients
  int64_t shard_dim = -1;      // tensor parallel split; -1 = replicated
  Lifetime life;
  Recompute recompute = Recompute::Never;
  TensorId parameter;  // gradients, masters and optimizer states: the weight they belong to

  int64_t bytes() const { return shape.numel() * size_of(dtype); }
};

class TensorTable {
 public:
  TensorId add(TensorSpec spec);                   // throws on a second row of the same name
  TensorId find(std::string_view name) const;      // throws ErrorCode::Internal when absent
  TensorId try_find(std::string_view name) const;  // invalid id when absent
  const TensorSpec& operator[](TensorId id) const { return rows_[static_cast<size_t>(id.row)]; }
  const std::vector<TensorSpec>& rows() const { return rows_; }

 private:
  std::vector<TensorSpec> rows_;
  std::unordered_map<std::string, int32_t> by_name_;
};

// Where every row lies, aligned to kArenaAlignment. Deterministic: the same table gives the same
// plan everywhere.
struct MemoryPlan {
  std::vector<int64_t> offset;  // by row
  int64_t total_bytes = 0;      // what the arena is created with
  // Sum of aligned row bytes by kind. Rows that do not live through the whole run are packed and
  // count as activations, with their peak, so that the column adds up to total_bytes.
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
