// Finds the first non-finite activation of a forward pass. The pass shows it every activation in
// order, and it waits for the device each time. Use it when a pass is repeated because its result
// was NaN or infinite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/context.h"
#include "model/layer_tensors.h"

namespace ingot {

class FirstNotFinite {
 public:
  explicit FirstNotFinite(Context& ctx) : ctx_(ctx) {}

  // These do nothing after the first find, or if the tensor is undefined. `tensor`: contiguous, of
  // any float dtype. `layer`: from 0, as in tensor names; -1: outside the layers.
  void look(std::string_view what, const Tensor& tensor, int64_t layer = -1);
  // Checks the 1/rms of the norm of `normed`: it is 0 if the squares overflow, which turns finite
  // numbers into a row of zeros.
  void look_at_norm(std::string_view normed, const Tensor& rstd, int64_t layer = -1);
  // Checks a layer's activations; `next`: its output, the residual stream.
  void look_at_layer(int64_t layer, const LayerTensors& x, const Tensor& next);
  // Checks the final norm, after layer `layers`.
  void look_at_final_norm(int64_t layers, const Tensor& normed, const Tensor& rstd);

  // "layer 3, attention output: not finite"; empty: all inspected tensors are finite.
  const std::string& found() const { return found_; }

 private:
  bool holds(const Tensor& tensor, bool (*bad)(double));

  Context& ctx_;
  std::vector<std::byte> host_;
  std::string found_;
};

}  // namespace ingot
