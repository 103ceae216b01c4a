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

// What a parameter is, for init, decay and optimizer choice.
enum class Role { None, Embedding, Matrix, Norm, Bias, Head };

// How a parameter is initialised: N(0, std²), which is 0 where std is, or one.
enum class InitRule { None, Normal, Ones };

// Which recompute policy drops the tensor after the forward pass and rebuilds it in the backward;
// Always: every one, since rebuilding it costs nothing (it comes with another pass).
enum class Recompute { Never, Selective, Full, Always };

// Ticks of one micro-step (spec/rows/block_use.h), both included. The default is as long as the run
// lasts.
struct Lifetime {
  static constexpr int kForever = std::numeric_limits<int>::max();

  int first = 0;
  int last = kForever;

  bool at(int tick) const { return first <= tick && tick <= last; }
  bool operator==(const Lifetime&) const = default;
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
  int block = -1;              // parameters and what a store keeps of them: their block
  int64_t shard_dim = -1;      // tensor parallel split; -1 = replicated
  MemorySpace space = MemorySpace::Device;
  // In order and apart. Between two of them it holds nothing: rows may share memory when no tick is
  // in a life of both. What another lane may still read or write lives through every tick of that
  // transfer.
  std::vector<Lifetime> lives = {Lifetime{}};
  Recompute recompute = Recompute::Never;
  // Rows of a parameter store: whose elements lie in it, in the order of the block. Numbers of the
  // parameter table.
  std::vector<TensorId> parameters;

  int64_t bytes() const { return shape.numel() * size_of(dtype); }
  bool lives_at(int tick) const;
  bool whole_run() const { return lives == std::vector{Lifetime{}}; }
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

// Where every row lies, aligned to kArenaAlignment, in one arena for each space. Deterministic: the
// same table gives the same plan everywhere.
struct MemoryPlan {
  std::vector<int64_t> offset;  // by row, in the arena of its space
  int64_t total_bytes = 0;      // of the device's arena
  int64_t pinned_bytes = 0;     // of page-locked host memory
  int64_t host_bytes = 0;       // of plain host memory
  // Of the device: the sum of aligned row bytes by kind. Rows that do not live through the whole
  // run are packed and count as activations, with their peak, so that the column adds up to
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
