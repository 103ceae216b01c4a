#include "ingest/clean/filters/aho_corasick.h"

namespace ingot {

AhoCorasick::AhoCorasick(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) {
    for (const char byte : pattern) {
      uint16_t& number = classes_[static_cast<unsigned char>(byte)];
      if (number == 0) number = static_cast<uint16_t>(num_classes_++);
    }
  }
  const auto next = [&](uint32_t state, uint32_t number) -> uint32_t& {
    return next_[state * num_classes_ + number];
  };
  const auto add_state = [&](uint32_t depth) {
    states_.push_back({depth, 0, 0});
    next_.resize(next_.size() + num_classes_);
    return static_cast<uint32_t>(states_.size() - 1);
  };

  add_state(0);
  for (const std::string& pattern : patterns) {
    uint32_t state = 0;
    for (const char byte : pattern) {
      const uint16_t number = classes_[static_cast<unsigned char>(byte)];
      if (next(state, number) == 0) {
        const uint32_t added = add_state(states_[state].depth + 1);
        next(state, number) = added;
      }
      state = next(state, number);
    }
    states_[state].match = state;
  }

  // Breadth first, so that a state's suffix, which is shorter, is complete when it is needed. A
  // step that is missing goes where the suffix goes.
  std::vector<uint32_t> queue{0};
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t state = queue[i], suffix = states_[state].suffix;
    if (states_[state].match == 0) states_[state].match = states_[suffix].match;
    for (uint32_t number = 0; number < num_classes_; ++number) {
      const uint32_t target = next(state, number);
      const uint32_t by_suffix = state == 0 ? 0 : next(suffix, number);
      if (target == 0) {
        next(state, number) = by_suffix;
      } else {
        states_[target].suffix = by_suffix;
        queue.push_back(target);
      }
    }
  }
}

}  // namespace ingot
