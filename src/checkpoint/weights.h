// The weights of a model, in whatever files they lie: a checkpoint's, or another program's.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/storage.h"
#include "core/tensor.h"
#include "spec/model_config.h"
#include "spec/shard_range.h"

namespace ingot {

// Named and laid out as llama_parameters() has them. Thread-safe.
class Weights {
 public:
  virtual ~Weights() = default;
  virtual const ModelConfig& model() const = 0;
  virtual DType dtype(const std::string& name) const = 0;  // as stored: F64, F32, BF16 or F16
  // Elements [range) of the flattened tensor into `out` (contiguous), converted to its dtype.
  virtual void read(const std::string& name, ShardRange range, const Tensor& out) const = 0;
};

// Elements [range) of a tensor as `dtype`, piece by piece, the next one read ahead, through
// buffers that do not grow with it. Throws ErrorCode::Data, naming the element, where one is NaN or
// infinite.
void for_each_piece(const Weights& weights, const std::string& name, ShardRange range, DType dtype,
                    const std::function<void(const Tensor&)>& take);

// The same model with rotary pairs of another style: rows of queries and keys, and what goes with
// them, stand in that style's order. `weights` must outlive it.
std::unique_ptr<Weights> with_rope_style(const Weights& weights, RopeStyle style);

}  // namespace ingot
