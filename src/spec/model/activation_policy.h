#pragma once

namespace ingot {

// The activations that the backward pass recomputes: none, those that cost one pass over memory
// (norms, activation functions), or all but the residual stream.
enum class ActivationPolicy { None, Selective, Full };

}  // namespace ingot
