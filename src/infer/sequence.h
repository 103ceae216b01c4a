// A request inside the engine: its tokens, its pages, and what is still to be computed.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "infer/engine.h"

namespace ingot {

struct Chunk {
  int64_t num_rows = 0;
  int64_t num_logits = 0;  // the last of these rows, whose logits are wanted
};

struct Sequence {
  Sequence(Request r, std::shared_ptr<RequestSink> to)
      : request(std::move(r)), sink(std::move(to)), tokens(request.prompt) {
    const auto size = std::ssize(request.prompt);
    next_scored = wants_scores() ? std::max<int64_t>(1, request.prompt_scores_from) : size;
  }

  Request request;
  std::shared_ptr<RequestSink> sink;
  std::vector<int32_t> tokens;  // prompt and reply; a slide drops the oldest
  std::vector<int32_t> reply;
  std::vector<int32_t> pages;
  int64_t computed = 0;            // tokens whose keys and values are in `pages`
  std::optional<int64_t> reused;   // tokens that its first pages already held
  int64_t next_scored = 0;         // the first token of the prompt whose score is missing
  std::vector<TokenScore> scores;  // of the prompt, until all are there
  bool gave_scores = false, gave_next_scores = false;

  bool wants_scores() const { return request.prompt_scores_from >= 0; }
  bool misses_scores() const { return next_scored < std::ssize(request.prompt); }
  // Whether the logits after the last token are wanted.
  bool reads_last() const { return request.max_tokens > 0 || !request.next_ids.empty(); }

  // How many tokens must be computed.
  int64_t target() const { return std::ssize(tokens) - (reads_last() ? 0 : 1); }
  // The first position whose logits are wanted; target() if there is none.
  int64_t first_logits() const {
    return misses_scores() ? next_scored - 1 : target() - (reads_last() ? 1 : 0);
  }
  // Tokens that may be taken from known pages instead of being computed.
  std::span<const int32_t> reusable_tokens() const { return first(first_logits()); }
  std::span<const int32_t> computed_tokens() const { return first(computed); }
  // Whether only the last token of the reply must be computed.
  bool writes_reply() const { return !reply.empty() && computed == target() - 1; }

  // The next tokens to compute: at most `rows`, of which at most `logits` have logits.
  Chunk next_chunk(int64_t rows, int64_t logits) const {
    Chunk chunk;
    chunk.num_rows = std::min(rows, target() - computed);
    const int64_t end = computed + chunk.num_rows;
    const int64_t wanted = std::max<int64_t>(0, end - std::max(first_logits(), computed));
    chunk.num_logits = std::min(wanted, logits);
    chunk.num_rows -= wanted - chunk.num_logits;
    return chunk;
  }

 private:
  std::span<const int32_t> first(int64_t n) const {
    return std::span(tokens).first(static_cast<size_t>(n));
  }
};

}  // namespace ingot
