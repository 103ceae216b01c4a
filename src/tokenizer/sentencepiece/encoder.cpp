#include "tokenizer/sentencepiece/encoder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/text/utf8.h"
#include "tokenizer/sentencepiece/byte_pieces.h"

namespace ingot {
namespace {

constexpr size_t kBatch = 32;  // parts looked up at the same time
constexpr size_t kPadding = std::max(PartCache::kPadding, PieceCuts::kPadding);
constexpr size_t kThreeByteCharacters = 0x10000;
constexpr size_t kKeptBytes = size_t{1} << 20;  // of the buffer for normalised text

bool splits_at_spaces(const SentencePieceModel& model) {
  return model.hugging_face && model.hugging_face->split_at_spaces;
}

// The pieces as they stand in normalised text; those that never do are empty.
std::vector<std::string> normalized_texts(const SentencePieceModel& model) {
  std::vector<std::string> texts(model.pieces.size());
  for (size_t id = 0; id < texts.size(); ++id) {
    const auto& [text, score, type] = model.pieces[id];
    if (type == PieceType::Unused && model.hugging_face) continue;
    // Byte pieces are like any other to Hugging Face's unigram model: text may spell them.
    const bool is_byte = type == PieceType::Byte &&
                         (!model.hugging_face || model.kind == SentencePieceModel::Kind::Bpe);
    if (type == PieceType::Unknown || type == PieceType::Control || is_byte) continue;
    if (!model.normalizer.escape_whitespaces) {
      texts[id] = text;
    } else if (text.find(' ') == std::string::npos) {  // all spaces in the text are escaped
      texts[id] = with_spaces(text);
    }
    const bool crosses_words = texts[id].find(' ', 1) != std::string::npos;
    if (crosses_words && splits_at_spaces(model)) texts[id].clear();
  }
  return texts;
}

std::vector<std::string_view> user_defined(const SentencePieceModel& model) {
  std::vector<std::string_view> texts;
  for (const auto& piece : model.pieces) {
    if (piece.type == PieceType::UserDefined) texts.push_back(piece.text);
  }
  return texts;
}

// Of a character of three bytes: its code point.
size_t index_of_character(std::string_view text) {
  return text::decode(text.data());
}

}  // namespace

struct SentencePieceEncoder::Workspace {
  std::string text;  // normalised, and kPadding bytes
  PartCache cache;
  LongPartCache long_cache;
  UnigramEncoder::Scratch unigram;
  SentencePieceBpe::Scratch bpe;
  std::vector<PieceToken> tokens;
};

SentencePieceEncoder::SentencePieceEncoder(const SentencePieceModel& model, std::string_view origin)
    : SentencePieceEncoder(model, normalized_texts(model), origin) {}

SentencePieceEncoder::SentencePieceEncoder(const SentencePieceModel& model,
                                           const std::vector<std::string>& texts,
                                           std::string_view origin)
    : normalizer_(model.normalizer, model.whitespace_is_suffix, user_defined(model), origin),
      cuts_(texts, splits_at_spaces(model)),
      characters_(kThreeByteCharacters, -1),
      unknown_(model.unknown),
      escaped_spaces_(model.normalizer.escape_whitespaces),
      split_at_spaces_(splits_at_spaces(model)),
      fuse_unknown_(!model.hugging_face || model.hugging_face->fuse_unknown),
      double_sums_(model.hugging_face && model.kind == SentencePieceModel::Kind::Unigram) {
  if (model.kind == SentencePieceModel::Kind::Unigram) {
    unigram_.emplace(model, texts);
  } else {
    bpe_.emplace(model, texts);
    no_scores_.resize(model.pieces.size());
  }
  Workspace work;
  for (const std::string& text : texts) {
    if (text.size() != 3 || static_cast<uint8_t>(text[0]) < 0xE0) continue;
    double sum = 0;
    find_tokens(text, false, work, sum);
    if (work.tokens[0].id != unknown_) characters_[index_of_character(text)] = work.tokens[0].id;
  }
  if (!model.byte_fallback) return;
  byte_ids_.emplace();
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const auto& piece = model.pieces[id];
    if (piece.type != PieceType::Byte) continue;
    (*byte_ids_)[*byte_of_piece(piece.text)] = static_cast<int32_t>(id);
  }
}

SentencePieceEncoder::~SentencePieceEncoder() = default;

void SentencePieceEncoder::encode(std::string_view text, std::vector<int32_t>& ids) const {
  const WorkspacePool<Workspace>::Lease lease(pool_);
  Workspace& work = *lease;
  normalizer_.normalize(text, work.text);
  const size_t size = work.text.size();
  work.text.append(kPadding, '\0');
  const std::string_view normalized = std::string_view(work.text).substr(0, size);
  if (double_sums_) {
    encode_normalized(normalized, unigram_->scores<double>(), work, Output<double>{ids});
  } else {
    const auto& scores = unigram_ ? unigram_->scores<float>() : no_scores_;
    encode_normalized(normalized, scores, work, Output<float>{ids});
  }
  if (work.text.capacity() > kKeptBytes) work.text = {};
}

template <class Sum>
void SentencePieceEncoder::encode_normalized(std::string_view text, const std::vector<Sum>& scores,
                                             Workspace& work, Output<Sum> out) const {
  std::array<size_t, kBatch> ends, lines;
  std::array<PartCache::Key, kBatch> keys;
  std::array<int32_t, kBatch> characters;  // ids of parts that are one character
  constexpr Sum kLargest = std::is_same_v<Sum, float> ? UnigramEncoder::kLargestSum
                                                      : std::numeric_limits<Sum>::infinity();
  size_t begin = 0;
  while (const size_t count = cuts_.cut(text, begin, ends)) {
    for (size_t i = 0, at = begin; i < count; at = ends[i++]) {
      const std::string_view part = text.substr(at, ends[i] - at);
      characters[i] = id_of_character(part);
      if (characters[i] >= 0) continue;
      keys[i] = PartCache::key_of(part);
      lines[i] = PartCache::line_of(keys[i]);
      work.cache.prefetch(lines[i]);
    }
    for (size_t i = 0; i < count; begin = ends[i++]) {
      if (split_at_spaces_ && text[begin] == ' ') {
        out.sum = 0;
        out.after_unknown = false;
      }
      if (characters[i] >= 0 && std::abs(out.sum) <= kLargest) {
        out.ids.push_back(characters[i]);
        out.sum += scores[characters[i]];
        out.after_unknown = false;
        continue;
      }
      const PartCache::Entry* found =
          characters[i] >= 0 ? nullptr : work.cache.find(keys[i], lines[i]);
      if (found == nullptr || !(std::abs(out.sum) < found->bound) || found->ids[0] == unknown_) {
        encode_part(text.substr(begin, ends[i] - begin), found, scores, work, out);
        continue;
      }
      out.after_unknown = false;
      for (const int32_t id : found->ids) {
        if (id < 0) break;
        out.ids.push_back(id);
        out.sum += scores[id];
      }
    }
  }
}

// The id of a part that is one character of three bytes, -1 for other parts and unknown characters.
int32_t SentencePieceEncoder::id_of_character(std::string_view part) const {
  if (part.size() != 3 || static_cast<uint8_t>(part[0]) < 0xE0) return -1;
  return characters_[index_of_character(part)];
}

// `found`: what the cache of short parts has for it, or null.
template <class Sum>
void SentencePieceEncoder::encode_part(std::string_view part, const PartCache::Entry* found,
                                       const std::vector<Sum>& scores, Workspace& work,
                                       Output<Sum>& out) const {
  if (found != nullptr && std::abs(out.sum) < found->bound) {  // one unknown character
    out.sum += scores[unknown_];
    append_unknown(part, out);
    return;
  }
  const LongPartCache::Entry* found_long = found == nullptr ? work.long_cache.find(part) : nullptr;
  if (found_long != nullptr && std::abs(out.sum) < found_long->bound) {
    for (size_t i = 0; i < found_long->count; ++i) {
      out.ids.push_back(found_long->ids[i]);
      out.sum += scores[found_long->ids[i]];
    }
    out.after_unknown = false;
    return;
  }
  const bool is_new = found == nullptr && found_long == nullptr;
  find_tokens(part, is_new, work, out.sum);
  for (const PieceToken& token : work.tokens) {
    if (token.id == unknown_) {
      append_unknown(part.substr(0, token.size), out);
    } else {
      out.ids.push_back(token.id);
      out.after_unknown = false;
    }
    part.remove_prefix(token.size);
  }
}

// Replaces work.tokens by those of the part and brings the sum up to date.
template <class Sum>
void SentencePieceEncoder::find_tokens(std::string_view part, bool is_new, Workspace& work,
                                       Sum& sum) const {
  if (bpe_) {
    bpe_->encode(part, work.bpe, work.tokens);
    remember(part, std::numeric_limits<float>::infinity(), work);
    return;
  }
  if (is_new && part.size() <= LongPartCache::kLongestPart) {
    const float bound = unigram_->encode_exactly(part, work.unigram, work.tokens);
    remember(part, bound, work);
    if (std::abs(sum) < bound) {
      const auto& scores = unigram_->scores<Sum>();
      for (const PieceToken& token : work.tokens) sum += scores[token.id];
      return;
    }
  }
  unigram_->encode(part, sum, work.unigram, work.tokens);
}

void SentencePieceEncoder::remember(std::string_view part, float bound, Workspace& work) const {
  const auto& tokens = work.tokens;
  const bool any_unknown = std::any_of(
      tokens.begin(), tokens.end(), [&](const PieceToken& token) { return token.id == unknown_; });
  if (any_unknown && tokens.size() > 1) return;  // where they lie would have to be kept, too
  if (part.size() <= PartCache::kLongestPart && tokens.size() <= PartCache::kMaxTokens) {
    work.cache.put(PartCache::key_of(part), bound, tokens);
  } else {
    work.long_cache.put(part, bound, tokens);
  }
}

// Its bytes, or one id for a run of unknown characters.
template <class Sum>
void SentencePieceEncoder::append_unknown(std::string_view character, Output<Sum>& out) const {
  if (byte_ids_) {
    if (escaped_spaces_ && character == " ") character = kSpaceMark;
    for (const char byte : character) out.ids.push_back((*byte_ids_)[static_cast<uint8_t>(byte)]);
  } else if (!out.after_unknown || !fuse_unknown_) {
    out.ids.push_back(unknown_);
  }
  out.after_unknown = true;
}

}  // namespace ingot
