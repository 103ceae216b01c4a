// Settings of mixing shards from arbitrary text: sources and token counts in range, or Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error/error.h"
#include "shards/mix/mix.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const ingot::MixSettings settings =
        ingot::parse_mix({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    if (settings.sources.empty() || settings.shard_tokens < 1) abort();
    if (settings.train_tokens < 0 || settings.valid_tokens < 0 || settings.test_tokens < 0) abort();
    for (const ingot::MixSource& source : settings.sources) {
      if (source.path.empty() || !(source.weight > 0) || source.max_epochs < 1) abort();
    }
  } catch (const ingot::Error&) {
  }
  return 0;
}
