#include "spec/settings/toml.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/printable.h"
#include "spec/settings/settings.h"
#include "spec/settings/toml_tree.h"

namespace ingot {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;
// Dotted keys nest tables without bound, and toml++ 3.3 destroys nested tables by recursion:
// 200,000 levels overflow an 8 MB stack. Every level costs one of these characters, so counting
// them bounds the depth. A recipe that sets everything has about 70.
constexpr int64_t kMaxNestingMarks = 2000;

bool is_nesting_mark(char c) {
  return c == '.' || c == '[' || c == '{';
}

// Line `number`, counted from 1, as far as a message has room for it.
std::string line_of(std::string_view text, size_t number) {
  for (; number > 1; --number) text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  constexpr size_t kShown = 60;
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::string_view shown = cut_to_width(line, kShown);
  return on_one_line(shown) + (shown.size() < line.size() ? "…" : "");
}

}  // namespace

std::string at_line(std::string_view origin, const toml::source_region& place) {
  return fmt::format("{}:{}", origin, place.begin.line);
}

toml::table parse_toml(std::string_view text, std::string_view origin, std::string_view what) {
  check(text.size() <= kMaxBytes, ErrorCode::Config,
        "{}: expected {} of at most {} bytes, got {}: is this a TOML file?", origin, what,
        kMaxBytes, text.size());
  const auto marks = std::count_if(text.begin(), text.end(), is_nesting_mark);
  check(marks <= kMaxNestingMarks, ErrorCode::Config,
        "{}: expected at most {} dots and opening brackets, got {}: is this a TOML file?", origin,
        kMaxNestingMarks, marks);
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::Config,
                fmt::format("{}: not valid TOML: «{}»", at_line(origin, error.source()),
                            line_of(text, error.source().begin.line)));
  }
}

std::string path_in_file(std::string_view origin, std::string_view path) {
  const std::string folder = parent_path(origin);
  return path.starts_with('/') || folder == "." ? std::string(path) : join_path(folder, path);
}

}  // namespace ingot
