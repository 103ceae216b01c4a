#include "tokenizer/hf/regex/pattern_guard.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <vector>

namespace ingot {
namespace {

constexpr int kManyTimes = 1000;  // a repetition up to so often counts as one without end

class Scanner {
 public:
  explicit Scanner(std::string_view pattern) : pattern_(pattern) {}

  PatternVerdict verdict() {
    groups_.push_back({});
    while (at_ < pattern_.size() && refusal_.empty()) step();
    return {refusal_, hides_steps_};
  }

 private:
  struct Group {
    bool gives_nothing_back = false;  // look-around or atomic
    bool repeats = false;             // something in it does, without end
    bool hides_steps = false;         // … and gives nothing back
  };

  bool at(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  bool skip(std::string_view text) {
    if (!at(text)) return false;
    at_ += text.size();
    return true;
  }

  void step() {
    if (skip("(")) return open();
    if (skip(")")) return close();
    last_ = {};
    if (at("\\G")) refusal_ = "\\G, where a search began,";
    if (at("\\g")) refusal_ = "\\g, a call of a group,";
    if (skip("\\")) {
      ++at_;
    } else if (at("[")) {
      at_ = class_end(pattern_, at_);
    } else {
      ++at_;
    }
    quantifiers();
  }

  void open() {
    Group group;
    if (at("*") || at("?{")) refusal_ = "a callout";
    if (at("?~")) refusal_ = "an absent operator";
    if (skip("?#")) {
      while (at_ < pattern_.size() && !at(")")) at_ += at("\\") ? 2 : 1;
    } else if (skip("?=") || skip("?!") || skip("?>") || skip("?<=") || skip("?<!")) {
      group.gives_nothing_back = true;
    } else if (at("?")) {
      const std::string_view options = pattern_.substr(at_ + 1);
      const size_t end = std::min(options.find_first_not_of("imxWDSPyIL-{}gw"), options.size());
      if (options.substr(0, end).find('x') != std::string_view::npos) refusal_ = "free spacing";
    }
    groups_.push_back(group);
  }

  void close() {
    if (groups_.size() == 1) return;  // not a pattern: the engine says so
    last_ = groups_.back();
    groups_.pop_back();
    last_.hides_steps |= last_.gives_nothing_back && last_.repeats;
    hides_steps_ |= last_.hides_steps;
    quantifiers();
    groups_.back().repeats |= last_.repeats;
    groups_.back().hides_steps |= last_.hides_steps;
  }

  // After an atom, which `last_` describes.
  void quantifiers() {
    while (at_ < pattern_.size()) {
      bool endless = false, may_be_possessive = true, is_possessive = false;
      if (at("*") || at("+")) {
        endless = true;
        ++at_;
      } else if (at("{")) {
        const size_t end = pattern_.find('}', at_);
        if (end == std::string_view::npos) return;
        const std::string_view numbers = pattern_.substr(at_ + 1, end - at_ - 1);
        const size_t comma = std::min(numbers.find(','), numbers.size());
        const bool has_end = comma + 1 != numbers.size();
        const int low = count_in(numbers), high = count_in(numbers.substr(comma));
        endless = !has_end || std::max(low, high) > kManyTimes;
        at_ = end + 1;
        // A + after it repeats it all. With the larger number first, it gives nothing back.
        may_be_possessive = false;
        is_possessive = high > 0 && low > high;
      } else if (!skip("?")) {
        return;
      }
      if (endless && last_.hides_steps) {
        refusal_ = "a repetition of what repeats and gives nothing back";
        return;
      }
      last_.repeats |= endless;
      is_possessive |= may_be_possessive && skip("+");
      last_.hides_steps |= is_possessive && endless;
      hides_steps_ |= last_.hides_steps;
      groups_.back().repeats |= last_.repeats;
      groups_.back().hides_steps |= last_.hides_steps;
    }
  }

  static int count_in(std::string_view text) {  // the number that it begins with, after a comma
    if (text.starts_with(',')) text.remove_prefix(1);
    int count = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
    return read.ec == std::errc::result_out_of_range ? INT_MAX : count;
  }

  std::string_view pattern_;
  size_t at_ = 0;
  std::vector<Group> groups_;
  Group last_;
  std::string_view refusal_;
  bool hides_steps_ = false;  // anywhere
};

}  // namespace

size_t class_end(std::string_view pattern, size_t begin) {
  int depth = 0;
  size_t at = begin;
  const auto skip = [&](char c) {
    const bool is = at < pattern.size() && pattern[at] == c;
    at += is ? 1 : 0;
    return is;
  };
  do {
    if (skip('[')) {
      ++depth;
      skip('^');
      skip(']');  // first, it is a character
    } else if (skip(']')) {
      --depth;
    } else {
      at += pattern[at] == '\\' ? 2 : 1;
    }
  } while (depth > 0 && at < pattern.size());
  return at;
}

PatternVerdict verdict_on_pattern(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) return {"a pattern of more than 64 KiB"};
  return Scanner(pattern).verdict();
}

}  // namespace ingot
