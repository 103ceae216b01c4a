#include <algorithm>
#include <deque>
#include <unordered_set>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "tokenizer/added_tokens.h"
#include "tokenizer/bpe/encoder.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/bpe/prepared.h"
#include "tokenizer/prompt_encoder.h"
#include "tokenizer/unicode/nfc.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

constexpr size_t kParallelChunk = size_t{256} << 10;
constexpr int kMaxCutTries = 64;

void check_tokens(const BpeModel& model, std::string_view origin) {
  std::vector<bool> is_added(model.tokens.size());
  for (const AddedToken& added : model.added) is_added[added.id] = true;
  std::unordered_set<std::string_view> seen;
  for (size_t id = 0; id < model.tokens.size(); ++id) {
    if (model.tokens[id].empty() || is_added[id]) continue;
    check(seen.insert(model.tokens[id]).second, ErrorCode::Data,
          "{}: id {} has the same bytes as a smaller id: expected each token once", origin, id);
  }
}

void check_merges(const BpeModel& model, std::string_view origin) {
  const auto& tokens = model.tokens;
  for (size_t rank = 0; rank < model.merges.size(); ++rank) {
    const auto [left, right, result] = model.merges[rank];
    for (const int32_t id : {left, right, result}) {
      check(id >= 0 && static_cast<size_t>(id) < tokens.size() && !tokens[id].empty(),
            ErrorCode::Data, "{}: merge {} names id {}, which is no token", origin, rank, id);
    }
    check(tokens[result] == tokens[left] + tokens[right], ErrorCode::Data,
          "{}: merge {} gives id {}, whose bytes are not those of {} and {}", origin, rank, result,
          left, right);
  }
}

BpeModel checked(BpeModel model, std::string_view origin) {
  check(model.tokens.size() < INT32_MAX, ErrorCode::Data, "{}: {} tokens are too many", origin,
        model.tokens.size());
  check_merges(model, origin);
  for (const AddedToken& added : model.added) {
    check(!added.content.empty(), ErrorCode::Data, "{}: added token {} has no text", origin,
          added.id);
    check(added.id >= 0 && static_cast<size_t>(added.id) < model.tokens.size(), ErrorCode::Data,
          "{}: added token {}: expected an id in [0, {})", origin, added.id, model.tokens.size());
    model.tokens[added.id] = added.content;
  }
  check_tokens(model, origin);
  for (const int32_t id : {model.bos, model.eos}) {
    check(id >= -1 && id < static_cast<int32_t>(model.tokens.size()), ErrorCode::Data,
          "{}: BOS or EOS is {}: expected an id in [0, {}), or -1", origin, id,
          model.tokens.size());
  }
  return model;
}

AddedTokenFinders finders_of(const BpeModel& model, bool with_specials) {
  return {model.added, with_specials, [&](const std::string& content) {
            std::string storage;
            return model.nfc ? std::string(to_nfc(content, storage)) : content;
          }};
}

// Where no added token of texts can lie across. A place with one near it is not cut, whether the
// token would be found or not.
class AddedTokenCuts {
 public:
  explicit AddedTokenCuts(const BpeModel& model) {
    for (const AddedToken& token : model.added) {
      if (token.special) continue;
      contents_.push_back(token.content);
      longest_ = std::max(longest_, token.content.size());
      const bool is_ascii = std::all_of(token.content.begin(), token.content.end(),
                                        [](char c) { return static_cast<signed char>(c) >= 0; });
      // These depend on what stands beside them, or on spellings that become them.
      never_ = never_ || token.single_word || (model.nfc && token.normalized && !is_ascii);
    }
  }

  bool may_cut(std::string_view text, size_t cut) const {
    if (never_) return false;
    const size_t begin = cut > longest_ ? cut - longest_ : 0;
    const std::string_view around = text.substr(begin, cut - begin + longest_);
    return std::none_of(contents_.begin(), contents_.end(), [&](const std::string& content) {
      return around.find(content) != std::string_view::npos;
    });
  }

 private:
  std::vector<std::string> contents_;
  size_t longest_ = 0;
  bool never_ = false;
};

class BpeTokenizer final : public Tokenizer, public PromptEncoder {
 public:
  using Tokenizer::encode;

  BpeTokenizer(BpeModel model, std::string_view origin)
      : model_(checked(std::move(model), origin)),
        encoder_(model_),
        in_text_(finders_of(model_, false)),
        in_prompts_(finders_of(model_, true)),
        cuts_(model_),
        is_special_(model_.tokens.size()) {
    for (const AddedToken& added : model_.added) is_special_[added.id] = added.special;
  }

  BpeTokenizer(BpeModel model, ArchiveReader& reader)
      : model_(std::move(model)),
        encoder_(model_, reader),
        in_text_(finders_of(model_, false)),
        in_prompts_(finders_of(model_, true)),
        cuts_(model_),
        is_special_(model_.tokens.size()) {
    for (const AddedToken& added : model_.added) is_special_[added.id] = added.special;
  }
  void save(ArchiveWriter& writer) const {
    save_bpe_model(model_, writer);
    encoder_.save(writer);
  }

  int64_t vocab_size() const override { return static_cast<int64_t>(model_.tokens.size()); }
  int32_t bos() const override { return model_.bos; }
  int32_t eos() const override { return model_.eos; }
  std::string kind() const override { return "bpe"; }
  std::string serialize() const override { return to_tokenizer_json(model_); }

  std::vector<std::pair<std::string, std::string>> facts() const override {
    const auto specials = std::count(is_special_.begin(), is_special_.end(), true);
    return {{"split", std::string(name_of(model_.split))},
            {"merges", std::to_string(model_.merges.size())},
            {"normal form", model_.nfc ? "NFC" : "none"},
            {"whole pieces", model_.whole_piece_first ? "not merged when a token" : "merged"},
            {"special tokens", std::to_string(specials)},
            {"other added", std::to_string(static_cast<int64_t>(model_.added.size()) - specials)},
            {"unicode", std::string(unicode_version())}};
  }

  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    encode_with(in_text_, text, {}, ids);
  }

  void encode_with_specials(std::string_view text, std::vector<int32_t>& ids) const override {
    encode_prompt(text, {}, ids);
  }
  void encode_prompt(std::string_view text, const TrustedText& trusted,
                     std::vector<int32_t>& ids) const override {
    encode_with(in_prompts_, text, trusted, ids);
  }

  void encode_parallel(std::string_view text, ThreadPool& pool,
                       std::vector<int32_t>& ids) const override {
    struct Part {
      std::string_view text;  // empty: an added token
      std::vector<int32_t> ids;
    };
    std::vector<Part> parts;
    std::deque<std::string> normalized;  // what parts view
    for_each_part(
        in_text_, text, {}, [&]() -> std::string& { return normalized.emplace_back(); },
        [&](std::string_view part) {
          while (!part.empty()) {
            const size_t size = chunk_size(part);
            parts.push_back({part.substr(0, size), {}});
            part.remove_prefix(size);
          }
        },
        [&](int32_t id) {
          parts.push_back({{}, {id}});
        });
    pool.run(static_cast<int64_t>(parts.size()), [&](int64_t i, int) {
      if (!parts[i].text.empty()) encoder_.encode(parts[i].text, parts[i].ids);
    });
    for (const Part& part : parts) ids.insert(ids.end(), part.ids.begin(), part.ids.end());
  }

  size_t safe_cut(std::string_view text, size_t limit) const override {
    for (int tries = 0; tries < kMaxCutTries; ++tries) {
      const size_t cut = ingot::safe_cut(model_.split, text, limit);
      if (cut == 0 || cuts_.may_cut(text, cut)) return cut;
      limit = cut - 1;
    }
    return 0;
  }

  std::string decode(int32_t id) const override { return std::string(bytes_of(id)); }

  std::string decode(const std::vector<int32_t>& ids) const override {
    std::string text;
    for (const int32_t id : ids) text += bytes_of(id);
    return text;
  }

 private:
  std::string_view bytes_of(int32_t id) const {
    check(id >= 0 && id < vocab_size(), ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the tokenizer", id, vocab_size());
    return is_special_[id] ? std::string_view() : std::string_view(model_.tokens[id]);
  }

  // Of what one thread takes: about kParallelChunk, or what comes before the next safe cut.
  size_t chunk_size(std::string_view text) const {
    for (size_t limit = kParallelChunk; limit < text.size(); limit += kParallelChunk) {
      if (const size_t cut = ingot::safe_cut(model_.split, text, limit); cut > 0) return cut;
    }
    return text.size();
  }

  // `new_storage` gives the string that normalised text may go to.
  template <class NewStorage, class OnText, class OnId>
  void for_each_part(const AddedTokenFinders& finders, std::string_view text,
                     const TrustedText& trusted, NewStorage new_storage, OnText on_text,
                     OnId on_id) const {
    const auto normalize = [&](const std::string& raw) {
      std::string storage;
      return std::string(model_.nfc ? to_nfc(raw, storage) : raw);
    };
    cut_out(
        text, trusted, finders.raw,
        [&](std::string_view raw) {
          const std::string_view normal = model_.nfc ? to_nfc(raw, new_storage()) : raw;
          cut_out(normal, finders.trusted_in(raw, normal, text, trusted, normalize),
                  finders.normalized, on_text, on_id);
        },
        on_id);
  }

  void encode_with(const AddedTokenFinders& finders, std::string_view text,
                   const TrustedText& trusted, std::vector<int32_t>& ids) const {
    std::string normalized;
    for_each_part(
        finders, text, trusted, [&]() -> std::string& { return normalized; },
        [&](std::string_view part) { encoder_.encode(part, ids); },
        [&](int32_t id) { ids.push_back(id); });
  }

  const BpeModel model_;
  const BpeEncoder encoder_;
  const AddedTokenFinders in_text_, in_prompts_;
  const AddedTokenCuts cuts_;
  std::vector<bool> is_special_;
};

}  // namespace

std::unique_ptr<Tokenizer> bpe_tokenizer(BpeModel model, std::string_view origin) {
  return std::make_unique<BpeTokenizer>(std::move(model), origin);
}

std::unique_ptr<Tokenizer> read_bpe_tokenizer(ArchiveReader& reader) {
  BpeModel model = read_bpe_model(reader);
  auto tokenizer = std::make_unique<BpeTokenizer>(std::move(model), reader);
  check_archived(reader.at_end(), "nothing behind the tokenizer");
  return tokenizer;
}

bool save_bpe_tokenizer(const Tokenizer& tokenizer, ArchiveWriter& writer) {
  const auto* bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  if (bpe != nullptr) bpe->save(writer);
  return bpe != nullptr;
}

}  // namespace ingot
