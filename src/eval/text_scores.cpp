#include "eval/text_scores.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ingot {

double TextScore::mean_loss() const {
  return loss / static_cast<double>(tokens);
}
double TextScore::perplexity() const {
  return std::exp(mean_loss());
}
double TextScore::bits_per_byte() const {
  return loss / std::numbers::ln2 / static_cast<double>(bytes);
}
TextScore& TextScore::operator+=(const TextScore& other) {
  loss += other.loss;
  tokens += other.tokens;
  bytes += other.bytes;
  documents += other.documents;
  return *this;
}

ScoreItem text_item(const std::string& text, const PromptIds& ids, const TextWindows& windows) {
  const std::vector<int32_t> tokens = ids.of(text);
  const auto window = static_cast<size_t>(windows.window);
  const auto stride = static_cast<size_t>(windows.stride);
  ScoreItem item;
  size_t scored = 1;  // tokens before this one are
  for (size_t begin = 0; scored < tokens.size(); begin += stride) {
    const size_t end = std::min(begin + window, tokens.size());
    item.sequences.push_back({.ids = {tokens.begin() + static_cast<ptrdiff_t>(begin),
                                      tokens.begin() + static_cast<ptrdiff_t>(end)},
                              .first_scored = scored - begin});
    scored = end;
  }
  return item;
}

std::vector<TextScore> score_texts(const std::vector<std::string>& texts, const PromptIds& ids,
                                   const TextWindows& windows, Scorer& scorer) {
  std::vector<TextScore> results(texts.size());
  std::vector<ScoreItem> items;
  std::vector<size_t> text_of;  // by item: windows share no beginning
  for (size_t i = 0; i < texts.size(); ++i) {
    results[i] = {.bytes = std::ssize(texts[i]), .documents = 1};
    for (ScoredSequence& sequence : text_item(texts[i], ids, windows).sequences) {
      items.push_back({{std::move(sequence)}});
      text_of.push_back(i);
    }
  }
  scorer.score(items, [&](size_t index, const Scorer::Scores& scores) {
    TextScore& result = results[text_of[index]];
    for (const IdScore& score : scores.front()) result.loss -= score.logprob;
    result.tokens += std::ssize(scores.front());
  });
  return results;
}

}  // namespace ingot
