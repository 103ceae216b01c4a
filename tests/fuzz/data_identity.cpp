// The record of a run's data on arbitrary JSON: an identity that counts, or Error.
#include <cstdint>
#include <cstdlib>

#include "core/error/error.h"
#include "feed/seen.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto json = nlohmann::json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
    const ingot::DataIdentity identity = ingot::parse_data_identity(json, "fuzz");
    if (ingot::parse_data_identity(ingot::to_json(identity), "again").hash() != identity.hash())
      abort();
    int64_t total = 0;
    for (const ingot::SourceSeen& seen : ingot::sources_seen(identity, 1'000'000)) {
      if (seen.samples < 0 || seen.repeated < 0) abort();
      total += seen.samples;
    }
    if (total != 1'000'000) abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
