// What GPUs are said to reach, by their makers' data sheets: dense, without sparsity.
#pragma once

#include <string_view>

#include "spec/model/precision.h"

namespace ingot {

// Of one GPU in train.precision (never auto), in FLOP/s; 0 where no data sheet is known here, or
// where it has no such products. `gpu` is the name its driver gives: "NVIDIA H200".
double datasheet_peak_flops(std::string_view gpu, Precision precision);

// Throws ErrorCode::Config when `tflops`, said to be the peak of `gpu`, is the figure that a data
// sheet gives with sparsity, twice of what dense products can reach. Where the GPU is not known
// ("", or of no row here), a figure of any: but not one that is also some GPU's dense one.
// precision auto is taken as bf16.
void check_dense_peak(double tflops, std::string_view gpu, Precision precision);

}  // namespace ingot
