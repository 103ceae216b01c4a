#include "simd_functions.h"

#include "ops/cpu/simd.h"

namespace ingot::cpu::INGOT_ISA {

void apply(Function function, const float* x, float* y, int64_t n) {
  for_each_vector<float>(n, [&](int64_t i, auto count) {
    const FloatV v = load_n(x + i, count);
    switch (function) {
      case Function::Exp:
        return store_n(y + i, exp(v), count);
      case Function::Log:
        return store_n(y + i, log(v), count);
      case Function::Tanh:
        return store_n(y + i, tanh(v), count);
      case Function::Sigmoid:
        return store_n(y + i, sigmoid(v), count);
    }
  });
}

void to_bf16(const float* x, Bf16* y, int64_t n) {
  for_each_vector<float>(n, [&](int64_t i, auto count) {
    store_n(y + i, load_n(x + i, count), count);
    store_n(y + i, load_n(y + i, count), count);  // widened and narrowed again: nothing changes
  });
}

double horizontal_sum_of(const float* x) {
  return horizontal_sum(load(x));
}
double horizontal_max_of(const float* x) {
  return horizontal_max(load(x));
}
int vector_lanes() {
  return kLanes<float>;
}

}  // namespace ingot::cpu::INGOT_ISA

#include "core/device/isa_end.h"
