#include "checkpoint/exchange/gguf/vocabulary.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "checkpoint/exchange/gguf/config.h"
#include "checkpoint/exchange/gguf/tokens.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/utf8.h"
#include "spec/settings/settings.h"
#include "tokenizer/bpe/byte_alphabet.h"
#include "tokenizer/hf/json_fields.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

constexpr char kChatTemplate[] = "tokenizer.chat_template";

// Keys of no meaning here: tokens for padding, masks and filling in, which make no ids of a text.
constexpr std::string_view kHarmless[] = {
    "padding_token_id", "seperator_token_id", "cls_token_id",     "mask_token_id",
    "prefix_token_id",  "suffix_token_id",    "middle_token_id",  "fim_pre_token_id",
    "fim_suf_token_id", "fim_mid_token_id",   "fim_pad_token_id", "fim_rep_token_id",
    "fim_sep_token_id", "token_type_count",   "unknown_token_id"};

class Vocabulary {
 public:
  explicit Vocabulary(const GgufHeader& header) : fields_(header) {}

  // All that is said whatever the tokenizer.
  GgufText rest() {
    GgufText found;
    std::set<int32_t> ids;
    for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"})
      if (fields_.find(key(name)) != nullptr) ids.insert(id(name, -1));
    ids.erase(-1);
    found.stop_ids.assign(ids.begin(), ids.end());
    found.chat_template = fields_.text(kChatTemplate, "");
    if (const auto others = fields_.others(std::string(kChatTemplate)); !others.empty())
      log::warn("gguf_metadata",
                {{"why", fmt::format("{} chat templates besides the one that has no name were "
                                     "ignored: {}",
                                     others.size(), fmt::join(others, ", "))}});
    return found;
  }

  void add_tokenizer(GgufText& found) {
    const std::string model = fields_.text(key("model"), "");
    check(!model.empty() && model != "none" && model != "no_vocab", ErrorCode::Data,
          "the file holds none");
    read_tokens();
    if (model == "gpt2")
      found.tokenizer = bpe_file();
    else if (model == "llama" || model == "t5")
      found.tokenizer = pieces_file(model == "t5");
    else
      throw Error(ErrorCode::Data, fmt::format("{}: expected gpt2, llama or t5, got {}",
                                               key("model"), on_one_line(model.substr(0, 100))));
    for (const std::string_view name : kHarmless) fields_.find(key(name));
    const auto others = fields_.others(key(""));
    check(others.empty(), ErrorCode::Data,
          "{} is not known here and could change which ids a text gets", fmt::join(others, ", "));
    const auto files = memory_storage();
    write_file_atomically(*files, "tokenizer.bin", found.tokenizer);
    const auto tokenizer = load_tokenizer(*files, "tokenizer.bin");
    check(tokenizer->bos() == bos_ && tokenizer->eos() == eos_, ErrorCode::Data,
          "bos_token_id is {} and eos_token_id {}: expected control tokens", bos_, eos_);
    found.config = config();
  }

 private:
  static std::string key(std::string_view name) { return "tokenizer.ggml." + std::string(name); }

  int32_t id(std::string_view name, int32_t otherwise) {
    const int64_t value = fields_.integer(key(name), otherwise);
    constexpr int64_t kMost = 1 << 22;  // of a vocabulary
    check(-1 <= value && value < kMost, ErrorCode::Data, "{}: expected the id of a token, got {}",
          key(name), value);
    return static_cast<int32_t>(value);
  }

  template <class T, class Read>
  std::vector<T> per_token(std::string_view name, T otherwise, Read read) {
    if (fields_.find(key(name)) == nullptr) return std::vector<T>(texts_.size(), otherwise);
    std::vector<T> values = fields_.list(key(name), read);
    check(values.size() >= texts_.size(), ErrorCode::Data,
          "{}: expected one for each of {} tokens, "
          "got {}",
          key(name), texts_.size(), values.size());
    return values;
  }

  void read_tokens() {
    texts_ = fields_.list(key("tokens"), [](const GgufValue& value) { return value.texts(); });
    types_ = per_token<int64_t>("token_type", static_cast<int64_t>(PieceType::Normal),
                                [](const GgufValue& value) { return value.integers(); });
    // What fills up a vocabulary that was rounded up is no token.
    while (!texts_.empty() && is_filler(texts_.size() - 1)) texts_.pop_back();
    check(!texts_.empty(), ErrorCode::Data, "{}: expected tokens, got none", key("tokens"));
    for (size_t i = 0; i < texts_.size(); ++i) {
      check(1 <= types_[i] && types_[i] <= 6, ErrorCode::Data,
            "{}: expected 1 to 6, got {} for token {}", key("token_type"), types_[i], i);
      check(is_utf8(texts_[i]), ErrorCode::Data, "{}: token {} is no UTF-8", key("tokens"), i);
    }
  }

  bool is_filler(size_t i) const {
    return types_[i] == static_cast<int64_t>(PieceType::Unused) &&
           texts_[i] == fmt::format("[PAD{}]", i);
  }
  PieceType type(size_t i) const { return static_cast<PieceType>(types_[i]); }

  // Where EOS stands in the place of BOS, and none is put before a text, there is none.
  void read_ends(int32_t bos, int32_t eos, bool adds_bos, bool adds_eos) {
    bos_ = id("bos_token_id", bos);
    eos_ = id("eos_token_id", eos);
    adds_bos_ = fields_.flag(key("add_bos_token"), adds_bos);
    adds_eos_ = fields_.flag(key("add_eos_token"), adds_eos);
    for (const int32_t end : {bos_, eos_})
      check(end < static_cast<int32_t>(texts_.size()), ErrorCode::Data,
            "bos_token_id and eos_token_id: expected ids of {} tokens, got {}", texts_.size(), end);
    if (bos_ == eos_ && !adds_bos_) bos_ = -1;
    adds_bos_ = adds_bos_ && bos_ >= 0;
    adds_eos_ = adds_eos_ && eos_ >= 0;
    check(!fields_.flag(key("add_sep_token"), false), ErrorCode::Data,
          "{}: expected false, got true", key("add_sep_token"));
  }

  std::string bpe_file() {
    const GgufPre pre = gguf_pre_named(fields_.text(key("pre"), ""));
    fields_.find(key("scores"));  // merges have an order of their own
    check(!fields_.flag(key("add_space_prefix"), false), ErrorCode::Data,
          "{}: expected false of BPE, got true", key("add_space_prefix"));
    read_ends(-1, -1, pre.adds_bos, false);
    BpeModel model;
    model.split = pre.split;
    model.whole_piece_first = pre.whole_piece_first;
    model.bos = bos_;
    model.eos = eos_;
    std::vector<std::string> spellings;
    for (size_t i = 0; i < texts_.size(); ++i) {
      const std::string text(is_filler(i) ? "" : texts_[i]);
      check(is_filler(i) || !text.empty(), ErrorCode::Data, "token {} has no text", i);
      spellings.push_back(text);
      const bool is_added = type(i) != PieceType::Normal && type(i) != PieceType::Unused;
      model.tokens.push_back(is_added ? text : spelt_bytes(text).value_or(text));
      if (!is_added) continue;
      AddedToken added;
      added.content = text;
      added.id = static_cast<int32_t>(i);
      added.special = type(i) != PieceType::UserDefined;
      model.added.push_back(std::move(added));
    }
    const TokenIndex index(spellings);
    for (const std::string_view line :
         fields_.list(key("merges"), [](const GgufValue& value) { return value.texts(); }))
      model.merges.push_back(merge_of_line(std::string(line), index, key("merges")));
    model.post_processor = post_processor();
    const auto tokenizer = bpe_tokenizer(model, key("tokens"));
    const std::string file = tokenizer->serialize();
    return pre.words.empty() ? file : with_gguf_pre_tokenizer(file, pre);
  }

  // What transformers puts around a text, as this file says; empty: nothing.
  std::string post_processor() const {
    if (!adds_bos_ && !adds_eos_) return "";
    Json single = Json::array(), specials = Json::object();
    const auto put = [&](bool is_put, int32_t id) {
      if (!is_put) return;
      const std::string text(texts_[static_cast<size_t>(id)]);
      single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
      specials[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
    };
    put(adds_bos_, bos_);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    put(adds_eos_, eos_);
    Json pair = single;
    pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 0}}}});
    return Json({{"type", "TemplateProcessing"},
                 {"single", single},
                 {"pair", pair},
                 {"special_tokens", specials}})
        .dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  std::string pieces_file(bool unigram) {
    read_ends(unigram ? -1 : 1, unigram ? 1 : 2, !unigram, unigram);
    fields_.find(key("pre"));
    const std::vector<double> scores =
        per_token<double>("scores", 0.0, [](const GgufValue& value) { return value.numbers(); });
    SentencePieceModel model;
    model.kind = unigram ? SentencePieceModel::Kind::Unigram : SentencePieceModel::Kind::Bpe;
    for (size_t i = 0; i < texts_.size(); ++i) {
      model.pieces.push_back({std::string(texts_[i]), scores[i], type(i)});
      model.byte_fallback |= type(i) == PieceType::Byte;
    }
    model.bos = bos_;
    model.eos = eos_;
    model.unknown = id("unknown_token_id", unigram ? 2 : 0);
    const auto unknown = static_cast<size_t>(model.unknown);
    check(model.unknown >= 0 && unknown < texts_.size() && type(unknown) == PieceType::Unknown,
          ErrorCode::Data, "{}: expected the token for the unknown, got {}",
          key("unknown_token_id"), model.unknown);
    SentencePieceRules& rules = model.normalizer;
    rules.add_dummy_prefix = fields_.flag(key("add_space_prefix"), !unigram);
    rules.remove_extra_whitespaces = fields_.flag(key("remove_extra_whitespaces"), false);
    if (fields_.find(key("precompiled_charsmap")) != nullptr)
      rules.charsmap = fields_.list(key("precompiled_charsmap"), [](const GgufValue& value) {
        return std::string(value.list_bytes());
      });
    return to_sentencepiece_file(model);
  }

  std::string config() const {
    nlohmann::ordered_json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                                     {"clean_up_tokenization_spaces", false},
                                     {"add_bos_token", adds_bos_},
                                     {"add_eos_token", adds_eos_}};
    for (const auto& [name, id] : {std::pair{"bos_token", bos_}, std::pair{"eos_token", eos_}})
      if (id >= 0) config[name] = std::string(texts_[static_cast<size_t>(id)]);
    return config.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }

  GgufFields fields_;
  std::vector<std::string_view> texts_;
  std::vector<int64_t> types_;
  int32_t bos_ = -1, eos_ = -1;
  bool adds_bos_ = false, adds_eos_ = false;
};

}  // namespace

GgufText gguf_text_of(const GgufHeader& header, bool with_tokenizer) {
  Vocabulary vocabulary(header);
  GgufText found = vocabulary.rest();
  if (!with_tokenizer) return found;
  try {
    vocabulary.add_tokenizer(found);
  } catch (const Error& error) {
    throw Error(ErrorCode::Data, fmt::format("its tokenizer: {}; import the file with the model's "
                                             "own tokenizer as --tokenizer",
                                             error.what()));
  }
  return found;
}

}  // namespace ingot
