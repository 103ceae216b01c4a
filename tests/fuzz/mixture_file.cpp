// The mixture reader on arbitrary text: sources whose values are in range, or Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error/error.h"
#include "spec/run/mixture_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto sources = ingot::parse_mixture(text, "fuzz.toml");
    if (sources.empty()) abort();
    for (const auto& source : sources)
      if (source.path.empty() || !(source.weight > 0) || !(source.max_epochs >= 0)) abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
