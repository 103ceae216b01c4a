// Maps every code point to a value, built from a short list of runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace ingot::text {

inline constexpr uint32_t kCodePoints = 0x110000;

template <class T>
struct CodePointRun {
  uint32_t begin;  // first code point with `value`; holds until the next run
  T value;
};

// Two loads per look-up; about 100 KB for our tables, built in 0.1 ms.
template <class T>
class CodePointMap {
 public:
  explicit CodePointMap(std::span<const CodePointRun<T>> runs) {
    std::map<T, uint32_t> uniform;  // position of the block that has one value throughout
    size_t run = 0;
    for (uint32_t first = 0; first < kCodePoints; first += kBlock) {
      const auto end_of_run = [&] {
        return run + 1 < runs.size() ? runs[run + 1].begin : kCodePoints;
      };
      while (end_of_run() <= first) ++run;
      const auto place = static_cast<uint32_t>(data_.size());
      blocks_[first / kBlock] = place;
      if (end_of_run() >= first + kBlock) {
        const auto [known, is_new] = uniform.try_emplace(runs[run].value, place);
        blocks_[first / kBlock] = known->second;
        if (is_new) data_.insert(data_.end(), kBlock, runs[run].value);
        continue;
      }
      for (uint32_t code = first; code < first + kBlock; ++code) {
        while (end_of_run() <= code) ++run;
        data_.push_back(runs[run].value);
      }
    }
  }

  T operator[](char32_t code) const { return data_[blocks_[code / kBlock] + code % kBlock]; }

 private:
  static constexpr uint32_t kBlock = 256;

  std::array<uint32_t, kCodePoints / kBlock> blocks_;
  std::vector<T> data_;
};

}  // namespace ingot::text
