// Where the parameters of a model lie among the tensors of other programs' files.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "core/tensor/shape.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// A tensor there, whole or as a part of ours.
struct ForeignTensor {
  std::string name;
  Shape shape;              // there
  bool transposed = false;  // of ours
  bool from_one = false;    // ours is it plus one
};

// Those that make up `parameter`, in order: their elements, turned where they are transposed, are
// its elements. Throws ErrorCode::Config where the architecture has no tensor for it.
std::vector<ForeignTensor> hf_tensors_of(const TensorSpec& parameter,
                                         const Architecture& architecture);
// The same by rows of any format, without what begins names; empty where no row is for it.
std::vector<ForeignTensor> foreign_tensors_of(const TensorSpec& parameter,
                                              std::span<const TensorRow> rows);

// File by tensor, of model.safetensors.index.json. Throws ErrorCode::Data, naming `path`, for what
// is no index or names a file that is not beside it.
std::map<std::string, std::string> parse_hf_index(std::string_view text, const std::string& path);

inline constexpr std::string_view kHfWeightsName = "model.safetensors";
inline constexpr std::string_view kHfIndexName = "model.safetensors.index.json";
inline constexpr std::string_view kHfConfigName = "config.json";

}  // namespace ingot
