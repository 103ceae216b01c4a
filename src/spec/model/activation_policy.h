#pragma once

namespace ingot {

// Which activations the backward pass recomputes: none, those that take another pass over memory
// (norms, activation functions), or all but the residual stream.
enum class ActivationPolicy { None, Selective, Full };

}  // namespace ingot
