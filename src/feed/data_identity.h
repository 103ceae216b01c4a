// Identifies the data that a stream of samples comes from. It is recorded with a run: only together
// with it does the run's counter say which samples were trained on.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "feed/sample_stream.h"

namespace ingot {

struct DataIdentity {
  struct Source {
    std::string path;      // not part of the hash, so that data may move
    uint64_t content = 0;  // TokenSource::content_hash()
    int64_t tokens = 0, documents = 0, samples = 0;
    double weight = 1.0;
  };
  int64_t seq = 0;  // T
  int64_t seed = 0;
  std::string packing;  // "concat", "best_fit"
  std::vector<Source> sources;

  uint64_t hash() const;
};

// `paths` names the stream's sources, in order.
DataIdentity identity_of(const SampleStream& stream, Packing packing, int64_t seed,
                         const std::vector<std::string>& paths);

nlohmann::json to_json(const DataIdentity& identity);
// Throws ErrorCode::Data if `json` is not what to_json() gives.
DataIdentity parse_data_identity(const nlohmann::json& json, const std::string& origin);

// "seed (was 1, is 2), the content of source shards/web"; empty if the hashes are equal.
std::string difference(const DataIdentity& was, const DataIdentity& is);

}  // namespace ingot
