#include "tokenizer/hf/word_model.h"

#include <algorithm>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/bpe/token_index.h"
#include "tokenizer/hf/pieces.h"
#include "tokenizer/sentencepiece/encoder.h"
#include "tokenizer/sentencepiece/trie.h"

namespace ingot {
namespace {

// The token for words that are not in the vocabulary; -1: they are an error.
int32_t unknown_of(const Json& model, const TokenIndex& all) {
  return all.find(text_of(model, "unk_token"));
}

void append_unknown(int32_t unknown, std::string_view word, std::vector<int32_t>& ids) {
  check(unknown >= 0, ErrorCode::Data,
        "the tokenizer has no token for «{}», and none for unknown words", word.substr(0, 100));
  ids.push_back(unknown);
}

class WordLevel final : public HfWordModel {
 public:
  WordLevel(const Json& model, const HfVocabulary& vocabulary, const TokenIndex& all)
      : spellings_(vocabulary.spellings), index_(spellings_), unknown_(unknown_of(model, all)) {}

  void encode(const HfWords& words, std::vector<int32_t>& ids) const override {
    for (const HfWord& word : words.words) {
      const std::string_view text = words.spelling(word);
      if (const int32_t id = index_.find(text); id != TokenIndex::kNone) {
        ids.push_back(id);
      } else {
        append_unknown(unknown_, text, ids);
      }
    }
  }

 private:
  const std::vector<std::string> spellings_;
  const TokenIndex index_;
  const int32_t unknown_;
};

// The longest token that the word begins with, then the longest that the rest begins with, marked
// as one that continues a word; unknown as a whole where there is none.
class WordPiece final : public HfWordModel {
 public:
  WordPiece(const Json& model, const HfVocabulary& vocabulary, const TokenIndex& all,
            std::string_view origin)
      : trie_(trie_of(vocabulary.spellings)), unknown_(unknown_of(model, all)) {
    const Json& most = member(model, "max_input_chars_per_word");
    check(most.is_null() || most.is_number_unsigned(), ErrorCode::Data,
          "{}: max_input_chars_per_word: expected a number, got {}", origin, most.dump());
    if (!most.is_null()) most_characters_ = most.get<size_t>();
    const Json& prefix = member(model, "continuing_subword_prefix");
    check(prefix.is_null() || prefix.is_string(), ErrorCode::Data,
          "{}: continuing_subword_prefix: expected a string, got {}", origin, prefix.dump());
    inside_ = trie_.walk(prefix.is_null() ? "##" : prefix.get<std::string>());
  }

  void encode(const HfWords& words, std::vector<int32_t>& ids) const override {
    for (const HfWord& word : words.words) encode_word(words.spelling(word), ids);
  }

 private:
  static DoubleArray trie_of(const std::vector<std::string>& spellings) {
    std::vector<std::pair<std::string_view, int32_t>> entries;
    for (size_t id = 0; id < spellings.size(); ++id) {
      if (!spellings[id].empty()) entries.emplace_back(spellings[id], static_cast<int32_t>(id));
    }
    return DoubleArray(std::move(entries));
  }

  void encode_word(std::string_view word, std::vector<int32_t>& ids) const {
    const size_t before = ids.size();
    const auto characters =
        std::count_if(word.begin(), word.end(), [](char c) { return !text::is_continuation(c); });
    bool known = static_cast<size_t>(characters) <= most_characters_;
    for (size_t begin = 0; known && begin < word.size();) {
      DoubleArray::Node node = begin == 0 ? DoubleArray::kRoot : inside_;
      size_t end = begin;
      int32_t id = -1;
      for (size_t at = begin; at < word.size() && node != DoubleArray::kNone;) {
        node = trie_.child(node, static_cast<uint8_t>(word[at++]));
        const bool is_token = node != DoubleArray::kNone && trie_.value(node) >= 0;
        if (!is_token) continue;
        id = trie_.value(node);
        end = at;
      }
      known = id >= 0;
      begin = end;
      if (known) ids.push_back(id);
    }
    if (known) return;
    ids.resize(before);
    append_unknown(unknown_, word, ids);
  }

  DoubleArray trie_;
  const int32_t unknown_;
  size_t most_characters_ = 100;
  DoubleArray::Node inside_;  // from where tokens that continue a word are found
};

// Each word by itself.
class Unigram final : public HfWordModel {
 public:
  Unigram(const SentencePieceModel& model, std::string_view origin) : encoder_(model, origin) {}

  void encode(const HfWords& words, std::vector<int32_t>& ids) const override {
    for (const HfWord& word : words.words) encoder_.encode(words.spelling(word), ids);
  }

 private:
  SentencePieceEncoder encoder_;
};

HfModelAndVocabulary read_unigram(const Json& tokenizer, std::string_view origin) {
  HfModelAndVocabulary read;
  SentencePieceModel model = unigram_from(tokenizer, read.vocabulary.added, origin);
  for (const auto& piece : model.pieces) read.vocabulary.tokens.push_back(piece.text);
  read.model = std::make_unique<Unigram>(model, origin);
  return read;
}

}  // namespace

HfModelAndVocabulary read_word_model(const Json& tokenizer, std::string_view origin) {
  const Json& model = member(tokenizer, "model");
  const Json& vocab = member(model, "vocab");
  std::string type = text_of(model, "type");
  if (type == "Unigram" || vocab.is_array()) return read_unigram(tokenizer, origin);
  check(model.is_object() && vocab.is_object(), ErrorCode::Data,
        "{}: not a tokenizer.json: expected a model with a vocabulary", origin);
  if (type.empty()) type = model.contains("merges") ? "BPE" : "WordPiece";  // old files
  HfModelAndVocabulary read;
  HfVocabulary& vocabulary = read.vocabulary;
  const size_t num_ids = vocab.size() + member(tokenizer, "added_tokens").size();
  vocabulary.tokens = read_spellings(vocab, num_ids, origin);
  vocabulary.spellings = vocabulary.tokens;
  const std::vector<std::string> spellings = vocabulary.tokens;
  const TokenIndex all(spellings);
  vocabulary.added =
      read_added(member(tokenizer, "added_tokens"), num_ids, all, vocabulary.tokens, origin);
  check(vocabulary.tokens.size() < DoubleArray::kMaxValues, ErrorCode::Data,
        "{}: expected less than {} tokens, got {}", origin, DoubleArray::kMaxValues,
        vocabulary.tokens.size());
  for (const AddedToken& added : vocabulary.added) {
    const bool in_model = static_cast<size_t>(added.id) < vocabulary.spellings.size();
    if (added.special && in_model) vocabulary.spellings[added.id].clear();
  }
  if (type == "BPE") {
    read.model = hf_bpe_model(model, vocabulary, all, origin);
  } else if (type == "WordPiece") {
    read.model = std::make_unique<WordPiece>(model, vocabulary, all, origin);
  } else if (type == "WordLevel") {
    read.model = std::make_unique<WordLevel>(model, vocabulary, all);
  } else {
    check(false, ErrorCode::Data,
          "{}: a model of type \"{}\" is not supported: expected BPE, Unigram, WordPiece or "
          "WordLevel",
          origin, type);
  }
  return read;
}

}  // namespace ingot
