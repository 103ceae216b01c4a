// The reader of hardware profiles on arbitrary bytes: it returns one that survives being written
// and read again, or throws Error.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/error/error.h"
#include "spec/machine/hardware_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ingot::HardwareProfile profile;
  try {
    profile = ingot::parse_hardware_profile(text, "fuzz.toml");
  } catch (const ingot::Error&) {
    return 0;
  }
  const std::string written = ingot::to_toml(profile);
  if (ingot::to_toml(ingot::parse_hardware_profile(written, "written.toml")) != written) abort();
  return 0;
}
