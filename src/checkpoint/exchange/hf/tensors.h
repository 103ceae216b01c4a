// Maps a model's parameters to the tensors of other programs' files.
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

// A tensor of another program: one of our parameters, or a part of one.
struct ForeignTensor {
  std::string name;
  Shape shape;              // in the file
  bool transposed = false;  // relative to ours
  bool from_one = false;    // ours is the stored value plus one
};

// The tensors that make up `parameter`, in order: concatenated (and transposed where marked) they
// are its elements. Throws ErrorCode::Config if the architecture has no tensor for it.
std::vector<ForeignTensor> hf_tensors_of(const TensorSpec& parameter,
                                         const Architecture& architecture);
// The same with the rows of any format, without the prefix of names; empty if no row matches.
std::vector<ForeignTensor> foreign_tensors_of(const TensorSpec& parameter,
                                              std::span<const TensorRow> rows);

// File by tensor, from model.safetensors.index.json. Throws ErrorCode::Data naming `path` if it is
// not an index or names a file that is not beside it.
std::map<std::string, std::string> parse_hf_index(std::string_view text, const std::string& path);

inline constexpr std::string_view kHfWeightsName = "model.safetensors";
inline constexpr std::string_view kHfIndexName = "model.safetensors.index.json";
inline constexpr std::string_view kHfConfigName = "config.json";

}  // namespace ingot
