#include "ingest/clean/filter.h"

#include <fmt/format.h>
#include <xxhash.h>

#include "core/error/error.h"
#include "core/text/utf8.h"

namespace ingot {

std::string CleanFiles::read(const std::string& path) {
  std::string contents = path.empty() ? std::string() : read_text(storage_, path);
  hash_ = XXH3_64bits_withSeed(contents.data(), contents.size(), hash_ + contents.size());
  return contents;
}

std::string CleanFiles::read_list(const std::string& path) {
  std::string contents = read(path);
  const size_t valid = valid_utf8_prefix(contents);
  check(valid == contents.size(), ErrorCode::Data,
        "{}: not UTF-8 at byte {}: convert it, with iconv for example", path, valid);
  return contents;
}

std::string FilterSettings::key(std::string_view setting) const {
  return fmt::format("{}.{}", name_, setting);
}

void FilterSettings::expect_order(std::string_view what, double least, double most) const {
  check(least >= 0 && (most == 0 || least <= most), ErrorCode::Config,
        "clean.{}: expected 0 ≤ min ≤ max, got {} and {}", key(what), least, most);
}

}  // namespace ingot
