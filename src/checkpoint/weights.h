// The weights of a model, in whatever files they lie: a checkpoint's, or another program's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "core/tensor/tensor.h"
#include "spec/layout/shard_range.h"
#include "spec/model/model_config.h"

namespace ingot {

// Named and laid out as transformer_parameters() has them. Thread-safe.
class Weights {
 public:
  virtual ~Weights() = default;
  virtual const ModelConfig& model() const = 0;
  virtual DType dtype(const std::string& name) const = 0;  // as stored: F64, F32, BF16 or F16
  // Elements [range) of the flattened tensor into `out` (contiguous), converted to its dtype.
  virtual void read(const std::string& name, ShardRange range, const Tensor& out) const = 0;
};

// Elements [range) of the flattened tensor, as `dtype`.
struct WeightsRange {
  std::string name;
  ShardRange range;
  DType dtype = DType::F32;
};

using TakePiece = std::function<void(const Tensor&)>;

// Ranges of weights, one after the other, in pieces. Threads of its own read some pieces ahead and
// check them, so that a disk has several requests at a time and the caller writes while the next
// pieces are read; memory does not grow with the model.
class PieceReader {
 public:
  static constexpr int64_t kPieceBytes = int64_t{1} << 20;  // at most

  // `weights` must outlive it.
  PieceReader(const Weights& weights, std::vector<WeightsRange> ranges);
  ~PieceReader();
  // The pieces of the next range, in order; a piece is the caller's until `take` returns. Throws
  // ErrorCode::Data, naming the element, where one is NaN or infinite.
  void next_range(const TakePiece& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Those of one range.
void for_each_piece(const Weights& weights, const std::string& name, ShardRange range, DType dtype,
                    const TakePiece& take);

// The same weights; tells how many of all elements were read so far. Called by one thread at a
// time; may be empty. `weights` must outlive it.
using WeightsProgress = std::function<void(int64_t elements, int64_t of)>;
std::unique_ptr<Weights> with_progress(const Weights& weights, WeightsProgress progress);

// The same model with rotary pairs of another style: rows of queries and keys, and what goes with
// them, stand in that style's order. `weights` must outlive it.
std::unique_ptr<Weights> with_rope_style(const Weights& weights, RopeStyle style);

}  // namespace ingot
