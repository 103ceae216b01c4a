// A source whose tokens tell where they are from.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "shards/token_source.h"

namespace ingot::testing_support {

// Token i is i; a document begins at each of `starts`.
class CountingSource final : public TokenSource {
 public:
  explicit CountingSource(int64_t num_tokens, std::vector<int64_t> starts = {0})
      : num_tokens_(num_tokens), starts_(std::move(starts)) {}
  int64_t num_tokens() const override { return num_tokens_; }
  int64_t num_bytes(int64_t begin, int64_t end) const override { return end - begin; }
  void read(int64_t begin, std::span<int32_t> out) const override {
    ASSERT_LE(begin + static_cast<int64_t>(out.size()), num_tokens_);
    std::iota(out.begin(), out.end(), static_cast<int32_t>(begin));
  }
  int64_t num_documents() const override { return static_cast<int64_t>(starts_.size()); }
  int64_t document_begin(int64_t document) const override {
    return document == num_documents() ? num_tokens_ : starts_[static_cast<size_t>(document)];
  }
  int64_t document_at(int64_t position) const override {
    return std::upper_bound(starts_.begin(), starts_.end(), position) - starts_.begin() - 1;
  }
  std::string document_name(int64_t document) const override { return std::to_string(document); }
  uint64_t content_hash() const override { return static_cast<uint64_t>(num_tokens_); }
  std::string describe() const override { return "numbers"; }

 private:
  int64_t num_tokens_;
  std::vector<int64_t> starts_;
};

}  // namespace ingot::testing_support
