// The weights of a model in files: a checkpoint's or another program's.
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

// Names and layout are those of transformer_parameters(). Thread-safe.
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

// Reads ranges of weights in order, in pieces. Its own threads read some pieces ahead and check
// them, so that the disk has several requests at a time and reading overlaps with the caller's
// writing. Memory does not grow with the model.
class PieceReader {
 public:
  static constexpr int64_t kPieceBytes = int64_t{1} << 20;  // at most

  // `weights` must outlive it.
  PieceReader(const Weights& weights, std::vector<WeightsRange> ranges);
  ~PieceReader();
  // Calls `take` with the pieces of the next range, in order; each is valid until `take` returns.
  // Throws ErrorCode::Data, naming the element, if one is NaN or infinite.
  void next_range(const TakePiece& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls `take` with the pieces of one range.
void for_each_piece(const Weights& weights, const std::string& name, ShardRange range, DType dtype,
                    const TakePiece& take);

// The same weights; reading them calls `progress` with the number of elements read so far, from one
// thread at a time. `progress` may be empty. `weights` must outlive the result.
using WeightsProgress = std::function<void(int64_t elements, int64_t of)>;
std::unique_ptr<Weights> with_progress(const Weights& weights, WeightsProgress progress);

// The same model with rotary pairs in another style: the rows of queries and keys, with their
// biases and norms, are in that style's order. `weights` must outlive the result.
std::unique_ptr<Weights> with_rope_style(const Weights& weights, RopeStyle style);

}  // namespace ingot
