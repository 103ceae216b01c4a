// Inside parallel: the names and shapes that the store's rows and the stores agree on.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "parallel/shard/parameter_store.h"

namespace ingot {

// One rank has nothing to shard.
inline DataParallel store_mode(const Mesh& mesh) {
  return mesh.data > 1 ? mesh.mode : DataParallel::Replicated;
}

inline constexpr std::array kGatherWeights = {"gather.weights.0", "gather.weights.1"};
inline constexpr std::array kGatherGradients = {"gather.gradients.0", "gather.gradients.1"};
inline constexpr const char* kGatherPart = "gather.part";

// The row that belongs to parameter `name`: "grad:" + name and so on; name itself for Weight. Of an
// optimizer's state it is the state's name that stands before.
std::string store_row_name(TensorKind kind, const std::string& name);
std::string state_row_name(const std::string& state, const std::string& name);

// Where the parameters of a block lie in a gather buffer, each whole and padded to equal shards.
struct BlockLayout {
  struct Entry {
    TensorId parameter;
    int64_t begin = 0;         // element of the buffer
    int64_t padded_numel = 0;  // ranks · padded_shard_size
  };
  std::vector<Entry> entries;
  int64_t num_elements = 0;
};

// By block number.
std::vector<BlockLayout> block_layouts(const TensorTable& parameters, int ranks);

// The shards of `rank` as views of `placed`, in the order of the parameter table.
std::vector<ParameterShard> store_shards(const TensorTable& parameters, const Mesh& mesh, int rank,
                                         const PlacedTensors& placed, DType compute);

}  // namespace ingot
