#include "spec/model/precision.h"

#include "core/error/error.h"

namespace ingot {

std::string_view name_of(Precision precision) {
  switch (precision) {
    case Precision::Auto:
      return "auto";
    case Precision::Fp64:
      return "fp64";
    case Precision::Fp32:
      return "fp32";
    case Precision::Tf32:
      return "tf32";
    case Precision::Bf16:
      return "bf16";
    case Precision::Fp16:
      return "fp16";
    case Precision::Fp8:
      return "fp8";
  }
  throw Error(ErrorCode::Internal, "unknown precision");
}

std::string_view name_of(DeviceChoice choice) {
  switch (choice) {
    case DeviceChoice::Auto:
      return "auto";
    case DeviceChoice::Cpu:
      return "cpu";
    case DeviceChoice::Cuda:
      return "cuda";
  }
  throw Error(ErrorCode::Internal, "unknown choice of a device");
}

DType compute_dtype(Precision precision) {
  switch (precision) {
    case Precision::Fp64:
      return DType::F64;
    case Precision::Fp32:
    case Precision::Tf32:
      return DType::F32;
    case Precision::Bf16:
    case Precision::Fp8:
      return DType::BF16;
    case Precision::Fp16:
      return DType::F16;
    case Precision::Auto:
      break;
  }
  throw Error(ErrorCode::Internal, "a run's precision is not decided: expected one but auto");
}

}  // namespace ingot
