#include "tokenizer/hf/pipeline.h"

#include <algorithm>
#include <utility>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/prompt_encoder.h"

namespace ingot {
namespace {

// What a post-processor adds is for who builds the sequence to add: only its kind matters.
void check_post_processor(const Json& part, std::string_view origin) {
  if (part.is_null()) return;
  const std::string type = text_of(part, "type");
  if (type == "Sequence") {
    for (const Json& one : member(part, "processors")) check_post_processor(one, origin);
    return;
  }
  const bool known = type == "TemplateProcessing" || type == "ByteLevel" ||
                     type == "BertProcessing" || type == "RobertaProcessing";
  check(known, ErrorCode::Data,
        "{}: post-processor \"{}\" is not supported: expected TemplateProcessing, ByteLevel, "
        "BertProcessing, RobertaProcessing or a Sequence of them",
        origin, type);
}

class HfTokenizer final : public Tokenizer, public PromptEncoder {
 public:
  HfTokenizer(HfPipeline pipeline, std::string file)
      : file_(std::move(file)),
        pipeline_(std::move(pipeline)),
        in_text_(finders(false)),
        in_prompts_(finders(true)),
        is_special_(tokens().size()) {
    for (const AddedToken& added : vocabulary().added) {
      is_special_[added.id] = added.special;
      // Hugging Face decodes these as they stand in normalised text.
      if (added.normalized) {
        pipeline_.normalizer.normalize(pipeline_.words.vocabulary.tokens[added.id]);
      }
    }
  }

  using Tokenizer::encode;

  int64_t vocab_size() const override { return static_cast<int64_t>(tokens().size()); }
  int32_t bos() const override { return pipeline_.bos; }
  int32_t eos() const override { return pipeline_.eos; }
  std::string kind() const override { return "huggingface"; }
  std::string serialize() const override { return file_; }
  std::vector<std::pair<std::string, std::string>> facts() const override {
    const Json json = Json::parse(file_);
    const auto type = [&](const char* part) {
      const std::string name = text_of(member(json, part), "type");
      return name.empty() ? std::string("none") : name;
    };
    const auto specials = std::count(is_special_.begin(), is_special_.end(), true);
    return {{"file", "tokenizer.json"},
            {"model", type("model")},
            {"normalizer", type("normalizer")},
            {"pre-tokenizer", type("pre_tokenizer")},
            {"decoder", type("decoder")},
            {"special tokens", std::to_string(specials)},
            {"other added",
             std::to_string(static_cast<int64_t>(vocabulary().added.size()) - specials)}};
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

  std::string decode(int32_t id) const override {
    const std::string& token = token_of(id);
    return is_special_[id] ? std::string() : pipeline_.decoder.decode_inside(token);
  }
  std::string decode(const std::vector<int32_t>& ids) const override {
    std::vector<std::string> found;
    for (const int32_t id : ids) {
      const std::string& token = token_of(id);
      if (!is_special_[id]) found.push_back(token);
    }
    return pipeline_.decoder.decode(std::move(found));
  }

 private:
  const HfVocabulary& vocabulary() const { return pipeline_.words.vocabulary; }
  const std::vector<std::string>& tokens() const { return vocabulary().tokens; }
  const std::string& token_of(int32_t id) const {
    check(id >= 0 && id < vocab_size(), ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the tokenizer", id, vocab_size());
    return tokens()[id];
  }

  std::string normal_form(std::string text) const {
    pipeline_.normalizer.normalize(text);
    return text;
  }

  AddedTokenFinders finders(bool with_specials) const {
    return {vocabulary().added, with_specials,
            [&](std::string content) { return normal_form(std::move(content)); }};
  }

  void encode_with(const AddedTokenFinders& finders, std::string_view text,
                   const TrustedText& trusted, std::vector<int32_t>& ids) const {
    const auto normalize = [&](std::string raw) { return normal_form(valid_utf8(raw)); };
    const auto on_id = [&](int32_t id) { ids.push_back(id); };
    cut_out(
        text, trusted, finders.raw,
        [&](std::string_view raw) {
          std::string normalized = valid_utf8(raw);
          const bool at_start =
              pipeline_.normalizer.normalize(normalized) && raw.data() == text.data();
          cut_out(
              normalized, finders.trusted_in(raw, normalized, text, trusted, normalize),
              finders.normalized,
              [&](std::string_view part) {
                const bool is_first = at_start && part.data() == normalized.data();
                pipeline_.words.model->encode(
                    pipeline_.pre_tokenizer.words_of(std::string(part), is_first), ids);
              },
              on_id);
        },
        on_id);
  }

  std::string file_;
  HfPipeline pipeline_;
  AddedTokenFinders in_text_, in_prompts_;
  std::vector<bool> is_special_;
};

}  // namespace

HfPipeline hf_pipeline_from(const Json& tokenizer, std::string_view origin) {
  HfPipeline pipeline{HfNormalizer(member(tokenizer, "normalizer"), origin),
                      HfPreTokenizer(member(tokenizer, "pre_tokenizer"), origin),
                      read_word_model(tokenizer, origin),
                      HfDecoder(member(tokenizer, "decoder"), origin)};
  check_post_processor(member(tokenizer, "post_processor"), origin);
  const HfVocabulary& vocabulary = pipeline.words.vocabulary;
  set_bos_and_eos(
      pipeline, bos_and_eos_of_file(tokenizer, vocabulary.added, vocabulary.tokens.size(), origin));
  return pipeline;
}

std::unique_ptr<Tokenizer> hf_pipeline_tokenizer(HfPipeline pipeline, std::string file) {
  return std::make_unique<HfTokenizer>(std::move(pipeline), std::move(file));
}

}  // namespace ingot
