#include "infer/engine.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/tensor/kv_page.h"
#include "infer/logit_row.h"
#include "infer/page_cache.h"
#include "infer/sequence.h"

namespace ingot {
namespace {

// A request waits for another one to compute what both begin with, if that saves this many tokens.
constexpr int64_t kWorthWaiting = kPageTokens;
// Waiting requests that a step looks at, in order.
constexpr int64_t kLookAhead = 64;

int64_t pages_of(int64_t tokens) {
  return (tokens + kPageTokens - 1) / kPageTokens;
}

void check_ids(std::string_view what, std::span<const int32_t> ids, int64_t vocab) {
  for (const int32_t id : ids)
    check(0 <= id && id < vocab, ErrorCode::Usage, "{}: expected ids from 0 to {}, got {}", what,
          vocab - 1, id);
}

}  // namespace

std::string_view name_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::Stop:
      return "stop";
    case FinishReason::Length:
      return "length";
    case FinishReason::Cancelled:
      return "cancelled";
    case FinishReason::Failed:
      return "failed";
  }
  throw Error(ErrorCode::Internal, "unknown reason of a finish");
}

struct ReplyEngine::Impl {
  using Sequences = std::map<RequestId, std::unique_ptr<Sequence>>;  // in order of arrival

  // What a step computes of a sequence.
  struct Part {
    Sequences::iterator at;
    Chunk chunk;
    Sequence& sequence() const { return *at->second; }
  };

  Impl(PagedDecoder& with, const EngineOptions& how)
      : decoder(with), options(how), cache(with.shape().pages) {
    const DecodeShape& shape = decoder.shape();
    if (options.prompt_rows_beside_replies == 0)
      options.prompt_rows_beside_replies = shape.packed ? 128 : 512;
    vocab = decoder.config().vocab;
    drawn_vocab = options.drawn_vocab > 0 ? std::min(vocab, options.drawn_vocab) : vocab;
    limit = std::min(shape.context, shape.pages * kPageTokens);
    check(limit > 0 && std::min(shape.max_rows, shape.max_logit_rows) >= shape.max_sequences,
          ErrorCode::Internal,
          "an engine expected pages, and a row and a row of logits for each of {} sequences",
          shape.max_sequences);
  }

  void check_request(const Request& r) const;
  void take_inbox();
  void publish_stats();
  void finish(Sequences& of, Sequences::iterator at, Finish how);

  void give_back_pages(Sequence& s, bool keeps);
  void wait_again(Sequences::iterator at);
  bool take_page_of_next(Sequences::iterator at);
  bool should_wait_for_other(const Sequence& s) const;
  void take_pages(Sequence& s);
  void admit(Sequence& s);
  void admit_waiting();

  std::vector<Part> next_parts();
  bool step();
  void compute(const std::vector<Part>& parts);
  std::vector<LogitResult> read_rows(const std::vector<LogitRow>& rows,
                                     std::span<const float> logits);
  std::string problem_of(const Sequence& s, std::span<const LogitResult> results);
  void take(Sequences::iterator at, std::span<const LogitResult> results);
  void take_token(Sequences::iterator at, const TokenScore& token);

  PagedDecoder& decoder;
  EngineOptions options;
  int64_t vocab = 0, drawn_vocab = 0;
  int64_t limit = 0;  // tokens that the pages of one sequence may hold
  PageCache cache;
  Sequences waiting, running;
  EngineStats stats;
  bool knows_zeros = false;

  mutable std::mutex mutex;  // of all that follows
  std::condition_variable work;
  Sequences inbox;
  std::set<RequestId> cancels;
  bool woken = false;
  RequestId last_id = 0;
  EngineStats published;
};

void ReplyEngine::Impl::check_request(const Request& r) const {
  const auto size = std::ssize(r.prompt);
  check(size > 0, ErrorCode::Usage, "prompt: expected at least one token, got none");
  // The last one need not lie in a page if nothing is read after it.
  const bool reads_last = r.max_tokens > 0 || !r.next_ids.empty();
  check(size <= limit + (reads_last ? 0 : 1), ErrorCode::Usage,
        "prompt: {} tokens do not fit into the context of {}: shorten it", size, limit);
  check_ids("prompt", r.prompt, vocab);
  check_ids("next_ids", r.next_ids, vocab);
  check(r.max_tokens >= 0, ErrorCode::Usage, "max_tokens: expected 0 or more, got {}",
        r.max_tokens);
  check(-1 <= r.top_logprobs && r.top_logprobs <= vocab, ErrorCode::Usage,
        "top_logprobs: expected 0 to {}, got {}", vocab, r.top_logprobs);
  check(r.prompt_scores_from < size, ErrorCode::Usage,
        "prompt_scores_from: expected a token of the prompt, 0 to {}, got {}", size - 1,
        r.prompt_scores_from);
  check_sampling(r.sampling, vocab);
}

void ReplyEngine::Impl::take_inbox() {
  std::set<RequestId> cancelled;
  {
    const std::lock_guard lock(mutex);
    waiting.merge(inbox);
    cancelled.swap(cancels);
  }
  for (const RequestId id : cancelled)
    for (Sequences* of : {&running, &waiting})
      if (const auto at = of->find(id); at != of->end())
        finish(*of, at, {.reason = FinishReason::Cancelled});
}

void ReplyEngine::Impl::publish_stats() {
  const std::lock_guard lock(mutex);
  stats.running = std::ssize(running);
  stats.queued = std::ssize(waiting) + std::ssize(inbox);
  stats.pages = cache.size();
  stats.pages_in_use = cache.in_use();
  stats.pages_cached = cache.cached();
  published = stats;
}

void ReplyEngine::Impl::finish(Sequences& of, Sequences::iterator at, Finish how) {
  const std::unique_ptr<Sequence> s = std::move(at->second);
  of.erase(at);
  how.prompt_tokens = std::ssize(s->request.prompt);
  how.reused_tokens = s->reused.value_or(0);
  how.new_tokens = std::ssize(s->reply);
  ++(how.reason == FinishReason::Cancelled ? stats.cancelled
     : how.reason == FinishReason::Failed  ? stats.failed
                                           : stats.finished);
  give_back_pages(*s, how.reason != FinishReason::Failed);
  s->sink->on_finish(how);
}

void ReplyEngine::Impl::give_back_pages(Sequence& s, bool keeps) {
  if (keeps) cache.keep(s.computed_tokens(), s.pages);
  cache.release(s.pages);
  s.computed = 0;
}

void ReplyEngine::Impl::wait_again(Sequences::iterator at) {
  give_back_pages(*at->second, true);
  waiting.insert(running.extract(at));
}

// False if the sequence has to wait itself: it is the youngest, and no page is left.
bool ReplyEngine::Impl::take_page_of_next(Sequences::iterator at) {
  Sequence& s = *at->second;
  while (std::ssize(s.pages) < pages_of(s.computed + 1)) {
    if (const int32_t page = cache.take(); page >= 0) {
      s.pages.push_back(page);
      continue;
    }
    const auto youngest = std::prev(running.end());
    const bool is_itself = youngest == at;
    ++stats.preemptions;
    wait_again(youngest);
    if (is_itself) return false;
  }
  return true;
}

// Another request is about to compute more of this one's beginning than is known.
bool ReplyEngine::Impl::should_wait_for_other(const Sequence& s) const {
  const std::span<const int32_t> wanted = s.reusable_tokens();
  int64_t known = -1;
  for (const auto& [id, other] : running) {
    if (other->computed >= other->target()) continue;
    const auto theirs =
        std::span<const int32_t>(other->tokens).first(static_cast<size_t>(other->target()));
    const auto common = std::ranges::mismatch(wanted, theirs).in1 - wanted.begin();
    if (common < kWorthWaiting) continue;
    if (known < 0) known = cache.known_tokens(wanted);
    if (common >= known + kWorthWaiting) return true;
  }
  return false;
}

// As many of the missing ones as there are.
void ReplyEngine::Impl::take_pages(Sequence& s) {
  while (std::ssize(s.pages) < pages_of(s.target())) {
    const int32_t page = cache.take();
    if (page < 0) return;
    s.pages.push_back(page);
  }
}

// There are pages enough for all of it, those of the prefix that are not in use among them.
void ReplyEngine::Impl::admit(Sequence& s) {
  PageCache::Prefix prefix = cache.find(s.reusable_tokens());
  s.pages = std::move(prefix.pages);
  const auto whole = s.pages.size();
  s.computed = std::ssize(s.pages) * kPageTokens;
  take_pages(s);
  if (prefix.partial_page >= 0) {
    // Where it is itself the last page that could be taken, its tokens are computed again.
    if (whole < s.pages.size()) {
      decoder.copy_page(prefix.partial_page, s.pages[whole]);
      s.computed += prefix.partial_tokens;
    }
    cache.release(prefix.partial_page);
    take_pages(s);
  }
  check(std::ssize(s.pages) == pages_of(s.target()), ErrorCode::Internal,
        "a request was admitted without pages");
  if (!s.reused) s.reused = s.computed;
  stats.reused_tokens += s.computed;
}

void ReplyEngine::Impl::admit_waiting() {
  int64_t seen = 0;
  for (auto next = waiting.begin(); next != waiting.end() && seen < kLookAhead; ++seen) {
    if (std::ssize(running) == decoder.shape().max_sequences) return;
    const auto at = next++;
    Sequence& s = *at->second;
    if (should_wait_for_other(s)) continue;
    if (pages_of(s.target()) > cache.available()) return;
    admit(s);
    const auto admitted = running.insert(waiting.extract(at)).position;
    if (s.computed == s.target()) take(admitted, {});  // nothing to compute
  }
}

// A token of each reply, then chunks of prompts, oldest first.
std::vector<ReplyEngine::Impl::Part> ReplyEngine::Impl::next_parts() {
  for (auto next = running.begin(); next != running.end();) {
    const auto at = next;
    if (at->second->writes_reply() && !take_page_of_next(at)) break;  // it was the last
    ++next;
  }
  const DecodeShape& shape = decoder.shape();
  std::vector<Part> parts;
  for (auto at = running.begin(); at != running.end(); ++at)
    if (at->second->writes_reply()) parts.push_back({at, {.num_rows = 1, .num_logits = 1}});
  int64_t rows = shape.max_rows - std::ssize(parts);
  int64_t logits = shape.max_logit_rows - std::ssize(parts);
  if (!parts.empty()) rows = std::min(rows, options.prompt_rows_beside_replies);
  for (auto at = running.begin(); at != running.end(); ++at) {
    if (at->second->writes_reply()) continue;
    const Chunk chunk = at->second->next_chunk(rows, logits);
    if (chunk.num_rows == 0) continue;
    parts.push_back({at, chunk});
    rows -= chunk.num_rows;
    logits -= chunk.num_logits;
  }
  return parts;
}

bool ReplyEngine::Impl::step() {
  take_inbox();
  admit_waiting();
  if (const std::vector<Part> parts = next_parts(); !parts.empty()) compute(parts);
  publish_stats();
  const std::lock_guard lock(mutex);
  return !running.empty() || !waiting.empty() || !inbox.empty();
}

void ReplyEngine::Impl::compute(const std::vector<Part>& parts) {
  std::vector<DecodeRows> decode_rows;
  std::vector<LogitRow> rows;
  for (const Part& part : parts) {
    const Sequence& s = part.sequence();
    const int64_t end = s.computed + part.chunk.num_rows;
    decode_rows.push_back(
        {.ids = std::span(s.tokens).subspan(static_cast<size_t>(s.computed),
                                            static_cast<size_t>(part.chunk.num_rows)),
         .first_position = s.computed,
         .pages = s.pages,
         .num_logits = part.chunk.num_logits,
         .likeliest_below = can_read_likeliest(s) ? drawn_vocab : 0});
    for (int64_t position = end - part.chunk.num_logits; position < end; ++position)
      rows.push_back({.sequence = &s, .position = position});
    stats.computed_tokens += part.chunk.num_rows;
  }
  const std::span<const float> logits = decoder.run(decode_rows);
  ++stats.steps;
  stats.logit_rows += std::ssize(rows);
  const std::vector<LogitResult> results = read_rows(rows, logits);
  std::span<const LogitResult> rest = results;
  for (const Part& part : parts) {
    Sequence& s = part.sequence();
    s.computed += part.chunk.num_rows;
    const auto own = rest.first(static_cast<size_t>(part.chunk.num_logits));
    rest = rest.subspan(own.size());
    if (std::string problem = problem_of(s, own); !problem.empty())
      finish(running, part.at, {.reason = FinishReason::Failed, .error = std::move(problem)});
    else
      take(part.at, own);
  }
}

std::vector<LogitResult> ReplyEngine::Impl::read_rows(const std::vector<LogitRow>& rows,
                                                      std::span<const float> logits) {
  std::vector<LogitResult> results(rows.size());
  const auto V = static_cast<size_t>(vocab);
  const auto read = [&](int64_t i, int /*worker*/) {
    const auto at = static_cast<size_t>(i);
    LogitRow row = rows[at];
    row.is_finite = decoder.is_finite(i);
    row.likeliest = decoder.likeliest(i);
    const auto own =
        row.likeliest == nullptr ? logits.subspan(at * V, V) : std::span<const float>();
    results[at] = read_row(row, own, static_cast<size_t>(drawn_vocab));
  };
  if (options.pool != nullptr) {
    options.pool->run(std::ssize(rows), read);
  } else {
    for (int64_t i = 0; i < std::ssize(rows); ++i) read(i, 0);
  }
  return results;
}

// Why a sequence cannot continue, as a sentence; empty: it can. Logits that are not finite, or the
// first that are all zero (what is left where squares in a norm overflow), are looked into: its
// tokens are computed once more, in its own pages, and every activation is inspected.
std::string ReplyEngine::Impl::problem_of(const Sequence& s, std::span<const LogitResult> results) {
  bool is_finite = true, is_zero = false;
  for (const LogitResult& result : results) {
    is_finite &= result.is_finite;
    is_zero |= result.is_zero;
    if (!result.error.empty()) return result.error;
  }
  if (is_finite && (!is_zero || knows_zeros)) return "";
  FirstNotFinite search(decoder.context());
  for (int64_t begin = 0; begin < s.computed; begin += decoder.shape().max_rows) {
    const int64_t n = std::min(decoder.shape().max_rows, s.computed - begin);
    const DecodeRows rows{
        .ids = s.computed_tokens().subspan(static_cast<size_t>(begin), static_cast<size_t>(n)),
        .first_position = begin,
        .pages = s.pages};
    decoder.run({&rows, 1}, &search);
  }
  if (!is_finite || !search.found().empty())
    return fmt::format("{}, at token {}; the weights are damaged or training diverged",
                       search.found().empty() ? "logits: not finite" : search.found(), s.computed);
  knows_zeros = true;
  log::warn("zero_logits", {{"token", std::to_string(s.computed)},
                            {"why",
                             "every logit is 0, so that every id is as likely as any other: the "
                             "weights of the head, or of what it reads, are zero"}});
  return "";
}

void ReplyEngine::Impl::take(Sequences::iterator at, std::span<const LogitResult> results) {
  Sequence& s = *at->second;
  for (const LogitResult& result : results) {
    if (!result.prompt_score) continue;
    s.scores.push_back(*result.prompt_score);
    ++s.next_scored;
  }
  if (s.computed < s.target()) return;
  if (s.reply.empty()) cache.keep(s.computed_tokens(), s.pages);  // others may begin with it
  if (s.wants_scores() && !std::exchange(s.gave_scores, true))
    s.sink->on_prompt_scores(std::move(s.scores));
  if (!s.request.next_ids.empty() && !std::exchange(s.gave_next_scores, true))
    s.sink->on_next_scores(results.back().next_scores);
  if (s.request.max_tokens == 0)
    finish(running, at, {.reason = FinishReason::Length});
  else
    take_token(at, *results.back().token);
}

void ReplyEngine::Impl::take_token(Sequences::iterator at, const TokenScore& token) {
  Sequence& s = *at->second;
  if (std::ranges::find(s.request.stop_ids, token.id) != s.request.stop_ids.end())
    return finish(running, at, {.reason = FinishReason::Stop, .stop_id = token.id});
  s.reply.push_back(token.id);
  s.tokens.push_back(token.id);
  ++stats.new_tokens;
  if (!s.sink->on_token(token)) return finish(running, at, {.reason = FinishReason::Stop});
  const bool is_full = std::ssize(s.tokens) > limit;
  if (std::ssize(s.reply) == s.request.max_tokens || (is_full && !s.request.slide))
    return finish(running, at, {.reason = FinishReason::Length});
  if (!is_full) return;
  wait_again(at);  // its keys are of other positions now
  s.tokens.erase(s.tokens.begin(), s.tokens.end() - limit / 2);
}

ReplyEngine::ReplyEngine(PagedDecoder& decoder, const EngineOptions& options)
    : impl_(std::make_unique<Impl>(decoder, options)) {
  impl_->publish_stats();
}
ReplyEngine::~ReplyEngine() = default;

RequestId ReplyEngine::submit(Request request, std::shared_ptr<RequestSink> sink) {
  impl_->check_request(request);
  auto sequence = std::make_unique<Sequence>(std::move(request), std::move(sink));
  const std::lock_guard lock(impl_->mutex);
  impl_->inbox.emplace(++impl_->last_id, std::move(sequence));
  ++impl_->published.queued;
  impl_->work.notify_all();
  return impl_->last_id;
}

void ReplyEngine::cancel(RequestId id) {
  const std::lock_guard lock(impl_->mutex);
  impl_->cancels.insert(id);
  impl_->work.notify_all();
}

bool ReplyEngine::step() {
  return impl_->step();
}

void ReplyEngine::wait() {
  std::unique_lock lock(impl_->mutex);
  impl_->work.wait(lock, [&] {
    return impl_->woken || !impl_->inbox.empty() || impl_->published.running > 0 ||
           impl_->published.queued > 0;
  });
  impl_->woken = false;
}

void ReplyEngine::wake() {
  const std::lock_guard lock(impl_->mutex);
  impl_->woken = true;
  impl_->work.notify_all();
}

EngineStats ReplyEngine::stats() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->published;
}

int64_t ReplyEngine::max_tokens() const {
  return impl_->limit + 1;
}

}  // namespace ingot
