// The recipe reader on arbitrary bytes: it returns a config or throws Error, and what it returns
// survives being written and read again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error/error.h"
#include "spec/run/valid_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ingot::RunConfig config;
  try {
    config = ingot::parse_run_config(text, "fuzz.toml", {});
  } catch (const ingot::Error&) {
    return 0;
  }
  const std::string resolved = ingot::to_toml(config);
  if (ingot::to_toml(ingot::parse_run_config(resolved, "resolved.toml", {})) != resolved) abort();
  try {
    const ingot::ValidConfig valid(config);
  } catch (const ingot::Error&) {
  }
  return 0;
}
