// One document between its source and the tokenizer.
#pragma once

#include <string>

namespace ingot {

struct Document {
  std::string id;        // unique within its source
  std::string source;    // the source's name
  std::string text;      // UTF-8, not validated yet when it is read
  std::string url;       // empty: unknown
  std::string language;  // the detector's label ("en", "Latn"); empty: unknown
};

}  // namespace ingot
