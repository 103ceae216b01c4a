// Settings of cleaning from arbitrary bytes: a config or an Error, and what is returned survives
// being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error/error.h"
#include "ingest/clean/clean_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ingot::CleanSettings config;
  try {
    config = ingot::parse_clean_config(text, "fuzz.toml", {});
  } catch (const ingot::Error&) {
    return 0;
  }
  const std::string resolved = ingot::to_toml(config);
  if (ingot::to_toml(ingot::parse_clean_config(resolved, "resolved.toml", {})) != resolved) abort();
  return 0;
}
