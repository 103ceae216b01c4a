// tokenizer.json files of every arrangement that is supported: ids and texts are those of Hugging
// Face tokenizers.
#include "tokenizer/hf/pipeline.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/utf8.h"
#include "support/build_folder.h"
#include "support/source_path.h"
#include "tokenizer/nasty_text.h"

namespace ingot {
namespace {

using Ids = std::vector<int32_t>;

const std::string kGoldens = testing_support::source_path("tests/golden/tokenizer/pipelines.jsonl");

struct Goldens {
  std::vector<std::string> parts;  // of generated texts
  std::vector<Json> lines;
};

const Goldens& goldens() {
  static const Goldens read = [] {
    Goldens all;
    std::ifstream file(kGoldens);
    std::string line;
    std::getline(file, line);
    all.parts = Json::parse(line)["parts"].get<std::vector<std::string>>();
    while (std::getline(file, line)) all.lines.push_back(Json::parse(line));
    return all;
  }();
  return read;
}

Json golden(std::string_view name) {
  for (const Json& line : goldens().lines) {
    if (line["name"] == name) return line["tokenizer"];
  }
  ADD_FAILURE() << name << " is not in " << kGoldens;
  return {};
}

std::unique_ptr<Tokenizer> load(const Json& json) {
  const auto storage = memory_storage();
  write_file_atomically(*storage, "tokenizer.json", json.dump());
  return load_tokenizer(*storage, "tokenizer.json");
}

// The texts of tools/goldens/make_pipeline_goldens.py: parts drawn by splitmix64.
std::string generated(uint64_t number) {
  uint64_t state = number;
  const auto below = [&](uint64_t bound) {
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) % bound;
  };
  std::string text;
  for (uint64_t left = 1 + below(12); left > 0; --left) {
    text += goldens().parts[below(goldens().parts.size())];
  }
  return text;
}

// FNV-1a over the ids and, between two texts, over a number that is none.
void add_to_hash(const Ids& ids, uint64_t& state) {
  const auto add = [&](uint64_t value) { state = (state ^ value) * 0x100000001B3u; };
  for (const int32_t id : ids) add(static_cast<uint32_t>(id));
  add(0xFFFFFFFFu);
}

Ids prompt_ids(const Tokenizer& tokenizer, const std::string& text) {
  Ids ids;
  tokenizer.encode_with_specials(text, ids);
  return ids;
}

std::string refusal(const Json& json) {
  try {
    load(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

void expect_part(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

class Pipeline : public testing::TestWithParam<size_t> {
 protected:
  const Json& line() const { return goldens().lines[GetParam()]; }
};

std::string name_of(const testing::TestParamInfo<size_t>& info) {
  return goldens().lines[info.param]["name"].get<std::string>();
}

TEST_P(Pipeline, IdsAreThoseOfHuggingFaceTokenizers) {
  const auto tokenizer = load(line()["tokenizer"]);
  for (const Json& entry : line()["cases"]) {
    ASSERT_EQ(prompt_ids(*tokenizer, entry[0].get<std::string>()), entry[1].get<Ids>()) << entry[0];
  }
  uint64_t state = 0xCBF29CE484222325u;
  for (uint64_t number = 0; number < line()["texts"].get<uint64_t>(); ++number) {
    add_to_hash(prompt_ids(*tokenizer, generated(number)), state);
  }
  EXPECT_EQ(fmt::format("{:016x}", state), line()["hash"].get<std::string>());
}

TEST_P(Pipeline, DecodedTextIsThatOfHuggingFaceTokenizers) {
  const auto tokenizer = load(line()["tokenizer"]);
  for (const Json& entry : line()["decoded"]) {
    const std::string text = tokenizer->decode(entry[0].get<Ids>());
    if (!is_utf8(text)) continue;  // where Hugging Face has U+FFFD
    EXPECT_EQ(text, entry[1].get<std::string>()) << entry[0];
  }
}

TEST_P(Pipeline, TextThatSpellsASpecialTokenDoesNotBecomeIt) {
  const Json& json = line()["tokenizer"];
  const auto tokenizer = load(json);
  const std::string unknown = json["model"].value("unk_token", Json()).is_string()
                                  ? json["model"]["unk_token"].get<std::string>()
                                  : "<unk>";
  for (const Json& added : json["added_tokens"]) {
    if (!added["special"] || added["content"] == unknown) continue;
    const auto content = added["content"].get<std::string>();
    for (const std::string& text : {content, "a" + content, "a " + content + " b"}) {
      for (const int32_t id : tokenizer->encode(text)) EXPECT_NE(id, added["id"]) << text;
    }
    const Ids found = prompt_ids(*tokenizer, content);
    EXPECT_EQ(found, Ids{added["id"].get<int32_t>()}) << content;
  }
}

TEST_P(Pipeline, AnyBytesAreEncodedAndTheFileComesBack) {
  const auto tokenizer = load(line()["tokenizer"]);
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::string text = testing_support::nasty_text(seed, 40);
    const Ids ids = tokenizer->encode(text);
    EXPECT_EQ(tokenizer->encode(text), ids);  // and the caches change nothing
    for (const int32_t id : ids) {
      ASSERT_LT(id, tokenizer->vocab_size());
      tokenizer->decode(id);
    }
    tokenizer->decode(ids);
  }
  const auto again = load(Json::parse(tokenizer->serialize()));
  EXPECT_EQ(again->encode("the cat 1234"), tokenizer->encode("the cat 1234"));
}

TEST(PipelineFile, WhatCannotBeFollowedIsRefusedByName) {
  const auto changed = [](std::string_view name, const char* pointer, Json value) {
    Json json = golden(name);
    json[Json::json_pointer(pointer)] = std::move(value);
    return refusal(json);
  };
  const auto type = [](const char* name) { return Json{{"type", name}}; };
  expect_part(changed("bert_cased", "/normalizer", type("Other")), "normalizer \"Other\" is not");
  expect_part(changed("bert_cased", "/pre_tokenizer", type("UnicodeScripts")),
              "pre-tokenizer {\"type\":\"UnicodeScripts\"} is not supported");
  expect_part(changed("bert_cased", "/post_processor", type("Other")), "post-processor \"Other\"");
  expect_part(changed("bert_cased", "/decoder", type("CTC")), "decoder \"CTC\" is not supported");
  expect_part(changed("bert_cased", "/model/type", "Neural"), "model of type \"Neural\"");
  expect_part(changed("gpt1", "/model/dropout", 0.1), "dropout is 0.1");
  expect_part(changed("gpt1", "/model/unk_token", "?!"), "\"?!\" is not in the vocabulary");
  expect_part(changed("split_next", "/pre_tokenizer/pretokenizers/0/behavior", "Doubled"),
              "expected a behavior of Removed");
  const char* const pattern = "/pre_tokenizer/pretokenizers/0/pattern";
  expect_part(changed("split_next", pattern, "a"), "expected a pattern {\"String\"");
  expect_part(changed("split_next", pattern, {{"Regex", "(a"}}), "\"(a\" is not a pattern: ");
  const std::string long_pattern((1 << 16) + 1, 'a');
  expect_part(changed("split_next", pattern, {{"Regex", long_pattern}}), "more than 64 KiB");
}

TEST(PipelineFile, WordsWithoutAnIdAreAnError) {
  Json json = golden("word_level");
  json["model"]["unk_token"] = "nowhere";
  const auto tokenizer = load(json);
  EXPECT_NO_THROW(tokenizer->encode("the"));
  EXPECT_THROW(tokenizer->encode("unheard"), Error);
}

TEST(PipelineFile, AnAddedTokenThatIsListedAgainHasTheFirstIdAndTheLastFlags) {
  for (const char* name : {"qwen2", "starcoder", "llama2", "bert_uncased"}) {
    Json once = golden(name);
    const auto id = load(once)->vocab_size();
    const Json token = {{"id", id},       {"content", "<b>"}, {"single_word", false},
                        {"lstrip", true}, {"rstrip", true},   {"normalized", false},
                        {"special", true}};
    Json again = once;
    once["added_tokens"].push_back(token);
    again["added_tokens"].push_back(token);
    again["added_tokens"].back()["lstrip"] = again["added_tokens"].back()["rstrip"] = false;
    again["added_tokens"].push_back(token);
    again["added_tokens"].back()["id"] = id + 1;
    again["added_tokens"].back()["special"] = false;
    again["added_tokens"].push_back(token);
    again["added_tokens"].back()["content"] = "";
    const auto first = load(once), second = load(again);
    EXPECT_EQ(second->vocab_size(), id + 1) << name;
    EXPECT_EQ(prompt_ids(*second, "a  <b>  b<b>"), prompt_ids(*first, "a  <b>  b<b>")) << name;
    EXPECT_EQ(second->decode({static_cast<int32_t>(id)}), "") << name;
    for (const int32_t found : second->encode("<b>")) EXPECT_NE(found, id) << name;
  }
}

TEST(PipelineFile, BosAndEosAreThoseOfTheTemplateWhereNoNameSaysThem) {
  const auto bert = load(golden("bert_uncased"));
  EXPECT_EQ(bert->kind(), "huggingface");
  EXPECT_EQ(bert->bos(), bert->vocab_size() > 0 ? prompt_ids(*bert, "[CLS]")[0] : -1);
  EXPECT_EQ(bert->eos(), prompt_ids(*bert, "[SEP]")[0]);
  const auto cased = load(golden("bert_cased"));
  EXPECT_EQ(cased->bos(), prompt_ids(*cased, "[CLS]")[0]);
  const auto modern = load(golden("modernbert"));
  EXPECT_EQ(modern->kind(), "bpe");
  EXPECT_EQ(modern->bos(), prompt_ids(*modern, "[CLS]")[0]);
  EXPECT_EQ(modern->eos(), prompt_ids(*modern, "[SEP]")[0]);
  // What was set is kept, also that there is none.
  const auto storage = memory_storage();
  write_file_atomically(*storage, "tokenizer.json", golden("modernbert").dump());
  write_file_atomically(*storage, "tokenizer_config.json",
                        R"({"bos_token":null,"eos_token":"[SEP]"})");
  const auto configured = load_tokenizer(*storage, "tokenizer.json");
  EXPECT_EQ(configured->bos(), -1);
  const auto again = load(Json::parse(configured->serialize()));
  EXPECT_EQ(again->bos(), -1);
  EXPECT_EQ(again->eos(), modern->eos());
}

TEST(PipelineFile, KnownArrangementsTakeTheQuickWay) {
  for (const char* name : {"gpt2", "roberta", "llama3", "qwen2", "gpt_neox", "cl100k", "o200k",
                           "nanochat", "phi4", "modernbert"}) {
    EXPECT_EQ(load(golden(name))->kind(), "bpe") << name;
  }
  for (const char* name : {"llama2", "llama2_first", "phi3", "gemma", "yi", "t5"}) {
    EXPECT_EQ(load(golden(name))->kind(), "sentencepiece") << name;
  }
}

// What Hugging Face tokenizers 0.23.3 makes of each, as tools/pipeline_sweep.py found.
TEST(PipelineFile, BytesThatAreNoTextAreTokensOfTheirOwn) {
  Json json = golden("some_bytes");
  const Json& vocab = json["model"]["vocab"];
  const Ids ids{vocab["<0xD9>"].get<int32_t>(), vocab["<0x37>"].get<int32_t>()};
  const Json bytes = {{"type", "ByteFallback"}};
  const Json words = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", false}};
  json["decoder"] = {{"type", "Sequence"}, {"decoders", {bytes, words}}};
  EXPECT_EQ(load(json)->decode(ids), "\uFFFD \uFFFD");
}

TEST(PipelineFile, BytesAreDecodedAsTheDecoderSays) {
  Json json = golden("gpt2");
  const Ids ids = load(json)->encode("the cat");
  EXPECT_EQ(load(json)->decode(ids), "the cat");
  json["decoder"] = {{"type", "Strip"}, {"content", "Ġ"}, {"start", 1}, {"stop", 0}};
  EXPECT_EQ(load(json)->kind(), "huggingface");
  EXPECT_EQ(load(json)->encode("the cat"), ids);
  EXPECT_EQ(load(json)->decode(ids), "thecat");
}

TEST(PipelineFile, WhatTakesThePlaceOfSeveralCharactersDoesNotStandAtTheStart) {
  Json json = golden("word_level");
  json["model"]["vocab"] = {{"<unk>", 0}, {"_xc", 1}, {"xc", 2}, {"_c", 3}, {"c", 4}};
  json["added_tokens"] = Json::array();
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "first"}, {"split", false}};
  const auto ids = [&](const Json& pattern, const char* content, const char* text) {
    json["normalizer"] = {{"type", "Replace"}, {"pattern", pattern}, {"content", content}};
    return load(json)->encode(text);
  };
  for (const Json& kind : {Json("String"), Json("Regex")}) {
    const auto pattern = [&](const char* text) { return Json{{kind.get<std::string>(), text}}; };
    EXPECT_EQ(ids(pattern("ab"), "x", "abc"), Ids{2});
    EXPECT_EQ(ids(pattern("é"), "x", "éc"), Ids{1});
    EXPECT_EQ(ids(pattern("b"), "", "bc"), Ids{4});
    EXPECT_EQ(ids(pattern("b"), "", "c"), Ids{3});
  }
}

// The types of a component, those of a sequence one after the other.
std::string types_of(const Json& part, const char* list) {
  if (part.is_null()) return "none";
  std::string type = part["type"].get<std::string>();
  if (type == "Sequence") {
    std::vector<std::string> types;
    for (const Json& one : part[list]) types.push_back(types_of(one, list));
    return fmt::format("{}", fmt::join(types, ", "));
  }
  if (type == "Split") {
    type += part["pattern"].contains("String") ? " (string" : " (pattern";
    type += ", " + part["behavior"].get<std::string>() + (part["invert"] ? ", inverted)" : ")");
  }
  if (type == "ByteLevel" && part.value("add_prefix_space", false)) type += " (prefix space)";
  return type;
}

std::string page_of_kinds() {
  std::string page =
      "# tokenizer.json: the arrangements that are tested\n\n"
      "Made by the test `PipelineFile.ThePageOfKindsIsUpToDate` from the goldens. Each is a small "
      "file of that build; the\nids of 10,000 hard texts are those of Hugging Face tokenizers "
      "0.23.3, and what they decode to is, too. «Read as» is\nthe kind that `ingot tokenizer info` "
      "shows: `bpe` and `sentencepiece` are the quick ways, `huggingface` is the\npipeline. "
      "[tokenizer.md](tokenizer.md) says what is refused.\n\n"
      "| arrangement | as in | normalizer | pre-tokenizer | model | post-processor | decoder | "
      "read "
      "as |\n|---|---|---|---|---|---|---|---|\n";
  for (const Json& line : goldens().lines) {
    const Json& json = line["tokenizer"];
    page += fmt::format(
        "| `{}` | {} | {} | {} | {} | {} | {} | `{}` |\n", line["name"].get<std::string>(),
        line["kinds"].get<std::string>(), types_of(json["normalizer"], "normalizers"),
        types_of(json["pre_tokenizer"], "pretokenizers"), json["model"]["type"].get<std::string>(),
        types_of(json["post_processor"], "processors"), types_of(json["decoder"], "decoders"),
        load(json)->kind());
  }
  return page;
}

TEST(PipelineFile, ThePageOfKindsIsUpToDate) {
  std::ifstream file(testing_support::source_path("docs/tokenizer-kinds.md"));
  const std::string committed((std::istreambuf_iterator<char>(file)), {});
  const std::string generated = testing_support::build_folder() / "tokenizer-kinds.md",
                    page = page_of_kinds();
  std::ofstream(generated) << page;
  EXPECT_EQ(committed, page) << "refresh it: cp " << generated << " docs/tokenizer-kinds.md";
  EXPECT_GE(goldens().lines.size(), 40u);
}

INSTANTIATE_TEST_SUITE_P(Arrangements, Pipeline, testing::Range<size_t>(0, goldens().lines.size()),
                         name_of);

}  // namespace
}  // namespace ingot
