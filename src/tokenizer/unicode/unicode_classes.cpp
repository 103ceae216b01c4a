#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace unicode_tables {

#include "tokenizer/unicode/unicode_classes.inc"

}  // namespace unicode_tables

std::string_view unicode_version() {
  return unicode_tables::kUnicodeVersion;
}

}  // namespace ingot
