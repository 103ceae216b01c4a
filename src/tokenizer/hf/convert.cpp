#include "tokenizer/hf/convert.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/bpe/base64.h"
#include "tokenizer/hf/patterns.h"
#include "tokenizer/hf/pieces.h"
#include "tokenizer/sentencepiece/normalizer.h"

namespace ingot {
namespace {

using Kind = SentencePieceModel::Kind;
using Piece = SentencePieceModel::Piece;

// The pieces that text becomes by merging, and how.
class MergeablePieces {
 public:
  MergeablePieces(const SentencePieceModel& model, std::string_view origin) : model_(model) {
    for (const Piece& piece : model.pieces) {
      if (piece.type != PieceType::Normal) continue;
      id_of_.emplace(piece.text, static_cast<int32_t>(&piece - model.pieces.data()));
    }
    for (const auto& [text, id] : id_of_) {
      for (size_t at = 0; at < text.size(); at += text::character_bytes(text[at])) {
        const std::string_view character = text.substr(at, text::character_bytes(text[at]));
        check(id_of_.contains(character), ErrorCode::Data,
              "{}: piece «{}» holds «{}», which is no piece: SentencePiece merges it, Hugging Face "
              "does not",
              origin, text, character);
      }
    }
  }

  // What the piece can be made of, the longest left part first.
  std::vector<TokenMerge> merges_of(int32_t id) const {
    const std::string_view text = model_.pieces[id].text;
    std::vector<TokenMerge> merges;
    for (size_t at = text::character_bytes(text[0]); at < text.size();
         at += text::character_bytes(text[at])) {
      const auto left = id_of_.find(text.substr(0, at)), right = id_of_.find(text.substr(at));
      if (left == id_of_.end() || right == id_of_.end()) continue;
      merges.push_back({left->second, right->second, id});
    }
    std::reverse(merges.begin(), merges.end());
    return merges;
  }

  std::vector<int32_t> ids() const {
    std::vector<int32_t> ids;
    for (const auto& [text, id] : id_of_) ids.push_back(id);
    std::sort(ids.begin(), ids.end());
    return ids;
  }

 private:
  const SentencePieceModel& model_;
  std::unordered_map<std::string_view, int32_t> id_of_;
};

// Whether words, each with the mark before it, can be encoded by themselves.
bool words_are_independent(const SentencePieceModel& model) {
  bool mark_is_piece = false, crossed = false;
  for (const Piece& piece : model.pieces) {
    if (piece.type != PieceType::Normal) continue;
    mark_is_piece = mark_is_piece || piece.text == kSpaceMark;
    crossed = crossed || piece.text.find(kSpaceMark, 1) != std::string::npos;
  }
  return mark_is_piece && !crossed;
}

// Text is encoded around added tokens as if each part were a text of its own, around user-defined
// pieces as one. That is the same if nothing is done to the beginning and end of a text.
bool added_tokens_act_as_pieces(const SentencePieceModel& model) {
  const SentencePieceRules& rules = model.normalizer;
  return model.kind == Kind::Bpe && !rules.add_dummy_prefix && !rules.remove_extra_whitespaces &&
         rules.charsmap.empty();
}

void check_user_defined(const SentencePieceModel& model, const std::string& text,
                        std::string_view origin) {
  check(added_tokens_act_as_pieces(model) && text.find(kSpaceMark) == std::string::npos,
        ErrorCode::Data,
        "{}: «{}» is a user-defined piece in .model, an added token that is not special in "
        "tokenizer.json: the text around it would become other ids",
        origin, text);
}

void check_for_json(const SentencePieceModel& model, std::string_view origin) {
  check(!model.whitespace_is_suffix, ErrorCode::Data,
        "{}: treat_whitespace_as_suffix: tokenizer.json cannot say that", origin);
  check(model.denormalizer.charsmap.empty(), ErrorCode::Data,
        "{}: the denormalizer: tokenizer.json cannot say that", origin);
  check(model.normalizer.escape_whitespaces, ErrorCode::Data,
        "{}: spaces are not escaped: tokenizer.json is written for pieces with marks only", origin);
  for (const Piece& piece : model.pieces) {
    check(piece.type != PieceType::Unused, ErrorCode::Data,
          "{}: piece «{}» is not to be used: tokenizer.json cannot say that", origin, piece.text);
    if (piece.type == PieceType::UserDefined) check_user_defined(model, piece.text, origin);
  }
}

Json replace(const char* kind, std::string_view pattern, std::string_view content) {
  return {{"type", "Replace"}, {"pattern", {{kind, pattern}}}, {"content", content}};
}

Json normalizer_of(const SentencePieceRules& rules) {
  Json steps = Json::array();
  if (!rules.charsmap.empty()) {
    steps.push_back({{"type", "Precompiled"}, {"precompiled_charsmap", to_base64(rules.charsmap)}});
  }
  if (rules.remove_extra_whitespaces) {
    steps.push_back(replace("Regex", kSpacesAround, ""));
    steps.push_back(replace("Regex", kRunsOfSpaces, " "));
  }
  if (rules.add_dummy_prefix) steps.push_back({{"type", "Prepend"}, {"prepend", kSpaceMark}});
  steps.push_back(replace("String", " ", kSpaceMark));
  return {{"type", "Sequence"}, {"normalizers", steps}};
}

Json decoder_of(const SentencePieceModel& model) {
  Json steps = Json::array({replace("String", kSpaceMark, " ")});
  if (model.byte_fallback) steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (model.normalizer.add_dummy_prefix || model.normalizer.remove_extra_whitespaces) {
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", steps}};
}

Json unigram_of(const SentencePieceModel& model) {
  Json vocab = Json::array();
  for (const Piece& piece : model.pieces) vocab.push_back({piece.text, piece.score});
  return {{"type", "Unigram"},
          {"unk_id", model.unknown},
          {"byte_fallback", model.byte_fallback},
          {"vocab", std::move(vocab)}};
}

Json bpe_of(const SentencePieceModel& model, std::string_view origin) {
  const MergeablePieces pieces(model, origin);
  std::vector<std::vector<TokenMerge>> made;  // of each piece that can be made
  for (const int32_t id : pieces.ids()) {
    if (auto merges = pieces.merges_of(id); !merges.empty()) made.push_back(std::move(merges));
  }
  const auto score = [&](const std::vector<TokenMerge>& merges) {
    return model.pieces[merges[0].result].score;
  };
  std::stable_sort(made.begin(), made.end(),
                   [&](const auto& a, const auto& b) { return score(a) > score(b); });
  Json vocab = Json::object(), list = Json::array();
  for (size_t i = 0; i < made.size(); ++i) {
    const auto& before = made[i == 0 ? 0 : i - 1];
    check(i == 0 || score(before) > score(made[i]), ErrorCode::Data,
          "{}: pieces «{}» and «{}» have the same score: tokenizer.json puts one merge before the "
          "other",
          origin, model.pieces[before[0].result].text, model.pieces[made[i][0].result].text);
    for (const auto& [left, right, result] : made[i]) {
      list.push_back({model.pieces[left].text, model.pieces[right].text});
    }
  }
  for (size_t id = 0; id < model.pieces.size(); ++id) vocab[model.pieces[id].text] = id;
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", model.pieces[model.unknown].text},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", true},
          {"byte_fallback", model.byte_fallback},
          {"ignore_merges", false},
          {"vocab", std::move(vocab)},
          {"merges", std::move(list)}};
}

std::vector<std::string> added_of(const SentencePieceModel& model) {
  std::vector<std::string> added;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const Piece& piece = model.pieces[id];
    AddedToken token;
    token.content = piece.text;
    token.id = static_cast<int32_t>(id);
    token.special = piece.type == PieceType::Control || piece.type == PieceType::Unknown;
    if (token.special || piece.type == PieceType::UserDefined) added.push_back(added_json(token));
  }
  return added;
}

}  // namespace

std::string tokenizer_json_of(const SentencePieceModel& model, std::string_view origin) {
  check_for_json(model, origin);
  Json inner = model.kind == Kind::Unigram ? unigram_of(model) : bpe_of(model, origin);
  inner[kOwnMember] = own_json({model.bos, model.eos});
  const Json words = {{"type", "Metaspace"},
                      {"replacement", kSpaceMark},
                      {"prepend_scheme", "never"},
                      {"split", true}};
  return fmt::format(
      "{{\"version\":\"1.0\",\"truncation\":null,\"padding\":null,\n\"added_tokens\":[{}],\n"
      "\"normalizer\":{},\n\"pre_tokenizer\":{},\n\"post_processor\":null,\n\"decoder\":{},\n"
      "\"model\":{}}}\n",
      fmt::join(added_of(model), ","), normalizer_of(model.normalizer).dump(),
      words_are_independent(model) ? words.dump() : "null", decoder_of(model).dump(), inner.dump());
}

namespace {

void flatten(const Json& normalizer, std::vector<Json>& steps) {
  if (normalizer.is_null()) return;
  if (text_of(normalizer, "type") != "Sequence") {
    steps.push_back(normalizer);
    return;
  }
  for (const Json& part : member(normalizer, "normalizers")) flatten(part, steps);
}

// What normalizer_of() writes, and the shorter forms that published files have.
SentencePieceRules rules_of(const Json& normalizer, bool metaspace, std::string_view origin) {
  std::vector<Json> steps;
  flatten(normalizer, steps);
  SentencePieceRules rules{.charsmap = {},
                           .add_dummy_prefix = false,
                           .remove_extra_whitespaces = false,
                           .escape_whitespaces = metaspace};
  size_t at = 0;
  const auto takes = [&](const Json& step) {
    const bool is = at < steps.size() && steps[at] == step;
    at += is ? 1 : 0;
    return is;
  };
  if (at < steps.size() && text_of(steps[at], "type") == "Precompiled") {
    rules.charsmap = from_base64(text_of(steps[at++], "precompiled_charsmap"));
  }
  rules.remove_extra_whitespaces =
      takes(replace("Regex", kSpacesAround, "")) && takes(replace("Regex", kRunsOfSpaces, " "));
  rules.add_dummy_prefix = takes({{"type", "Prepend"}, {"prepend", kSpaceMark}});
  rules.escape_whitespaces = takes(replace("String", " ", kSpaceMark)) || metaspace;
  check(at == steps.size(), ErrorCode::Data, "{}: normalizer {}: .model cannot say that", origin,
        steps.empty() ? "" : steps[std::min(at, steps.size() - 1)].dump().substr(0, 100));
  check(rules.escape_whitespaces, ErrorCode::Data,
        "{}: nothing puts \"{}\" in place of spaces: .model is written for that only", origin,
        kSpaceMark);
  return rules;
}

void check_pre_tokenizer(const HfPieces& pieces, std::string_view origin) {
  if (!pieces.metaspace) return;
  check(!pieces.split_at_whitespace, ErrorCode::Data,
        "{}: pre-tokenizer WhitespaceSplit before Metaspace: .model cannot say that", origin);
  check(!pieces.metaspace->split || words_are_independent(pieces.model), ErrorCode::Data,
        "{}: pre-tokenizer Metaspace splits where pieces reach across: .model cannot say that",
        origin);
}

// Metaspace puts a mark where the text does not begin with one. In SentencePiece's normalizer only
// two things depend on where the text begins: the dummy prefix, put before any text, and
// remove_extra_whitespaces, which takes marks from the end, too. So nothing says just that.
void take_dummy_prefix(const HfPieces& pieces, SentencePieceRules& rules, std::string_view origin,
                       std::string* other_ids) {
  if (!pieces.metaspace || pieces.metaspace->prefix == HfMetaspace::Prefix::Never) return;
  if (rules.add_dummy_prefix) return;  // no text is left that does not begin with a mark
  check(other_ids != nullptr, ErrorCode::Data,
        "{}: pre-tokenizer Metaspace puts \"{}\" only before a text that does not begin with it, "
        "SentencePiece before every text: .model cannot say that; `ingot tokenizer convert "
        "--dummy-prefix` writes it so, with other ids for texts that begin with a space",
        origin, kSpaceMark);
  rules.add_dummy_prefix = true;
  *other_ids = fmt::format(
      "texts that begin with a space or \"{0}\" get one \"{0}\" more than before{1}", kSpaceMark,
      pieces.metaspace->prefix == HfMetaspace::Prefix::First
          ? ", and so does what follows a special token in a text"
          : "");
}

void set_types_of_added(const HfPieces& pieces, SentencePieceModel& model,
                        std::string_view origin) {
  for (const AddedToken& added : pieces.added) {
    check(
        !added.lstrip && !added.rstrip && !added.single_word && !added.normalized, ErrorCode::Data,
        "{}: added token «{}» is lstrip, rstrip, single_word or normalized: .model cannot say that",
        origin, added.content);
    if (added.special) continue;
    check_user_defined(model, added.content, origin);
    model.pieces[added.id].type = PieceType::UserDefined;
  }
}

// SentencePiece orders merges by the score of what they make, and makes all that it can. In which
// order the merges that make one piece stand does not matter: they compete only where they overlap,
// at x y z with xy = yz. Such text is periodic, and merging covers it from the left in any case.
void set_scores_by_merges(SentencePieceModel& model, std::string_view origin) {
  const MergeablePieces pieces(model, origin);
  const std::vector<TokenMerge>& merges = model.hugging_face->merges;
  std::vector<std::set<std::pair<int32_t, int32_t>>> made(model.pieces.size());
  double score = 0;
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right, result] = merges[i];
    const bool same_token = i > 0 && merges[i - 1].result == result;
    check(same_token || made[result].empty(), ErrorCode::Data,
          "{}: between the merges that make «{}» there are others: .model cannot say that", origin,
          model.pieces[result].text);
    made[result].insert({left, right});
    score -= same_token ? 0 : 1;
    model.pieces[result].score = score;
  }
  for (const int32_t id : pieces.ids()) {
    check(pieces.merges_of(id).size() == made[id].size(), ErrorCode::Data,
          "{}: «{}» is not made in every way that the pieces allow: .model cannot say that", origin,
          model.pieces[id].text);
    if (made[id].empty()) model.pieces[id].score = score -= 1;
  }
}

void check_scores(const SentencePieceModel& model, std::string_view origin) {
  for (const Piece& piece : model.pieces) {
    const auto rounded = static_cast<double>(static_cast<float>(piece.score));
    check(as_hugging_face_reads(rounded) == piece.score, ErrorCode::Data,
          "{}: piece «{}» has the score {}: .model holds float32", origin, piece.text, piece.score);
  }
}

}  // namespace

std::string sentencepiece_file_of(const Json& tokenizer, std::string_view origin,
                                  std::string* other_ids) {
  const HfPieces pieces = hf_pieces_from(tokenizer, origin);
  SentencePieceModel model = pieces.model;
  model.normalizer =
      rules_of(member(tokenizer, "normalizer"), pieces.metaspace.has_value(), origin);
  check_pre_tokenizer(pieces, origin);
  take_dummy_prefix(pieces, model.normalizer, origin, other_ids);
  set_types_of_added(pieces, model, origin);
  check(model.pieces[model.unknown].type == PieceType::Unknown, ErrorCode::Data,
        "{}: no unk_token, which .model needs", origin);
  check(model.byte_fallback || model.hugging_face->fuse_unknown, ErrorCode::Data,
        "{}: fuse_unk is false: .model cannot say that", origin);
  if (model.kind == Kind::Bpe) {
    set_scores_by_merges(model, origin);
  } else {
    check_scores(model, origin);
  }
  model.hugging_face.reset();
  for (int32_t* id : {&model.bos, &model.eos}) {
    if (*id >= 0 && model.pieces[*id].type != PieceType::Control) *id = -1;
  }
  std::string file = to_sentencepiece_file(model);
  parse_sentencepiece_model(file, origin);  // says what SentencePiece would refuse
  return file;
}

}  // namespace ingot
