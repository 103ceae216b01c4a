// From .model to tokenizer.json and back.
#include "tokenizer/hf/convert.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <fstream>

#include "core/error/error.h"
#include "support/source_path.h"
#include "tokenizer/convert.h"
#include "tokenizer/hf/pieces.h"
#include "tokenizer/nasty_text.h"
#include "tokenizer/sentencepiece/sentencepiece.h"
#include "tokenizer/sentencepiece_file.h"

namespace ingot {
namespace {

using testing_support::nasty_text;
using testing_support::SmallModel;
using Ids = std::vector<int32_t>;
using Kind = SentencePieceModel::Kind;

// "aaa" can be made of "aa" and "a" and of "a" and "aa".
SmallModel small_bpe() {
  SmallModel model;
  model.kind = Kind::Bpe;
  model.byte_fallback = true;
  const char* pieces[] = {"aa", "aaa", "▁a", "ab", "▁ab", "▁▁", "日本"};
  for (size_t i = 0; i < std::size(pieces); ++i) {
    model.pieces.push_back({pieces[i], -static_cast<double>(i)});
  }
  for (const char* character : {"▁", "a", "b", "日", "本", "e", "é"}) {
    model.pieces.push_back({character, -static_cast<double>(model.pieces.size())});
  }
  model.rules.remove_extra_whitespaces = false;
  return model;
}

SmallModel small_unigram() {
  SmallModel model;
  model.kind = Kind::Unigram;
  const std::pair<const char*, double> pieces[] = {{"▁", -2},    {"a", -2.5},    {"b", -3.25},
                                                   {"ab", -4},   {"▁ab", -5},    {"日", -3},
                                                   {"本", -3.5}, {"日本", -5.5}, {"ba", -5.25}};
  for (const auto& [text, score] : pieces) model.pieces.push_back({text, score});
  return model;
}

std::unique_ptr<Tokenizer> from_json(const std::string& file) {
  return hf_piece_tokenizer(hf_pieces_from(parse_object(file, "json"), "json"), file, "json");
}

std::string refusal(const Tokenizer& tokenizer, std::string_view name) {
  try {
    file_as(tokenizer, name);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    return error.what();
  }
  return "accepted";
}

std::string refusal(const SmallModel& model) {
  return refusal(*parse_sentencepiece(model.file(), "model"), "out.json");
}

void expect_part(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

void expect_same(const Tokenizer& a, const Tokenizer& b) {
  EXPECT_EQ(a.vocab_size(), b.vocab_size());
  EXPECT_EQ(a.bos(), b.bos());
  EXPECT_EQ(a.eos(), b.eos());
  const char* const texts[] = {"",      " ",     "aaaaaaa",    " aaaaa  ab ", "日本 本日a", "▁a▁",
                               " ▁ ▁ ", "a<s>b", "<s> a </s>", "a \xFF",      "ab  ▁"};
  for (const char* text : texts) {
    Ids ids_a, ids_b;
    EXPECT_EQ(a.encode(text), b.encode(text)) << text;
    a.encode_with_specials(text, ids_a);
    b.encode_with_specials(text, ids_b);
    EXPECT_EQ(ids_a, ids_b) << text;
  }
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::string text = nasty_text(seed, 40);
    EXPECT_EQ(a.encode(text), b.encode(text)) << text;
  }
}

TEST(HfConvert, ModelsBecomeTokenizerJsonAndComeBack) {
  for (SmallModel model : {small_bpe(), small_unigram()}) {
    for (const bool prefix : {false, true}) {
      for (const bool remove : {false, true}) {
        model.rules.add_dummy_prefix = prefix;
        model.rules.remove_extra_whitespaces = remove;
        const auto original = parse_sentencepiece(model.file(), "model");
        const auto json = from_json(file_as(*original, "a.json"));
        expect_same(*original, *json);
        const auto back = parse_sentencepiece(file_as(*json, "b.model"), "back");
        expect_same(*original, *back);
        EXPECT_EQ(file_as(*json, "c.json"), json->serialize());
        EXPECT_EQ(file_as(*back, "c.model"), back->serialize());
      }
    }
  }
}

// The line of that name: a tokenizer.json, texts and the ids that Hugging Face gives them.
Json golden_named(std::string_view name) {
  std::ifstream file(testing_support::source_path("tests/golden/tokenizer/hf_pieces.jsonl"));
  for (std::string line; std::getline(file, line);) {
    Json golden = Json::parse(line);
    if (golden["name"] == name) return golden;
  }
  ADD_FAILURE() << "no golden named " << name;
  return {};
}

TEST(HfConvert, Llama2sTokenizerJsonBecomesAModel) {
  const Json golden = golden_named("llama2");
  const auto json = from_json(golden["tokenizer"].dump());
  const auto model = parse_sentencepiece(file_as(*json, "a.model"), "model");
  expect_same(*json, *model);
  for (const Json& entry : golden["cases"]) {
    const auto text = entry[0].get<std::string>();
    if (text.find("<unk>") != std::string::npos) continue;  // no special token in .model
    Ids ids;
    model->encode_with_specials(text, ids);
    EXPECT_EQ(ids, entry[1].get<Ids>()) << entry[0];
  }
}

// Hugging Face puts a mark before texts that do not begin with one, SentencePiece before all. The
// ids of the model are those of the library itself.
TEST(HfConvert, NewerTokenizerJsonOfLlama2BecomesAModelWithADummyPrefix) {
  const auto older = from_json(golden_named("llama2")["tokenizer"].dump());
  for (const char* name : {"llama_first", "llama_always"}) {
    const Json golden = golden_named(name);
    Json tokenizer = golden["tokenizer"];
    const bool first = golden["name"] == "llama_first";
    if (!first) tokenizer["added_tokens"].erase(3);  // <mask> with lstrip
    const auto json = from_json(tokenizer.dump());
    expect_part(refusal(*json, "a.model"), "--dummy-prefix");
    std::string other_ids;
    const std::string file = file_as(*json, "a.model", &other_ids);
    expect_part(other_ids, "texts that begin with a space");
    EXPECT_EQ(other_ids.find("special token") != std::string::npos, first) << other_ids;
    sentencepiece::SentencePieceProcessor library;
    ASSERT_TRUE(library.LoadFromSerializedProto(file).ok());
    int same = 0, other = 0;
    for (const Json& entry : golden["cases"]) {
      const auto text = entry[0].get<std::string>();
      if (text.find('<') != std::string::npos) continue;  // <s>: no special token to the library
      const Ids ids = library.EncodeAsIds(text);
      const bool begins_with_mark = text.starts_with(' ') || text.starts_with("▁");
      EXPECT_EQ(ids, begins_with_mark ? older->encode(text) : entry[1].get<Ids>()) << entry[0];
      ++(begins_with_mark ? other : same);
    }
    EXPECT_GT(same, 30);
    EXPECT_GT(other, 5);
    expect_same(*older, *parse_sentencepiece(file, "model"));
  }
}

TEST(HfConvert, APrefixThatIsThereAlreadyNeedsNoOther) {
  Json tokenizer = golden_named("llama2")["tokenizer"];
  const auto older = from_json(tokenizer.dump());
  tokenizer["pre_tokenizer"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"split", false}};
  std::string other_ids;
  const std::string file = file_as(*from_json(tokenizer.dump()), "a.model", &other_ids);
  EXPECT_EQ(other_ids, "");
  expect_same(*older, *parse_sentencepiece(file, "model"));
}

TEST(HfConvert, UserDefinedPiecesNeedATextThatIsLeftAsItIs) {
  SmallModel model = small_bpe();
  model.pieces.push_back({"<sep>", 0, PieceType::UserDefined});
  expect_part(refusal(model), "«<sep>» is a user-defined piece in .model");
  model.rules.add_dummy_prefix = false;
  const auto original = parse_sentencepiece(model.file(), "model");
  const auto json = from_json(file_as(*original, "a.json"));
  expect_same(*original, *json);
  EXPECT_EQ(json->encode("a<sep>b"), original->encode("a<sep>b"));
  expect_same(*original, *parse_sentencepiece(file_as(*json, "b.model"), "back"));
}

TEST(HfConvert, WhatTokenizerJsonCannotSayIsRefused) {
  SmallModel model = small_bpe();
  model.whitespace_is_suffix = true;
  expect_part(refusal(model), "suffix");
  model = small_bpe();
  model.pieces[1].score = model.pieces[0].score;
  expect_part(refusal(model), "«aa» and «aaa» have the same score");
  model = small_bpe();
  model.pieces.push_back({"xy", -30});
  expect_part(refusal(model), "piece «xy» holds «x», which is no piece");
  model = small_bpe();
  model.pieces[1].type = PieceType::Unused;
  expect_part(refusal(model), "«aaa» is not to be used");
  model = small_bpe();
  model.rules.escape_whitespaces = false;
  expect_part(refusal(model), "not escaped");
}

TEST(HfConvert, WhatAModelCannotSayIsRefused) {
  const std::string file =
      tokenizer_json_of(parse_sentencepiece_model(small_bpe().file(), "model"), "model");
  const auto changed = [&](const char* pointer, const Json& value) {
    Json json = Json::parse(file);
    json[Json::json_pointer(pointer)] = value;
    return refusal(*from_json(json.dump()), "out.model");
  };
  const Json first = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "first"}};
  expect_part(changed("/pre_tokenizer", first), "Metaspace");
  expect_part(changed("/normalizer/normalizers/0", {{"type", "NFKC"}}),
              "normalizer {\"type\":\"NFKC\"}");
  expect_part(changed("/added_tokens/0/lstrip", true), "«<unk>» is lstrip");
  expect_part(changed("/model/unk_token", nullptr), "no unk_token");
  expect_part(changed("/model/merges/0", Json::array({"▁", "▁"})), "there are others");
  Json fewer = Json::parse(file);
  fewer["model"]["merges"].erase(fewer["model"]["merges"].size() - 1);
  expect_part(refusal(*from_json(fewer.dump()), "out.model"), "not made in every way");
  Json precise = Json::parse(
      tokenizer_json_of(parse_sentencepiece_model(small_unigram().file(), "model"), "model"));
  precise["model"]["vocab"][5][1] = -0.1;
  expect_part(refusal(*from_json(precise.dump()), "out.model"), ".model holds float32");
}

}  // namespace
}  // namespace ingot
