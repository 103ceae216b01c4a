#include "eval/engine_scorer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/error/error.h"
#include "core/tensor/kv_page.h"

namespace ingot {
namespace {

constexpr size_t kNothing = std::numeric_limits<size_t>::max();

size_t common_prefix(const std::vector<ScoredSequence>& sequences) {
  const std::vector<int32_t>& first = sequences.front().ids;
  size_t shared = first.size();
  for (const ScoredSequence& other : sequences) {
    const auto [end, unused] = std::ranges::mismatch(first, other.ids);
    shared = std::min(shared, static_cast<size_t>(end - first.begin()));
  }
  return shared;
}

IdScore score_of(const TokenScore& token) {
  return {.logprob = token.logprob, .is_likeliest = token.is_likeliest};
}

// What the engine says about a request, kept until it is read.
class Answer final : public RequestSink {
 public:
  explicit Answer(const Scorer::IsDone* is_done = nullptr) : is_done_(is_done) {}
  void on_prompt_scores(std::vector<TokenScore> scores) override { of_prompt = std::move(scores); }
  void on_next_scores(std::vector<TokenScore> scores) override { of_next = std::move(scores); }
  bool on_token(const TokenScore& token) override {
    written.push_back(token.id);
    return is_done_ == nullptr || !(*is_done_)(written);
  }
  void on_finish(const Finish& finish) override {
    if (finish.reason == FinishReason::Failed) error = finish.error;
  }
  void check_good() const { check(error.empty(), ErrorCode::Numeric, "{}", error); }

  std::vector<TokenScore> of_prompt, of_next;
  std::vector<int32_t> written;
  std::string error;

 private:
  const Scorer::IsDone* is_done_;
};

}  // namespace

// Sequences as they are computed, and the requests for them.
struct EngineScorer::Prepared {
  std::vector<ScoredSequence> sequences;
  size_t shared = 0;  // tokens that all begin with, short of the last one of each
  size_t first = 0;   // that is scored in any
  std::shared_ptr<Answer> prefix = {};
  std::vector<std::shared_ptr<Answer>> rest = {};  // of each sequence; null: the prefix says it all

  int64_t tokens() const {
    int64_t sum = 0;
    for (const ScoredSequence& sequence : sequences) sum += std::ssize(sequence.ids);
    return sum;
  }
};

EngineScorer::EngineScorer(Load load)
    : load_(std::move(load)), loaded_(load_(0)), model_(loaded_.get()) {}

// Learned positions end with the model's context; rotary ones have no end.
int64_t EngineScorer::max_tokens() const {
  if (!load_) return model_->shape().context;
  return model_->config().positions == Positions::Learned ? context()
                                                          : std::numeric_limits<int64_t>::max();
}

void EngineScorer::reserve(int64_t tokens) {
  if (tokens < model_->engine().max_tokens()) return;
  check(load_ != nullptr, ErrorCode::Internal, "a model for {} tokens was given a sequence of {}",
        model_->engine().max_tokens(), tokens);
  // Twice as much each time, since the weights are read again.
  const auto doubled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(tokens)));
  loaded_.reset();  // not two at once
  loaded_ = load_(doubled);
  model_ = loaded_.get();
}

void EngineScorer::run() {
  const EngineStats before = model_->engine().stats();
  model_->engine().run();
  const EngineStats after = model_->engine().stats();
  counts_.computed += after.computed_tokens - before.computed_tokens;
  counts_.logit_rows += after.logit_rows - before.logit_rows;
}

EngineScorer::Prepared EngineScorer::prepared(const ScoreItem& item) {
  Prepared made{.sequences = item.sequences};
  const auto most = static_cast<size_t>(max_tokens());
  for (auto& [ids, first_scored] : made.sequences) {
    counts_.tokens += std::ssize(ids);
    counts_.past_context += std::ssize(ids) > context();
    if (ids.size() > most) {
      const size_t lost = ids.size() - most;
      ids.erase(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(lost));
      first_scored -= std::min(first_scored, lost);
      ++counts_.over_limit;
    }
    first_scored = std::max<size_t>(first_scored, 1);
  }
  made.shared = common_prefix(made.sequences);
  made.first = kNothing;
  for (const auto& [ids, first_scored] : made.sequences) {
    made.shared = std::min(made.shared, std::max<size_t>(ids.size(), 1) - 1);
    if (first_scored < ids.size()) made.first = std::min(made.first, first_scored);
  }
  return made;
}

void EngineScorer::score(std::span<const ScoreItem> items, const OnItem& on_item) {
  const auto room = [&] { return model_->shape().pages * kPageTokens; };
  std::vector<Prepared> group;
  size_t done = 0;
  int64_t tokens = 0;
  const auto flush = [&] {
    score_group(group);
    for (Prepared& item : group) {
      Scores scores(item.sequences.size());
      for (size_t s = 0; s < scores.size(); ++s) {
        const auto& [ids, first_scored] = item.sequences[s];
        if (first_scored >= ids.size()) continue;
        // Of the prefix from item.first on, then the token behind it, then the rest.
        if (item.prefix && first_scored < item.shared)
          for (size_t t = first_scored; t < item.shared; ++t)
            scores[s].push_back(score_of(item.prefix->of_prompt[t - item.first]));
        if (item.prefix && first_scored <= item.shared && !item.prefix->of_next.empty())
          scores[s].push_back(score_of(item.prefix->of_next[s]));
        if (item.rest[s])
          for (const TokenScore& token : item.rest[s]->of_prompt)
            scores[s].push_back(score_of(token));
      }
      on_item(done++, scores);
    }
    group.clear();
    tokens = 0;
  };
  for (const ScoreItem& item : items) {
    Prepared next = prepared(item);
    int64_t longest = 0;
    for (const ScoredSequence& sequence : next.sequences)
      longest = std::max(longest, std::ssize(sequence.ids) - 1);  // the last one is only scored
    const bool is_longer = longest >= model_->engine().max_tokens();
    // Half of the pages: the prefixes of a group have to stay until its sequences have read them.
    if (!group.empty() && (is_longer || tokens + next.tokens() > room() / 2)) flush();
    reserve(longest);
    tokens += next.tokens();
    group.push_back(std::move(next));
  }
  if (!group.empty()) flush();
}

// First the prefixes, then what follows them: the engine finds the prefix's keys in its pages.
void EngineScorer::score_group(std::span<Prepared> group) {
  ReplyEngine& engine = model_->engine();
  for (Prepared& item : group) {
    item.rest.resize(item.sequences.size());
    if (item.shared == 0 || item.first == kNothing) continue;
    Request request;
    const auto& ids = item.sequences.front().ids;
    // Where nothing of it is scored, one token more, which a request that reads nothing leaves out.
    const bool is_read = item.first <= item.shared;
    const size_t end = item.shared + (is_read ? 0 : 1);
    request.prompt.assign(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(end));
    if (item.first < item.shared) request.prompt_scores_from = static_cast<int64_t>(item.first);
    for (const ScoredSequence& sequence : item.sequences)
      if (is_read) request.next_ids.push_back(sequence.ids[item.shared]);
    item.prefix = std::make_shared<Answer>();
    engine.submit(std::move(request), item.prefix);
  }
  run();
  for (Prepared& item : group) {
    for (size_t s = 0; s < item.sequences.size(); ++s) {
      const auto& [ids, first_scored] = item.sequences[s];
      const size_t from = item.prefix ? std::max(first_scored, item.shared + 1) : first_scored;
      if (from >= ids.size()) continue;
      item.rest[s] = std::make_shared<Answer>();
      engine.submit({.prompt = ids, .prompt_scores_from = static_cast<int64_t>(from)},
                    item.rest[s]);
    }
  }
  run();
  for (const Prepared& item : group) {
    if (item.prefix) item.prefix->check_good();
    for (const auto& answer : item.rest)
      if (answer) answer->check_good();
  }
}

std::vector<int32_t> EngineScorer::continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                                     const IsDone& is_done) {
  const int64_t limit = max_tokens();
  max_new = std::min(max_new, limit / 2);
  const auto kept =
      static_cast<size_t>(std::min(static_cast<int64_t>(ids.size()), limit - max_new));
  counts_.over_limit += kept < ids.size();
  reserve(static_cast<int64_t>(kept) + max_new - 1);  // the last one is only written
  const auto answer = std::make_shared<Answer>(&is_done);
  Request request{.sampling = {.temperature = 0}, .max_tokens = max_new};
  request.prompt.assign(ids.end() - static_cast<ptrdiff_t>(kept), ids.end());
  request.stop_ids = model_->stop_ids();
  model_->engine().submit(std::move(request), answer);
  run();
  answer->check_good();
  return answer->written;
}

}  // namespace ingot
