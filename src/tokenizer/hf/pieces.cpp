#include "tokenizer/hf/pieces.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/bpe/token_index.h"
#include "tokenizer/sentencepiece/byte_pieces.h"
#include "tokenizer/sentencepiece/normalizer.h"
#include "tokenizer/sentencepiece/trie.h"
#include "tokenizer/special_tokens.h"

namespace ingot {

HfMetaspace::HfMetaspace(const Json& part, std::string_view origin) {
  replacement = text_of(part, "replacement");
  check(!replacement.empty() && text::decode_first(replacement).size == replacement.size(),
        ErrorCode::Data, "{}: Metaspace: expected one character in place of spaces, got \"{}\"",
        origin, replacement);
  const std::string scheme = text_of(part, "prepend_scheme");
  check(scheme.empty() || scheme == "always" || scheme == "first" || scheme == "never",
        ErrorCode::Data,
        "{}: Metaspace: expected a prepend_scheme of always, first or never, got \"{}\"", origin,
        scheme);
  prefix = scheme == "never" ? Prefix::Never : scheme == "first" ? Prefix::First : Prefix::Always;
  check(
      flag(part, "add_prefix_space", true, origin) || prefix == Prefix::Never, ErrorCode::Data,
      "{}: Metaspace: add_prefix_space is false, prepend_scheme is not \"never\": expected the two "
      "to say the same",
      origin);
  split = flag(part, "split", true, origin);
}

// Hugging Face reads numbers quickly, not always to the nearest double: the digits as one number,
// times or by a power of ten. Where two segmentations tie, the last bit decides.
double as_hugging_face_reads(double value) {
  std::array<char, 32> buffer;
  const std::to_chars_result written = std::to_chars(
      buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific);
  const std::string text(buffer.data(), written.ptr);  // "7.25e+00"
  const size_t e = text.find('e'), fraction = std::min(text.find('.'), e);
  uint64_t digits = 0;
  for (const char c : text.substr(0, e)) {
    if (c != '.') digits = digits * 10 + static_cast<uint64_t>(c - '0');
  }
  const int decimals = fraction < e ? static_cast<int>(e - fraction) - 1 : 0;
  const int exponent = std::stoi(text.substr(e + 1)) - decimals;
  constexpr int kLargestPower = 308;
  if (std::abs(exponent) > kLargestPower) return value;
  const double power = std::stod(fmt::format("1e{}", std::abs(exponent)));
  const auto read = static_cast<double>(digits);
  return std::copysign(exponent >= 0 ? read * power : read / power, value);
}

namespace {

using Piece = SentencePieceModel::Piece;

// The parts of a pre-tokenizer or normalizer, without the sequences that they lie in.
void flatten(const Json& part, const char* name_of_list, std::vector<const Json*>& parts) {
  if (part.is_null()) return;
  if (text_of(part, "type") != "Sequence") return parts.push_back(&part);
  for (const Json& one : member(part, name_of_list)) flatten(one, name_of_list, parts);
}
std::vector<const Json*> pre_tokenizers_of(const Json& tokenizer) {
  std::vector<const Json*> parts;
  flatten(member(tokenizer, "pre_tokenizer"), "pretokenizers", parts);
  return parts;
}

bool marks_spaces(const Json& normalizer) {
  return text_of(normalizer, "type") == "Replace" &&
         text_of(member(normalizer, "pattern"), "String") == " " &&
         text_of(normalizer, "content") == kSpaceMark;
}

// Metaspace, WhitespaceSplit before it, or none.
bool has_plain_pre_tokenizer(const Json& tokenizer) {
  std::vector<const Json*> normalizers;
  flatten(member(tokenizer, "normalizer"), "normalizers", normalizers);
  bool whitespace = false, metaspace = false;
  for (const Json* part : pre_tokenizers_of(tokenizer)) {
    const std::string type = text_of(*part, "type");
    // Gemma's: there are no spaces left that it could split at.
    const bool no_op = type == "Split" && text_of(member(*part, "pattern"), "String") == " " &&
                       !normalizers.empty() && marks_spaces(*normalizers.back());
    if (no_op) continue;
    const bool is_metaspace = type == "Metaspace" && text_of(*part, "replacement") == kSpaceMark;
    if (metaspace || !(is_metaspace || type == "WhitespaceSplit")) return false;
    metaspace = is_metaspace;
    whitespace |= !is_metaspace;
  }
  return metaspace || !whitespace;
}

// A vocabulary trained on text that spells "<0x41>" may make that of characters. Merges are "left
// right" or [left, right]; what is neither is refused later.
bool makes_byte_pieces(const Json& merges) {
  const auto makes_one = [](const Json& merge) {
    std::string made = merge.is_string() ? merge.get<std::string>() : "";
    std::erase(made, ' ');
    for (const Json& part : merge.is_array() ? merge : Json::array()) {
      if (part.is_string()) made += part.get_ref<const std::string&>();
    }
    return byte_of_piece(made).has_value();
  };
  return merges.is_array() && std::any_of(merges.begin(), merges.end(), makes_one);
}

// Characters, whose unknown ones all become bytes or all the unknown piece.
bool is_plain_bpe(const Json& model) {
  const Json& vocab = member(model, "vocab");
  if (!text_of(model, "continuing_subword_prefix").empty() ||
      !text_of(model, "end_of_word_suffix").empty() || member(model, "ignore_merges") == true) {
    return false;
  }
  int bytes = 0;
  for (int byte = 0; byte < 256 && member(model, "byte_fallback") == true; ++byte) {
    bytes += vocab.contains(piece_of_byte(static_cast<uint8_t>(byte))) ? 1 : 0;
  }
  if (bytes > 0 && (bytes < 256 || makes_byte_pieces(member(model, "merges")))) return false;
  const Json& unknown = member(model, "unk_token");
  return unknown.is_null() ? bytes == 256 : vocab.contains(text_of(model, "unk_token"));
}

// [[piece, score], …]; the piece's place is its id.
std::vector<std::string> read_scored(const Json& vocab, std::vector<double>& scores,
                                     std::string_view origin) {
  std::vector<std::string> spellings;
  for (const Json& entry : vocab) {
    const bool is_pair =
        entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_number();
    check(is_pair, ErrorCode::Data, "{}: expected a piece [text, score], got {}", origin,
          entry.dump());
    const auto& text = entry[0].get_ref<const std::string&>();
    check(!text.empty(), ErrorCode::Data, "{}: piece {} is empty: expected text", origin,
          spellings.size());
    constexpr double kLargestScore = 1e30;  // sums stay finite
    check(std::abs(entry[1].get<double>()) <= kLargestScore, ErrorCode::Data,
          "{}: piece {} «{}»: expected a score within ±{}, got {}", origin, spellings.size(), text,
          kLargestScore, entry[1].dump());
    spellings.push_back(text);
    scores.push_back(as_hugging_face_reads(entry[1].get<double>()));
  }
  return spellings;
}

// Of pieces that are spelt the same, text becomes the last; the others are only decoded.
void keep_last_of_equals(std::vector<std::string>& spellings) {
  std::unordered_set<std::string> seen;
  for (size_t i = spellings.size(); i-- > 0;) {
    if (!spellings[i].empty() && !seen.insert(spellings[i]).second) spellings[i].clear();
  }
}

// Byte pieces count only if all are there; Hugging Face would mix bytes and unknowns.
void read_byte_pieces(bool fallback, const TokenIndex& index, SentencePieceModel& model,
                      std::string_view origin) {
  if (!fallback) return;
  std::array<int32_t, 256> ids{};
  int found = 0;
  for (int byte = 0; byte < 256; ++byte) {
    ids[byte] = index.find(piece_of_byte(static_cast<uint8_t>(byte)));
    found += ids[byte] >= 0 ? 1 : 0;
  }
  check(found == 0 || found == 256, ErrorCode::Data,
        "{}: byte_fallback with {} byte pieces is not supported: expected all 256", origin, found);
  if (found == 0) return;
  model.byte_fallback = true;
  for (const int32_t id : ids) model.pieces[id].type = PieceType::Byte;
}

int32_t unknown_of(const Json& inner, const TokenIndex& index, const SentencePieceModel& model,
                   std::string_view origin) {
  const bool unigram = model.kind == SentencePieceModel::Kind::Unigram;
  const Json& value = member(inner, unigram ? "unk_id" : "unk_token");
  // With bytes nothing is unknown. This one is in no text, and is never sought for itself.
  if (!unigram && value.is_null() && model.byte_fallback) return index.find(piece_of_byte(0));
  check(!value.is_null(), ErrorCode::Data,
        "{}: no {}: expected a piece for unknown characters, which would be lost", origin,
        unigram ? "unk_id" : "unk_token");
  const int32_t id =
      unigram ? id_from(value, "unk_id", origin) : index.find(text_of(inner, "unk_token"));
  check(id >= 0 && static_cast<size_t>(id) < model.pieces.size(), ErrorCode::Data,
        "{}: the unknown piece is {}, which is not in the vocabulary", origin, value.dump());
  return id;
}

void check_merges(const SentencePieceModel& model, std::string_view origin) {
  for (const auto& [left, right, result] : model.hugging_face->merges) {
    for (const int32_t id : {left, right, result}) {
      const PieceType type = model.pieces[id].type;
      check(type != PieceType::Byte && type != PieceType::Unknown, ErrorCode::Data,
            "{}: a merge of \"{}\" is not supported: expected merges of characters", origin,
            model.pieces[id].text);
    }
  }
}

void read_model(const Json& tokenizer, SentencePieceModel& model,
                std::vector<AddedToken>& all_added, std::string_view origin) {
  const Json& inner = member(tokenizer, "model");
  const Json& vocab = member(inner, "vocab");
  model.kind = vocab.is_array() ? SentencePieceModel::Kind::Unigram : SentencePieceModel::Kind::Bpe;
  // Not emplace(): clang takes a nested class with default values for one that cannot be made.
  model.hugging_face = SentencePieceModel::HuggingFace();
  const size_t num_ids = vocab.size() + member(tokenizer, "added_tokens").size();
  std::vector<double> scores;
  std::vector<std::string> texts = vocab.is_array() ? read_scored(vocab, scores, origin)
                                                    : read_spellings(vocab, num_ids, origin);
  std::vector<std::string> spellings = texts;
  keep_last_of_equals(spellings);
  const TokenIndex index(spellings);
  if (model.kind == SentencePieceModel::Kind::Bpe) {
    check_merging(inner, origin);
    model.hugging_face->merges = read_merges(member(inner, "merges"), index, origin);
    model.hugging_face->fuse_unknown = flag(inner, "fuse_unk", false, origin);
  }
  all_added = read_added(member(tokenizer, "added_tokens"), num_ids, index, texts, origin);
  check(texts.size() < DoubleArray::kMaxValues, ErrorCode::Data,
        "{}: expected less than {} pieces, got {}", origin, DoubleArray::kMaxValues, texts.size());
  scores.resize(texts.size());
  for (size_t id = 0; id < texts.size(); ++id) {
    const bool in_model = id < spellings.size() && !spellings[id].empty();
    model.pieces.push_back(
        {texts[id], scores[id], in_model ? PieceType::Normal : PieceType::Unused});
  }
  read_byte_pieces(flag(inner, "byte_fallback", false, origin), index, model, origin);
  for (const AddedToken& added : all_added) {
    if (added.special) model.pieces[added.id].type = PieceType::Control;
  }
  model.unknown = unknown_of(inner, index, model, origin);
  if (model.pieces[model.unknown].type != PieceType::Byte) {
    model.pieces[model.unknown].type = PieceType::Unknown;
  }
  check_merges(model, origin);
}

}  // namespace

bool holds_pieces(const Json& tokenizer) {
  const Json& model = member(tokenizer, "model");
  const std::string type = text_of(model, "type");
  if (!has_plain_pre_tokenizer(tokenizer)) return false;
  if (type == "Unigram" || member(model, "vocab").is_array()) return true;
  return (type.empty() || type == "BPE") && model.contains("merges") && is_plain_bpe(model);
}

SentencePieceModel unigram_from(const Json& tokenizer, std::vector<AddedToken>& added,
                                std::string_view origin) {
  SentencePieceModel model;
  check(member(member(tokenizer, "model"), "vocab").is_array(), ErrorCode::Data,
        "{}: a Unigram model: expected a list of pieces [text, score]", origin);
  read_model(tokenizer, model, added, origin);
  model.normalizer = {.charsmap = {},
                      .add_dummy_prefix = false,
                      .remove_extra_whitespaces = false,
                      .escape_whitespaces = false};
  return model;
}

HfPieces hf_pieces_from(const Json& tokenizer, std::string_view origin) {
  HfPieces pieces{{},    {}, HfNormalizer(member(tokenizer, "normalizer"), origin),
                  false, {}, HfDecoder(member(tokenizer, "decoder"), origin)};
  check(holds_pieces(tokenizer), ErrorCode::Data, "{}: not a tokenizer of pieces", origin);
  read_model(tokenizer, pieces.model, pieces.added, origin);
  for (const Json* part : pre_tokenizers_of(tokenizer)) {
    if (text_of(*part, "type") == "Metaspace") pieces.metaspace.emplace(*part, origin);
    if (text_of(*part, "type") == "WhitespaceSplit") pieces.split_at_whitespace = true;
  }
  const bool marks = pieces.normalizer.ends_with_marks_for_spaces();
  pieces.model.normalizer = {.charsmap = {},
                             .add_dummy_prefix = false,
                             .remove_extra_whitespaces = false,
                             .escape_whitespaces = marks || pieces.metaspace};
  // The rules do it; but tokens that are looked for in normalised text must see the marks.
  const bool any_normalized = std::any_of(pieces.added.begin(), pieces.added.end(),
                                          [](const AddedToken& added) { return added.normalized; });
  if (marks && !any_normalized) pieces.normalizer.drop_last();
  pieces.model.hugging_face->split_at_spaces = pieces.metaspace && pieces.metaspace->split;
  set_bos_and_eos(pieces.model,
                  bos_and_eos_of_file(tokenizer, pieces.added, pieces.model.pieces.size(), origin));
  return pieces;
}

}  // namespace ingot
