// Many replies at once from one model: the only door to the decoder for generate, chat, serve and
// eval.
//
// Requests wait in order of arrival until the pages of their prompt are free. Each step() computes
// one new token of every reply that is being written and, in the rows left, chunks of prompts. Keys
// and values of finished requests stay in their pages until pages run short, so that a request that
// begins with the same tokens need not compute them again. When a reply needs a page and there is
// none, the youngest request gives its pages back, waits, and is computed again. None of this
// changes the bits of a reply.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "infer/sampling.h"
#include "model/paged_decoder.h"

namespace ingot {

struct Request {
  std::vector<int32_t> prompt = {};  // at least one id; BOS is the caller's to add
  SamplingOptions sampling = {};
  int64_t max_tokens = 0;              // new ones at most; 0: only scores the prompt
  std::vector<int32_t> stop_ids = {};  // end the reply and are not part of it; empty: no id does
  // -1: no log-probabilities. n >= 0: of every new token, and the n likeliest beside it.
  int64_t top_logprobs = -1;
  // -1: none. p >= 0: scores prompt[p] and the ids after it, given all before each. Id 0 has no
  // score: nothing stands before it.
  int64_t prompt_scores_from = -1;
  // Ids whose log-probability after the whole prompt is wanted: the first ids of continuations
  // that share it.
  std::vector<int32_t> next_ids = {};
  // A full context drops its oldest half, computes the rest again and continues; otherwise it ends
  // the reply.
  bool slide = false;
};

// Log-probabilities are of the unfiltered distribution over the whole vocabulary.
struct IdLogprob {
  int32_t id;
  double logprob;
};
struct TokenScore {
  int32_t id = -1;
  double logprob = 0;
  bool is_likeliest = false;  // no other id has a larger logit; of equals the lowest is it
  std::vector<IdLogprob> likeliest = {};  // Request::top_logprobs of them, likeliest first
};

enum class FinishReason { Stop, Length, Cancelled, Failed };
std::string_view name_of(FinishReason reason);  // "stop", "length", "cancelled", "failed"

struct Finish {
  FinishReason reason;
  int32_t stop_id = -1;    // with Stop: the id that ended it; -1: on_token() did
  std::string error = {};  // with Failed: one sentence
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  // of the prompt, found in pages
  int64_t new_tokens = 0;
};

// What happens to a request, in the order of these functions. Called by the thread that runs
// step(), which waits meanwhile; must not throw.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  // Once, where prompt_scores_from >= 0: the scores of prompt[max(1, from)], ….
  virtual void on_prompt_scores(std::vector<TokenScore> /*scores*/) {}
  // Once, where there are next_ids: their scores, in order.
  virtual void on_next_scores(std::vector<TokenScore> /*scores*/) {}
  // A new token. False ends the reply with Stop; the token is part of it.
  virtual bool on_token(const TokenScore& /*token*/) { return true; }
  // Once, last.
  virtual void on_finish(const Finish& /*finish*/) {}
};

struct EngineOptions {
  // Ids at or above it are never drawn: a model may have more than its tokenizer. 0 = all.
  int64_t drawn_vocab = 0;
  // Rows of a step that chunks of prompts may take while replies are being written, so that these
  // continue evenly.
  int64_t prompt_rows_beside_replies = 128;
  // Reads rows of logits side by side; must not be stepping elsewhere. Null: one after the other.
  ThreadPool* pool = nullptr;
};

struct EngineStats {
  int64_t queued = 0, running = 0;
  int64_t pages = 0, pages_in_use = 0, pages_cached = 0;  // cached: kept, but free when needed
  int64_t computed_tokens = 0, reused_tokens = 0, logit_rows = 0, new_tokens = 0;
  int64_t preemptions = 0, steps = 0;
  int64_t finished = 0, cancelled = 0, failed = 0;  // finished: with Stop or Length
};

using RequestId = uint64_t;

class ReplyEngine {
 public:
  // `decoder` must outlive it.
  ReplyEngine(PagedDecoder& decoder, const EngineOptions& options = {});
  ~ReplyEngine();

  // Thread-safe. Throws ErrorCode::Usage, in one sentence that begins with the field's name, for a
  // request that can never run: an empty prompt, one beyond the context, an id outside the
  // vocabulary, impossible sampling options. `sink` lives until on_finish() has returned.
  RequestId submit(Request request, std::shared_ptr<RequestSink> sink);
  // Thread-safe. Takes effect, with on_finish(), in the next step(); nothing if it has finished.
  void cancel(RequestId id);

  // One step; false if nothing is left to do. One thread at a time. Logits that are not finite fail
  // their request and name the first activation that is not.
  bool step();
  // Until nothing is left.
  void run() {
    while (step()) {
    }
  }
  // Blocks the thread that steps until there is a request or wake() is called.
  void wait();
  void wake();  // thread-safe

  EngineStats stats() const;  // thread-safe
  // Tokens that prompt and reply of one request may have together.
  int64_t max_tokens() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
