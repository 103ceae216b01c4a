// Operand checks of the ops that rotate heads.
#pragma once

#include "ops/common/checks.h"
#include "ops/rope.h"

namespace ingot {

// x(B, T, H, D) and its tables, as described in ops/rope.h.
inline void check_rotation(const char* op, const Tensor& x, const RopeInput& rope) {
  const auto& [cos, sin, positions, first_position, pairs] = rope;
  check_float(op, "x", x);
  check_rank(op, "x", x, 4);
  const int64_t B = x.shape[0], T = x.shape[1], D = x.shape[3];
  check(D % 2 == 0, ErrorCode::Internal, "{}: heads must have an even width, got {}", op, x);
  check_rank(op, "cos", cos, 2);
  const int64_t context = cos.shape[0];
  for (const Tensor* table : {&cos, &sin}) {
    check_dtype(op, "table", *table, accumulation_dtype(x.dtype));
    check_shape(op, "table", *table, {context, D / 2});
    check_contiguous(op, "table", *table);
  }
  if (positions.defined()) {
    check_shape(op, "positions", positions, {B, T});
    check_contiguous(op, "positions", positions);
    const int64_t visible = positions.device.kind == DeviceKind::Cpu ? B * T : 0;
    for (int64_t n = 0; n < visible; ++n) {
      const int32_t position = positions.as<int32_t>()[n];
      check(position >= 0 && position < context, ErrorCode::Data,
            "position {} is beyond the rotary table's context of {}", position, context);
    }
  } else {
    check(first_position >= 0 && first_position + T <= context, ErrorCode::Data,
          "positions {} to {} are beyond the rotary table's context of {}", first_position,
          first_position + T - 1, context);
  }
}

}  // namespace ingot
