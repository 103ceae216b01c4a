// Looks for the place where a forward pass leaves the finite numbers. A pass that is handed one
// shows it every activation in order, and waits for the device each time: for a pass that is made
// again, once its result is known to be NaN or infinite.
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

  // Any of these does nothing once a place is found, and of a tensor that is not defined.
  // `tensor`: contiguous, of any float dtype. `layer`: from 0, as in names of tensors; -1: in none.
  void look(std::string_view what, const Tensor& tensor, int64_t layer = -1);
  // The 1/rms that a norm computed of what is called so: 0 where squares overflow, which makes a
  // row of zeros out of numbers that are still finite.
  void look_at_norm(std::string_view normed, const Tensor& rstd, int64_t layer = -1);
  // What a layer computed; `next`: the stream that leaves it.
  void look_at_layer(int64_t layer, const LayerTensors& x, const Tensor& next);
  // The norm after the last of `layers`.
  void look_at_final_norm(int64_t layers, const Tensor& normed, const Tensor& rstd);

  // "layer 3, attention output: not finite"; empty: all that it was shown is finite.
  const std::string& found() const { return found_; }

 private:
  bool holds(const Tensor& tensor, bool (*bad)(double));

  Context& ctx_;
  std::vector<std::byte> host_;
  std::string found_;
};

}  // namespace ingot
