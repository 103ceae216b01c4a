// Manifests of shards from arbitrary bytes: parsed and written back equal, or Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error/error.h"
#include "shards/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const ingot::ShardManifest manifest =
        ingot::parse_manifest({reinterpret_cast<const char*>(data), size}, "fuzz");
    const std::string json = ingot::to_json(manifest);
    if (ingot::to_json(ingot::parse_manifest(json, "again")) != json) abort();
    if (manifest.num_tokens() < 0 || manifest.num_documents() < 0) abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
