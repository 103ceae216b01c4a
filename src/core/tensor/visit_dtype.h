// From a dtype to the type of its elements on the host.
#pragma once

#include <cstdint>

#include "core/tensor/dtype.h"

namespace ingot {

template <DType>
struct ElementOf;
// clang-format off
template <> struct ElementOf<DType::F64> { using Type = double; };
template <> struct ElementOf<DType::F32> { using Type = float; };
template <> struct ElementOf<DType::BF16> { using Type = Bf16; };
template <> struct ElementOf<DType::F16> { using Type = F16; };
template <> struct ElementOf<DType::F8E4M3> { using Type = F8E4M3; };
template <> struct ElementOf<DType::F8E5M2> { using Type = F8E5M2; };
template <> struct ElementOf<DType::I64> { using Type = int64_t; };
template <> struct ElementOf<DType::I32> { using Type = int32_t; };
template <> struct ElementOf<DType::U32> { using Type = uint32_t; };
template <> struct ElementOf<DType::U16> { using Type = uint16_t; };
template <> struct ElementOf<DType::U8> { using Type = uint8_t; };
// clang-format on

// Calls f(T{}) with the type of Element<dtype> if `dtype` is one of kDTypes. Returns whether it is.
template <template <DType> class Element, DType... kDTypes, class F>
bool visit_dtype_as(DType dtype, const F& f) {
  return ((dtype == kDTypes && (static_cast<void>(f(typename Element<kDTypes>::Type{})), true)) ||
          ...);
}

// The same with the element type on the host.
template <DType... kDTypes, class F>
bool visit_dtype(DType dtype, const F& f) {
  return visit_dtype_as<ElementOf, kDTypes...>(dtype, f);
}

}  // namespace ingot
