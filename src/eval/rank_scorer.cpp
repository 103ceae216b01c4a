#include "eval/rank_scorer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr size_t kItemsOfRound =
    32;  // of each rank: enough for efficient GEMMs, little to wait for

// Bytes, as numbers of one type after the other.
class Packed {
 public:
  Packed() = default;
  explicit Packed(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  template <class T>
  void put(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  template <class T>
  T take() {
    T value;
    check(at_ + sizeof(value) <= bytes_.size(), ErrorCode::Comm,
          "scores of another rank ended after {} bytes", bytes_.size());
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
};

void put(const Scorer::Scores& scores, Packed& to) {
  to.put(static_cast<uint64_t>(scores.size()));
  for (const auto& sequence : scores) {
    to.put(static_cast<uint64_t>(sequence.size()));
    for (const IdScore& score : sequence) {
      to.put(score.logprob);
      to.put(static_cast<uint8_t>(score.is_likeliest));
    }
  }
}

Scorer::Scores take_scores(Packed& from) {
  Scorer::Scores scores(from.take<uint64_t>());
  for (auto& sequence : scores) {
    sequence.resize(from.take<uint64_t>());
    for (IdScore& score : sequence) {
      score.logprob = from.take<double>();
      score.is_likeliest = from.take<uint8_t>() != 0;
    }
  }
  return scores;
}

}  // namespace

RankScorer::RankScorer(Scorer& own, Control& control, Timeout timeout,
                       std::function<bool()> is_stopped)
    : own_(own), control_(control), timeout_(timeout), is_stopped_(std::move(is_stopped)) {}

void RankScorer::check_stop() {
  if (control_.any("scoring of tasks", is_stopped_(), timeout_)) throw Stopped();
}

std::vector<std::string> RankScorer::exchange(const std::string& said) {
  return control_.gather("scores of tasks", said, timeout_);
}

void RankScorer::score(std::span<const ScoreItem> items, const OnItem& on_item) {
  const auto ranks = static_cast<size_t>(control_.size());
  const auto own_rank = static_cast<size_t>(control_.rank());
  for (size_t begin = 0; begin < items.size(); begin += kItemsOfRound * ranks) {
    check_stop();
    const size_t end = std::min(begin + kItemsOfRound * ranks, items.size());
    std::vector<ScoreItem> share;
    for (size_t i = begin + own_rank; i < end; i += ranks) share.push_back(items[i]);
    std::vector<Scores> scores(share.size());
    own_.score(share, [&](size_t index, const Scores& of) { scores[index] = of; });
    Packed said;
    said.put(own_.counts());
    for (const Scores& of : scores) put(of, said);
    std::vector<Packed> by_rank;
    for (std::string& bytes : exchange(said.bytes())) by_rank.emplace_back(std::move(bytes));
    counts_ = {};
    for (Packed& rank : by_rank) counts_ += rank.take<ScoreCounts>();
    for (size_t i = begin; i < end; ++i) on_item(i, take_scores(by_rank[(i - begin) % ranks]));
  }
}

std::vector<int32_t> RankScorer::continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                                   const IsDone& is_done) {
  check_stop();
  const int64_t writer = continued_++ % control_.size();
  std::vector<int32_t> own;
  if (writer == control_.rank()) own = own_.continue_greedily(ids, max_new, is_done);
  Packed said;
  said.put(own_.counts());
  for (const int32_t id : own) said.put(id);
  std::vector<int32_t> result;
  counts_ = {};
  const std::vector<std::string> by_rank = exchange(said.bytes());
  for (size_t rank = 0; rank < by_rank.size(); ++rank) {
    Packed from(by_rank[rank]);
    counts_ += from.take<ScoreCounts>();
    if (static_cast<int64_t>(rank) != writer) continue;
    result.resize((by_rank[rank].size() - sizeof(ScoreCounts)) / sizeof(int32_t));
    for (int32_t& id : result) id = from.take<int32_t>();
  }
  return result;
}

}  // namespace ingot
