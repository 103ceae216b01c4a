// Computes many replies at once from one model. generate, chat, serve and eval all use the decoder
// through it.
//
// Requests wait in order of arrival until the pages of their prompt are free. Each step() computes
// one new token of every reply that is being written and, in the rows left, chunks of prompts. Keys
// and values of finished requests stay in their pages until pages run short, so that a request with
// the same beginning need not compute them again. If a reply needs a page and none is free, the
// youngest request is preempted: it gives its pages back, waits, and is computed again. None of
// this changes the bits of a reply.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "infer/sampling.h"
#include "model/paged_decoder.h"

namespace ingot {

struct Request {
  std::vector<int32_t> prompt = {};  // at least one id; the caller adds BOS
  SamplingOptions sampling = {};
  int64_t max_tokens = 0;              // most new tokens; 0: only scores the prompt
  std::vector<int32_t> stop_ids = {};  // each ends the reply and is not part of it
  // -1: no log-probabilities. n >= 0: those of every new token and of the n likeliest ids there.
  int64_t top_logprobs = -1;
  // -1: no scores. p >= 0: scores prompt[p] and all ids after it, each given those before it.
  // prompt[0] has no score: nothing comes before it.
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
  bool is_likeliest = false;              // it has the largest logit; of equal ones, the lowest id
  std::vector<IdLogprob> likeliest = {};  // as many as Request::top_logprobs, likeliest first
};

enum class FinishReason { Stop, Length, Cancelled, Failed };
std::string_view name_of(FinishReason reason);  // "stop", "length", "cancelled", "failed"

struct Finish {
  FinishReason reason;
  int32_t stop_id = -1;    // with Stop: the id that ended it; -1: on_token() ended it
  std::string error = {};  // with Failed: one sentence
  int64_t prompt_tokens = 0;
  int64_t reused_tokens = 0;  // of the prompt, whose keys and values were in pages already
  int64_t new_tokens = 0;
};

// Receives what happens to a request, in the order of these functions. The thread that runs step()
// calls them and waits meanwhile. They must not throw.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  // Once, if prompt_scores_from >= 0: the scores of prompt[max(1, from)] and all ids after it.
  virtual void on_prompt_scores(std::vector<TokenScore> /*scores*/) {}
  // Once, if there are next_ids: their scores, in order.
  virtual void on_next_scores(std::vector<TokenScore> /*scores*/) {}
  // For each new token. Returning false ends the reply with Stop; the token is part of it.
  virtual bool on_token(const TokenScore& /*token*/) { return true; }
  // Once, last.
  virtual void on_finish(const Finish& /*finish*/) {}
};

struct EngineOptions {
  // Only ids below it are drawn: a model may have more ids than its tokenizer. 0 = all.
  int64_t drawn_vocab = 0;
  // Most rows of prompts in a step while replies are being written, so that replies continue
  // evenly; 0: 128, on a GPU 512, which takes some milliseconds for them.
  int64_t prompt_rows_beside_replies = 0;
  // Reads rows of logits in parallel; nothing else may use it during step(). Null: one by one.
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
  // Thread-safe. The next step() ends the request and calls on_finish(). Does nothing if it has
  // finished.
  void cancel(RequestId id);

  // Computes one step; false if nothing is left to do. One thread at a time. Logits that are not
  // finite fail their request; its error names the first activation that is not finite.
  bool step();
  // Steps until nothing is left.
  void run() {
    while (step()) {
    }
  }
  // For the thread that steps: blocks until there is a request or wake() is called.
  void wait();
  void wake();  // thread-safe

  EngineStats stats() const;  // thread-safe
  // The most tokens of prompt and reply of one request together.
  int64_t max_tokens() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
