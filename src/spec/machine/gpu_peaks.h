// Peak FLOP/s of GPUs from the makers' data sheets: dense, without sparsity.
#pragma once

#include <string_view>

#include "spec/model/precision.h"

namespace ingot {

// Peak of one GPU in train.precision (never auto), in FLOP/s; 0 if no data sheet is known, or if
// the GPU does not support that precision. `gpu` is its driver's name: "NVIDIA H200".
double datasheet_peak_flops(std::string_view gpu, Precision precision);

// Throws ErrorCode::Config if `tflops`, given as the peak of `gpu`, is the data sheet's figure with
// sparsity, twice the dense peak. For an unknown GPU ("" or not in the table) the figure is
// compared with every row, except figures that are also a dense peak. Precision auto counts as
// bf16.
void check_dense_peak(double tflops, std::string_view gpu, Precision precision);

}  // namespace ingot
