#include "tokenizer/sentencepiece/unigram.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr uint32_t kUnreached = UINT32_MAX;
constexpr float kUnknownPenalty = 10;

// The best path from the beginning to the last end.
template <class End>
void trace_back(const std::vector<End>& ends, std::vector<PieceToken>& tokens) {
  tokens.clear();
  for (size_t end = ends.size() - 1; end > 0; end = ends[end].begin) {
    tokens.push_back({ends[end].id, static_cast<uint32_t>(end - ends[end].begin)});
  }
  std::reverse(tokens.begin(), tokens.end());
}

}  // namespace

UnigramEncoder::UnigramEncoder(const SentencePieceModel& model,
                               const std::vector<std::string>& texts)
    : rounds_to_float_(!model.hugging_face), unknown_(model.unknown) {
  std::vector<std::pair<std::string_view, int32_t>> entries;
  double smallest = std::numeric_limits<double>::max();
  auto& [floats, doubles] = scores_;
  for (size_t id = 0; id < texts.size(); ++id) {
    const SentencePieceModel::Piece& piece = model.pieces[id];
    if (piece.type == PieceType::Normal || model.hugging_face) {
      smallest = std::min(smallest, piece.score);
    }
    doubles.push_back(piece.score);
    if (piece.type == PieceType::UserDefined) {  // better than anything else; by its original bytes
      doubles.back() = 0.1 * static_cast<double>(piece.text.size() - 1);
    }
    const bool usable = piece.type != PieceType::Unused && !texts[id].empty();
    if (usable) entries.emplace_back(texts[id], static_cast<int32_t>(id));
  }
  trie_ = DoubleArray(std::move(entries));
  doubles[unknown_] = smallest - kUnknownPenalty;
  floats.assign(doubles.begin(), doubles.end());
  if (rounds_to_float_) doubles.assign(floats.begin(), floats.end());
}

// The characters of the part. What follows each in the trie is asked for already: the walks from
// there all miss the cache, and so they do it together.
void UnigramEncoder::find_starts(std::string_view part, std::vector<Scratch::Start>& starts) const {
  starts.clear();
  for (size_t begin = 0; begin < part.size();) {
    const size_t end = std::min(begin + text::character_bytes(part[begin]), part.size());
    const DoubleArray::Node node = trie_.walk(part.substr(begin, end - begin));
    if (end < part.size()) trie_.prefetch_child(node, static_cast<uint8_t>(part[end]));
    starts.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end), node});
    begin = end;
  }
}

// Calls visit(end, id) for the pieces that begin with a character, the shortest first; then for the
// unknown character, unless a piece is that character.
template <class Visit>
void UnigramEncoder::for_each_piece(std::string_view part, const Scratch::Start& start,
                                    const Visit& visit) const {
  const bool known = trie_.value(start.node) >= 0;
  if (known) visit(start.end, trie_.value(start.node));
  DoubleArray::Node node = start.node;
  for (size_t at = start.end; at < part.size();) {
    node = trie_.child(node, static_cast<uint8_t>(part[at++]));
    if (node == DoubleArray::kNone) break;
    if (const int32_t id = trie_.value(node); id >= 0) visit(at, id);
  }
  if (!known) visit(start.end, unknown_);
}

template <class Sum>
void UnigramEncoder::encode(std::string_view part, Sum& sum, Scratch& scratch,
                            std::vector<PieceToken>& tokens) const {
  using End = Scratch::End<Sum>;
  const auto& scores = this->scores<Sum>();
  auto& ends = std::get<std::vector<End>>(scratch.ends);
  ends.assign(part.size() + 1, {0, 0, kUnreached});
  ends[0] = {sum, 0, 0};
  size_t farthest = 0;
  find_starts(part, scratch.starts);
  for (const Scratch::Start& start : scratch.starts) {
    const size_t begin = start.begin;
    if (const Sum offset = ends[begin].score;
        std::is_same_v<Sum, float> && std::abs(offset) > kLargestSum) {
      for (size_t i = begin; i <= farthest; ++i) ends[i].score -= offset;
      ends[begin].score = 0;
    }
    const Sum here = ends[begin].score;
    for_each_piece(part, start, [&](size_t end, int32_t id) {
      farthest = std::max(farthest, end);
      const Sum score = scores[id] + here;
      if (ends[end].begin == kUnreached || score > ends[end].score) {
        ends[end] = {score, id, start.begin};
      }
    });
  }
  sum = ends.back().score;
  trace_back(ends, tokens);
}

float UnigramEncoder::encode_exactly(std::string_view part, Scratch& scratch,
                                     std::vector<PieceToken>& tokens) const {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const auto& scores = this->scores<double>();
  auto& ends = scratch.exact_ends;
  ends.assign(part.size() + 1, {kNone, kNone, 0, kUnreached});
  ends[0] = {0, kNone, 0, 0};
  double farthest_from_zero = 0;
  find_starts(part, scratch.starts);
  for (const Scratch::Start& start : scratch.starts) {
    const auto here = ends[start.begin];
    farthest_from_zero = std::max(farthest_from_zero, std::abs(here.score));
    for_each_piece(part, start, [&](size_t end, int32_t id) {
      auto& target = ends[end];
      const double score = here.score + scores[id], second = here.second + scores[id];
      if (score > target.score) {
        target.second = std::max(target.score, second);
        target.score = score;
        target.id = id;
        target.begin = start.begin;
      } else {
        target.second = std::max(target.second, score);
      }
    });
  }
  trace_back(ends, tokens);
  farthest_from_zero = std::max(farthest_from_zero, std::abs(ends.back().score));

  // A sum of n scores in float32, none of its parts larger than A, is off by at most n·A·2⁻²⁴. As
  // rounding is monotone, SentencePiece finds the path with the largest rounded sum; so the best
  // one wins if it leads the second by more than the errors of both, n·A·2⁻²³. In double it is
  // 2⁻⁵², and as much again for the sums here, which are doubles themselves.
  const double gap = ends.back().score - ends.back().second;
  const double precision = rounds_to_float_ ? 0x1p23 : 0x1p51;
  const double limit =
      rounds_to_float_ ? kLargestSum - 1.0 : static_cast<double>(std::numeric_limits<float>::max());
  const double largest = gap * precision / (1.01 * static_cast<double>(scratch.starts.size()));
  return static_cast<float>(std::min(largest, limit) - farthest_from_zero);
}

template void UnigramEncoder::encode(std::string_view, float&, Scratch&,
                                     std::vector<PieceToken>&) const;
template void UnigramEncoder::encode(std::string_view, double&, Scratch&,
                                     std::vector<PieceToken>&) const;

}  // namespace ingot
