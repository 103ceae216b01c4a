// Addresses and patterns that users name, arbitrary: an hf:// address that is taken reads the same
// when it is written out, and a pattern is matched in bounded time, as the plain definition says.
// Input: a pattern or an address, a zero byte, a path.
#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "ingest/clean/filters/url.h"
#include "ingest/read/remote/remote.h"
#include "remote/hub.h"

namespace {

// The definition: exponential, so only for short patterns.
using Component = std::filesystem::path::const_iterator;
bool matches(Component pattern, Component pattern_end, Component name, Component name_end) {
  if (pattern == pattern_end) return name == name_end;
  if (*pattern == "**") {
    if (std::next(pattern) == pattern_end) return name != name_end;
    for (;; ++name) {
      if (matches(std::next(pattern), pattern_end, name, name_end)) return true;
      if (name == name_end) return false;
    }
  }
  return name != name_end && fnmatch(pattern->c_str(), name->c_str(), FNM_PERIOD) == 0 &&
         matches(std::next(pattern), pattern_end, std::next(name), name_end);
}

void read_address(const std::string& address) {
  try {
    const ingot::HfAddress parsed = ingot::parse_hf_address(address);
    const ingot::HfAddress again = ingot::parse_hf_address(ingot::to_string(parsed));
    if (again.repository != parsed.repository || again.revision != parsed.revision ||
        again.path != parsed.path)
      abort();
    ingot::hf_file(address, {});
  } catch (const ingot::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), size);
  const std::string first(input.substr(0, zero)), second(input.substr(std::min(zero + 1, size)));
  read_address("hf://datasets/" + first);
  ingot::is_remote(first);
  const bool is_text = ingot::valid_utf8_prefix(first) == first.size();     // as readers give URLs
  if (is_text && ingot::host_of(first).size() > 3 * first.size()) abort();  // lower case: longer
  const bool found = ingot::matches_pattern(first, second);
  const std::filesystem::path pattern(first), path(second);
  if (std::distance(pattern.begin(), pattern.end()) <= 6 &&
      std::distance(path.begin(), path.end()) <= 12 &&
      found != matches(pattern.begin(), pattern.end(), path.begin(), path.end()))
    abort();
  return 0;
}
