// Small BPE models, and encoding by definition: nothing saved, nothing clever.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/random/random.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/split_scalar.h"

namespace ingot::testing_support {

inline BpeModel bytes_only() {  // id = byte
  BpeModel model;
  for (int byte = 0; byte < 256; ++byte) model.tokens.emplace_back(1, static_cast<char>(byte));
  return model;
}

inline int32_t id_of(const BpeModel& model, const std::string& token) {
  const auto found = std::find(model.tokens.begin(), model.tokens.end(), token);
  return found == model.tokens.end() ? -1 : static_cast<int32_t>(found - model.tokens.begin());
}

inline int32_t add_token(BpeModel& model, const std::string& token) {
  if (id_of(model, token) < 0) model.tokens.push_back(token);
  return id_of(model, token);
}

inline void add_merge(BpeModel& model, const std::string& left, const std::string& right) {
  const int32_t result = add_token(model, left + right);
  model.merges.push_back({id_of(model, left), id_of(model, right), result});
}

inline void add_special(BpeModel& model, const std::string& content, bool special = true) {
  AddedToken token;
  token.content = content;
  token.special = special;
  token.id = static_cast<int32_t>(model.tokens.size());
  model.tokens.push_back(content);
  model.added.push_back(token);
}

// Merges drawn from what a training on nasty text might join, so that they compete and nest.
inline BpeModel random_model(uint64_t seed, int num_merges,
                             const std::vector<std::string>& alphabet) {
  const RandomStream random(seed, Purpose::Test);
  BpeModel model = bytes_only();
  std::vector<std::string> parts;
  for (const std::string& letters : alphabet) {
    for (const char byte : letters) parts.emplace_back(1, byte);
    for (size_t end = 2; end <= letters.size(); ++end) {
      add_merge(model, letters.substr(0, end - 1), letters.substr(end - 1, 1));
    }
    parts.push_back(letters);
  }
  for (uint64_t i = 0; i < static_cast<uint64_t>(num_merges); ++i) {
    const std::string left = parts[random.bits(2 * i) % parts.size()];
    const std::string right = parts[random.bits(2 * i + 1) % parts.size()];
    if (left.size() + right.size() > 20 || id_of(model, left + right) >= 0) continue;
    add_merge(model, left, right);
    parts.push_back(left + right);
  }
  return model;
}

// Listed: by the model's merges. Ranks: as tiktoken, any two neighbours that together are a token,
// the smallest id first.
enum class Merging { Listed, Ranks };

// Encodes without anything to make it fast. Keeps a reference to the model.
class EncodingByDefinition {
 public:
  explicit EncodingByDefinition(const BpeModel& model, Merging merging = Merging::Listed)
      : model_(model), merging_(merging) {
    for (size_t id = 0; id < model.tokens.size(); ++id) {
      id_of_.emplace(model.tokens[id], static_cast<int32_t>(id));
    }
    for (size_t rank = 0; rank < model.merges.size(); ++rank) {
      const auto [left, right, result] = model.merges[rank];
      listed_[{left, right}] = {rank, result};
    }
  }

  std::vector<int32_t> encode(std::string_view text) const {
    std::vector<int32_t> ids;
    while (!text.empty()) {
      const std::string piece(text.substr(0, first_piece(model_.split, text)));
      for (const int32_t id : merge(piece)) ids.push_back(id);
      text.remove_prefix(piece.size());
    }
    return ids;
  }

 private:
  struct Ranked {
    size_t rank = std::numeric_limits<size_t>::max();  // does not merge
    int32_t result = -1;
  };

  Ranked pair(int32_t left, int32_t right) const {
    if (merging_ == Merging::Ranks) {
      const auto joined = id_of_.find(model_.tokens[left] + model_.tokens[right]);
      if (joined == id_of_.end()) return {};
      return {static_cast<size_t>(joined->second), joined->second};
    }
    const auto found = listed_.find({left, right});
    return found == listed_.end() ? Ranked() : found->second;
  }

  std::vector<int32_t> merge(const std::string& piece) const {
    if (model_.whole_piece_first && id_of_.contains(piece)) return {id_of_.at(piece)};
    std::vector<int32_t> symbols;
    for (const char byte : piece) symbols.push_back(id_of_.at(std::string(1, byte)));
    while (true) {
      Ranked best;
      size_t place = 0;
      for (size_t i = 0; i + 1 < symbols.size(); ++i) {
        const Ranked here = pair(symbols[i], symbols[i + 1]);
        if (here.rank < best.rank) {
          best = here;
          place = i;
        }
      }
      if (best.result < 0) return symbols;
      symbols[place] = best.result;
      symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
  }

  const BpeModel& model_;
  const Merging merging_;
  std::map<std::string, int32_t> id_of_;
  std::map<std::pair<int32_t, int32_t>, Ranked> listed_;
};

}  // namespace ingot::testing_support
