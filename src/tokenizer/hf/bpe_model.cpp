// BPE of the characters of a word, which may be GPT-2's spelling of bytes.
#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/bpe/merger.h"
#include "tokenizer/bpe/piece_cache.h"
#include "tokenizer/hf/word_model.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/workspace_pool.h"

namespace ingot {
namespace {

// What words became before.
struct Workspace {
  Workspace() : words(0) {}

  PieceCache words;
  LongPieceCache long_words;
  MergeScratch scratch;
};

// Without those that would make a special token of text.
std::vector<TokenMerge> merges_of(const Json& model, const HfVocabulary& vocabulary,
                                  const TokenIndex& all, std::string_view origin) {
  std::vector<TokenMerge> merges = read_merges(member(model, "merges"), all, origin,
                                               text_of(model, "continuing_subword_prefix").size());
  std::vector<bool> special(vocabulary.tokens.size());
  for (const AddedToken& added : vocabulary.added) special[added.id] = added.special;
  const auto makes_special = [&](const TokenMerge& merge) { return special[merge.result]; };
  merges.erase(std::remove_if(merges.begin(), merges.end(), makes_special), merges.end());
  return merges;
}

class HfBpe final : public HfWordModel {
 public:
  HfBpe(const Json& model, const HfVocabulary& vocabulary, const TokenIndex& all,
        std::string_view origin)
      : spellings_(vocabulary.spellings),
        index_(spellings_),
        pairs_(merges_of(model, vocabulary, all, origin)),
        prefix_(text_of(model, "continuing_subword_prefix")),
        suffix_(text_of(model, "end_of_word_suffix")),
        whole_words_first_(flag(model, "ignore_merges", false, origin)),
        fuse_unknown_(flag(model, "fuse_unk", false, origin)) {
    const Json& dropout = member(model, "dropout");
    check(dropout.is_null() || dropout == 0.0, ErrorCode::Data,
          "{}: dropout is {}: expected none, ids must not be left to chance", origin,
          dropout.dump());
    if (const std::string token = text_of(model, "unk_token"); !token.empty()) {
      unknown_ = all.find(token);
      check(unknown_ >= 0, ErrorCode::Data, "{}: the unknown token \"{}\" is not in the vocabulary",
            origin, token);
    }
    byte_ids_.fill(TokenIndex::kNone);
    if (!flag(model, "byte_fallback", false, origin)) return;
    for (int byte = 0; byte < 256; ++byte) {
      byte_ids_[byte] = all.find(piece_of_byte(static_cast<uint8_t>(byte)));
    }
  }

  void encode(const HfWords& words, std::vector<int32_t>& ids) const override {
    const WorkspacePool<Workspace>::Lease lease(pool_);
    Workspace& work = *lease;
    for (const HfWord& word : words.words) {
      encode_word(words.spelling(word), work, ids);
    }
    work.words.grow_if_crowded();
  }

 private:
  void encode_word(std::string_view word, Workspace& work, std::vector<int32_t>& ids) const {
    const bool is_short = word.size() <= PieceKey::kLongest;
    const PieceKey key = is_short ? PieceKey(word, PieceKind::Whole) : PieceKey::none();
    if (is_short) {
      const auto* found = PieceCache::find(key, work.words.set_of(key));
      if (found != nullptr && found->count > 0) {
        ids.insert(ids.end(), found->ids, found->ids + found->count);
        return;
      }
    }
    if (word.size() <= LongPieceCache::kLongestPiece) {
      const auto found = work.long_words.find(word, PieceKind::Whole);
      if (!found.empty()) {
        ids.insert(ids.end(), found.begin(), found.end());
        return;
      }
    }
    const size_t before = ids.size();
    merge(word, work.scratch, ids);
    const auto merged = std::span<const int32_t>(ids).subspan(before);
    if (merged.empty()) return;
    if (is_short && merged.size() <= PieceCache::kMaxIds) {
      work.words.insert(key, merged);
    } else if (word.size() <= LongPieceCache::kLongestPiece &&
               merged.size() <= LongPieceCache::kMaxIds) {
      work.long_words.insert(word, PieceKind::Whole, merged);
    }
  }

  void merge(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& ids) const {
    if (whole_words_first_) {
      if (const int32_t id = index_.find(word); id != TokenIndex::kNone) {
        ids.push_back(id);
        return;
      }
    }
    scratch.ids.clear();
    append_characters(word, scratch.ids);
    merge_symbols(pairs_, scratch, ids);
  }

  // Hugging Face keeps an unknown character back until the next known one, not past bytes: theirs
  // then come first.
  void append_characters(std::string_view word, std::vector<int32_t>& symbols) const {
    bool unknown_waits = false;
    const auto end_unknown = [&] {
      if (unknown_waits) symbols.push_back(unknown_);
      unknown_waits = false;
    };
    std::string spelling;
    for (size_t at = 0; at < word.size();) {
      const size_t size = text::character_bytes(word[at]);
      spelling.clear();
      if (at > 0) spelling += prefix_;
      spelling += word.substr(at, size);
      at += size;
      if (at == word.size()) spelling += suffix_;
      if (const int32_t id = index_.find(spelling); id != TokenIndex::kNone) {
        end_unknown();
        symbols.push_back(id);
      } else if (!append_bytes(spelling, symbols) && unknown_ >= 0) {
        if (!fuse_unknown_) end_unknown();
        unknown_waits = true;
      }
    }
    end_unknown();
  }

  // False, and nothing done, unless all of them are tokens.
  bool append_bytes(std::string_view bytes, std::vector<int32_t>& symbols) const {
    const auto id_of = [&](char byte) { return byte_ids_[static_cast<uint8_t>(byte)]; };
    const bool known = std::all_of(bytes.begin(), bytes.end(),
                                   [&](char byte) { return id_of(byte) != TokenIndex::kNone; });
    for (size_t i = 0; known && i < bytes.size(); ++i) symbols.push_back(id_of(bytes[i]));
    return known;
  }

  const std::vector<std::string> spellings_;
  const TokenIndex index_;
  const PairTable pairs_;
  const std::string prefix_, suffix_;  // of characters inside a word, and at its end
  const bool whole_words_first_, fuse_unknown_;
  int32_t unknown_ = -1;  // -1: unknown characters are dropped
  std::array<int32_t, 256> byte_ids_;
  mutable WorkspacePool<Workspace> pool_;
};

}  // namespace

std::unique_ptr<HfWordModel> hf_bpe_model(const Json& model, const HfVocabulary& vocabulary,
                                          const TokenIndex& all, std::string_view origin) {
  return std::make_unique<HfBpe>(model, vocabulary, all, origin);
}

}  // namespace ingot
