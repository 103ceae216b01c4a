// A model's precompiled_charsmap: replacement rules for strings.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

class CharsMap {
 public:
  struct Match {
    size_t size;  // bytes of the text that it replaces; 0: no rule
    std::string_view replacement;
  };
  static constexpr uint32_t kBasicPlane = 0x10000;  // size of the basic plane
  struct Characters {
    std::bitset<kBasicPlane> replaced;  // a rule exists for the character or a part of it
    std::bitset<kBasicPlane> second;    // characters that are second in a rule
  };

  CharsMap() = default;  // no rules
  // Throws ErrorCode::Data, naming `origin`, if it is not a charsmap.
  CharsMap(std::string_view charsmap, std::string_view origin);

  Match longest(std::string_view text) const;  // the longest rule at the start of the text
  Match shortest(std::string_view text) const;

  Characters characters() const;

 private:
  // darts-clone's double array: the child for byte b is unit base ^ b, if its label is b; the value
  // is in unit base.
  struct Node {
    uint32_t base;
    bool ends;  // a rule ends here; its value exists
  };
  std::optional<Node> root() const;
  std::optional<Node> child(const Node& node, uint8_t byte) const;
  void find_second(const Node& node, uint32_t point, int bytes_left, std::vector<bool>& seen,
                   Characters& characters) const;

  std::vector<uint32_t> units_;
  std::string replacements_;  // each ends with NUL
};

}  // namespace ingot
