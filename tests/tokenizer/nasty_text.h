// Text that pre-tokenizers and merges get wrong: classes in every order, runs, broken UTF-8.
#pragma once

#include <string>
#include <vector>

#include "core/random/random.h"

namespace ingot::testing_support {

inline const std::vector<std::string>& nasty_parts() {
  static const std::vector<std::string> parts{"a",
                                              "b",
                                              "s",
                                              "t",
                                              "Z",
                                              "S",
                                              "l",
                                              "L",
                                              "re",
                                              "ve",
                                              "the",
                                              " the",
                                              " a",
                                              "foo",
                                              "Bar",
                                              "HTTP",
                                              "é",
                                              "ß",
                                              "ſ",
                                              "Ж",
                                              "ж",
                                              "ǅ",
                                              "ʰ",
                                              "你",
                                              "好",
                                              "の",
                                              "한",
                                              "क",
                                              "𝐀",
                                              "0",
                                              "7",
                                              "123",
                                              "4567",
                                              "½",
                                              "²",
                                              "٣",
                                              " ",
                                              " ",
                                              " ",
                                              "  ",
                                              "    ",
                                              "\n",
                                              "\n",
                                              "\r\n",
                                              "\n\n",
                                              "\t",
                                              "\v",
                                              "\xC2\x85",
                                              "\xC2\xA0",
                                              "\u2003",
                                              "\u3000",
                                              "\u2028",
                                              "'",
                                              "'",
                                              "'s",
                                              "'LL",
                                              "'ſ",
                                              "n't",
                                              "’",
                                              "\"",
                                              ".",
                                              "...",
                                              ",",
                                              "/",
                                              "//\n",
                                              ";\n/",
                                              "-",
                                              "_",
                                              "(",
                                              "，",
                                              "“",
                                              "—",
                                              "😀",
                                              "\u001C",
                                              "\u200B",
                                              "\u0301",
                                              "ा",
                                              "\xFF",
                                              "\x80",
                                              "\xC3",
                                              "\xE4\xBD",
                                              "\xF0\x9F",
                                              "\xED\xA0\x80",
                                              "\xC0\xAF"};
  return parts;
}

// `length` parts; how many kinds of them differs from seed to seed, so that runs form too.
inline std::string nasty_text(uint64_t seed, size_t length) {
  const RandomStream random(seed, Purpose::Test);
  const auto& parts = nasty_parts();
  const size_t kinds = seed % 3 == 0 ? 4 : seed % 3 == 1 ? 12 : parts.size();
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    const size_t kind = random.bits(i) % kinds;
    text +=
        kinds == parts.size() ? parts[kind] : parts[random.bits(1'000'000 + kind) % parts.size()];
  }
  return text;
}

}  // namespace ingot::testing_support
