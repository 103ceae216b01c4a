#include "tokenizer/sentencepiece/bpe.h"

#include <algorithm>

#include "core/text/utf8.h"

namespace ingot {
namespace {

using Merge = SentencePieceBpe::Scratch::Merge;

bool later(const Merge& a, const Merge& b) {  // of equal scores the leftmost comes first
  return a.score != b.score ? a.score < b.score : a.left > b.left;
}

}  // namespace

SentencePieceBpe::SentencePieceBpe(const SentencePieceModel& model,
                                   const std::vector<std::string>& texts)
    : scores_(model.pieces.size()), unused_(model.pieces.size()), unknown_(model.unknown) {
  std::vector<std::pair<std::string_view, int32_t>> entries, user_defined;
  for (size_t id = 0; id < texts.size(); ++id) {
    const PieceType type = model.pieces[id].type;
    scores_[id] = static_cast<float>(model.pieces[id].score);
    unused_[id] = type == PieceType::Unused;
    if (texts[id].empty()) continue;
    entries.emplace_back(texts[id], static_cast<int32_t>(id));
    if (type == PieceType::UserDefined) user_defined.emplace_back(entries.back());
  }
  trie_ = DoubleArray(std::move(entries));
  user_defined_ = DoubleArray(std::move(user_defined));
  if (!model.hugging_face) return;
  std::vector<TokenMerge> merges = model.hugging_face->merges;
  std::erase_if(merges, [&](const TokenMerge& merge) {
    return texts[merge.left].empty() || texts[merge.right].empty() || texts[merge.result].empty();
  });
  merges_.emplace(merges);
}

void SentencePieceBpe::encode(std::string_view part, Scratch& scratch,
                              std::vector<PieceToken>& tokens) const {
  auto& [symbols, agenda, made_of] = scratch;
  agenda.clear();
  made_of.clear();
  split_into_symbols(part, scratch);
  const auto count = static_cast<int32_t>(symbols.size());
  for (int32_t right = 1; right < count; ++right) offer(part, right - 1, right, scratch);
  while (!agenda.empty()) {
    std::pop_heap(agenda.begin(), agenda.end(), later);
    const Merge merge = agenda.back();
    agenda.pop_back();
    auto& left = symbols[merge.left];
    auto& right = symbols[merge.right];
    if (left.size == 0 || right.size == 0 || left.size + right.size != merge.size) continue;
    left.size = merge.size;
    left.id = merge.id;
    right.size = 0;
    left.next = right.next;
    if (left.next >= 0) symbols[left.next].previous = merge.left;
    offer(part, left.previous, merge.left, scratch);
    offer(part, merge.left, left.next, scratch);
  }
  tokens.clear();
  for (int32_t i = 0; i >= 0; i = symbols[i].next) {
    if (merges_) {
      tokens.push_back({symbols[i].id < 0 ? unknown_ : symbols[i].id, symbols[i].size});
      continue;
    }
    append(part.substr(symbols[i].begin, symbols[i].size), scratch, tokens);
  }
}

void SentencePieceBpe::split_into_symbols(std::string_view part, Scratch& scratch) const {
  scratch.symbols.clear();
  for (size_t begin = 0; begin < part.size();) {
    const size_t frozen = user_defined_.longest_prefix(part.substr(begin));
    const size_t size =
        frozen > 0 ? frozen
                   : std::min<size_t>(text::character_bytes(part[begin]), part.size() - begin);
    const auto index = static_cast<int32_t>(scratch.symbols.size());
    scratch.symbols.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(size), index - 1,
                               begin + size < part.size() ? index + 1 : -1,
                               merges_ ? trie_.find(part.substr(begin, size)) : -1, frozen > 0});
    begin += size;
  }
}

void SentencePieceBpe::offer(std::string_view part, int32_t left, int32_t right,
                             Scratch& scratch) const {
  if (left < 0 || right < 0) return;
  const auto &a = scratch.symbols[left], &b = scratch.symbols[right];
  if (a.frozen || b.frozen) return;
  if (merges_) {
    if (a.id < 0 || b.id < 0) return;
    const RankedResult merge = merges_->find(a.id, b.id);
    if (merge == kNoMerge) return;
    const auto rank = static_cast<uint32_t>(merge >> 32);
    scratch.agenda.push_back({-static_cast<float>(rank), left, right, a.size + b.size,
                              static_cast<int32_t>(static_cast<uint32_t>(merge))});
    std::push_heap(scratch.agenda.begin(), scratch.agenda.end(), later);
    return;
  }
  const std::string_view text = part.substr(a.begin, a.size + b.size);
  const int32_t id = trie_.find(text);
  if (id < 0) return;
  scratch.agenda.push_back({scores_[id], left, right, a.size + b.size, id});
  std::push_heap(scratch.agenda.begin(), scratch.agenda.end(), later);
  if (unused_[id]) scratch.made_of[std::string(text)] = {a.size, b.size};
}

// A piece that is not to be used is taken apart into the two it was made of, and so on.
void SentencePieceBpe::append(std::string_view text, const Scratch& scratch,
                              std::vector<PieceToken>& tokens) const {
  std::vector<std::string_view> rest{text};
  while (!rest.empty()) {
    text = rest.back();
    rest.pop_back();
    const int32_t found = trie_.find(text);
    const int32_t id = found < 0 ? unknown_ : found;
    if (found >= 0 && unused_[found]) {
      if (const auto made = scratch.made_of.find(std::string(text));
          made != scratch.made_of.end()) {
        rest.push_back(text.substr(made->second.first));
        rest.push_back(text.substr(0, made->second.first));
        continue;
      }
    }
    tokens.push_back({id, static_cast<uint32_t>(text.size())});
  }
}

}  // namespace ingot
