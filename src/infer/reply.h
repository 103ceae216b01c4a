// Replies as text, for callers that wait for them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "infer/model.h"
#include "infer/text_stream.h"

namespace ingot {

struct Reply {
  std::vector<int32_t> ids;  // all new tokens
  std::string text;          // their text, up to a stop string
  Finish finish = {FinishReason::Failed};
  // Measured from the construction of the sink.
  double first_token_seconds = 0.0, seconds = 0.0;
};

// Collects one reply.
class ReplySink final : public RequestSink {
 public:
  // Gets each piece of text as soon as later tokens cannot change it; must not throw.
  using OnText = std::function<void(std::string_view)>;

  // The arguments of TextStream. `tokenizer` must outlive this.
  explicit ReplySink(const Tokenizer& tokenizer, std::vector<std::string> stop_strings = {},
                     int32_t first_id = -1, OnText on_text = {});

  bool on_token(const TokenScore& token) override;
  void on_finish(const Finish& finish) override;

  bool is_done() const { return is_done_; }
  const Reply& reply() const { return reply_; }

 private:
  void give(const std::string& text);
  double elapsed_seconds() const;

  TextStream stream_;
  OnText on_text_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  Reply reply_;
  bool is_done_ = false;
};

// Writes the text after `prompt`, up to a stop id of the model or `max_tokens`; 0 = as many as the
// context has room for. Throws ErrorCode::Numeric if the model's logits are not finite.
Reply write_text(LoadedModel& model, const std::string& prompt, int64_t max_tokens,
                 const SamplingOptions& sampling, const ReplySink::OnText& on_text = {});

// Calls `take` with the logits (V) after each of `ids`, in order; a row is valid until the next.
// Uses the model's decoder directly, so its engine must be idle. Throws ErrorCode::Usage for an id
// outside the vocabulary, and ErrorCode::Numeric for logits that are not finite, naming the first
// activation that is not finite.
void for_each_logits(LoadedModel& model, std::span<const int32_t> ids,
                     const std::function<void(std::span<const float>)>& take);

}  // namespace ingot
