// One document on its way from a source to tokens.
#pragma once

#include <string>

namespace ingot {

struct Document {
  std::string id;        // unique within its source
  std::string source;    // the source's name
  std::string text;      // UTF-8; who reads it may rely on that only after checking
  std::string url;       // empty: not known
  std::string language;  // label of whoever determined it ("en", "Latn"); empty: not known
};

}  // namespace ingot
