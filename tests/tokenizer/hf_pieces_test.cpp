// tokenizer.json files of pieces: ids and texts are those of Hugging Face tokenizers.
#include "tokenizer/hf/pieces.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "support/source_path.h"
#include "tokenizer/nasty_text.h"

namespace ingot {
namespace {

using Ids = std::vector<int32_t>;

const std::string kGoldens = testing_support::source_path("tests/golden/tokenizer/hf_pieces.jsonl");

std::vector<Json> goldens() {
  std::ifstream file(kGoldens);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

Json golden(std::string_view name) {
  for (Json& line : goldens()) {
    if (line["name"] == name) return line["tokenizer"];
  }
  ADD_FAILURE() << name << " is not in " << kGoldens;
  return {};
}

std::unique_ptr<Tokenizer> tokenizer_of(const Json& json) {
  return hf_piece_tokenizer(hf_pieces_from(json, "test"), json.dump(), "test");
}

std::string refusal(const Json& json) {
  try {
    tokenizer_of(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    return error.what();
  }
  return "accepted";
}

void expect_part(const std::string& message, std::string_view part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(HfPieces, IdsAreThoseOfHuggingFaceTokenizers) {
  size_t cases = 0;
  for (const Json& line : goldens()) {
    ASSERT_TRUE(holds_pieces(line["tokenizer"])) << line["name"];
    const auto tokenizer = tokenizer_of(line["tokenizer"]);
    for (const Json& entry : line["cases"]) {
      const auto text = entry[0].get<std::string>();
      Ids ids;
      tokenizer->encode_with_specials(text, ids);
      EXPECT_EQ(ids, entry[1].get<Ids>()) << line["name"] << " " << entry[0];
      ++cases;
    }
  }
  EXPECT_GT(cases, 1000u);
}

// U+0897 came with Unicode 16: the mark goes with the character that Precompiled replaces.
TEST(HfPieces, YoungMarksBelongToTheCharacterBeforeThem) {
  const auto tokenizer = tokenizer_of(golden("t5"));
  EXPECT_EQ(tokenizer->encode("½\u0897"), tokenizer->encode("½"));
  EXPECT_EQ(tokenizer->encode("\n\u0897"), tokenizer->encode(" \u0897"));  // not to a line end
  EXPECT_NE(tokenizer->encode("\n\u0897"), tokenizer->encode("\n"));
}

TEST(HfPieces, OfPiecesThatAreSpeltTheSameTextBecomesTheLast) {
  Json json = golden("t5");
  const auto once = tokenizer_of(json);
  Ids ids;
  once->encode_with_specials("the", ids);
  const std::string first = json["model"]["vocab"][ids[0]][0];
  const auto last = static_cast<int32_t>(json["model"]["vocab"].size());
  json["model"]["vocab"].push_back({first, 0.0});
  const auto twice = tokenizer_of(json);
  EXPECT_EQ(twice->encode("the")[0], last);
  EXPECT_EQ(twice->decode({ids[0], last}), twice->decode({last, ids[0]}));
}

TEST(HfPieces, DecodedTextIsThatOfHuggingFaceTokenizers) {
  for (const Json& line : goldens()) {
    const auto tokenizer = tokenizer_of(line["tokenizer"]);
    for (const Json& entry : line["decoded"]) {
      EXPECT_EQ(tokenizer->decode(entry[0].get<Ids>()), entry[1].get<std::string>())
          << line["name"] << " " << entry[0];
    }
  }
}

TEST(HfPieces, TextThatSpellsASpecialTokenDoesNotBecomeIt) {
  for (const Json& line : goldens()) {
    const auto tokenizer = tokenizer_of(line["tokenizer"]);
    for (const int32_t id : tokenizer->encode("a <s> b</s><S>")) {
      EXPECT_NE(id, tokenizer->bos()) << line["name"];
      EXPECT_NE(id, tokenizer->eos()) << line["name"];
    }
  }
}

TEST(HfPieces, AnyBytesAreEncoded) {
  for (const Json& line : goldens()) {
    const auto tokenizer = tokenizer_of(line["tokenizer"]);
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const std::string text = testing_support::nasty_text(seed, 40);
      const Ids ids = tokenizer->encode(text);
      EXPECT_EQ(tokenizer->encode(text), ids) << line["name"];  // and the caches change nothing
      for (const int32_t id : ids) ASSERT_LT(id, tokenizer->vocab_size());
    }
  }
  // Each byte that is no UTF-8 is one U+FFFD.
  const auto llama = tokenizer_of(golden("llama2"));
  EXPECT_EQ(llama->encode("a\xFF\xC3z"), llama->encode("a\xEF\xBF\xBD\xEF\xBF\xBDz"));
}

// Seen on a tokenizer that Hugging Face trained: a tie that the last bit of the scores decides.
TEST(HfPieces, ScoresAreReadAsHuggingFaceReadsThem) {
  Json json = golden("t5");
  json["model"]["vocab"][5][1] = -7.2338291103480135;  // there it is -7.233829110348013
  EXPECT_EQ(hf_pieces_from(json, "test").model.pieces[5].score, -7.233829110348013);
  json["model"]["vocab"][5][1] = -2.5;
  EXPECT_EQ(hf_pieces_from(json, "test").model.pieces[5].score, -2.5);
  json["model"]["vocab"][5][1] = -1e-20;
  EXPECT_EQ(hf_pieces_from(json, "test").model.pieces[5].score, -1e-20);
}

TEST(HfPieces, ALoadedFileIsKeptAsItIsAndSaysBosAndEos) {
  const auto storage = memory_storage();
  storage->make_directories("folder");
  const std::string file = golden("llama2").dump(1);
  write_file_atomically(*storage, "folder/tokenizer.json", file);
  const auto plain = load_tokenizer(*storage, "folder");
  EXPECT_EQ(plain->kind(), "sentencepiece");
  EXPECT_EQ(plain->serialize(), file);
  EXPECT_EQ(plain->bos(), 1);
  EXPECT_EQ(plain->eos(), 2);
  // Other words of tokenizer_config.json go into what is kept.
  write_file_atomically(*storage, "folder/tokenizer_config.json",
                        R"({"bos_token":null,"eos_token":{"content":"<unk>"}})");
  const auto configured = load_tokenizer(*storage, "folder");
  EXPECT_EQ(configured->bos(), -1);
  EXPECT_EQ(configured->eos(), 0);
  write_file_atomically(*storage, "kept.json", configured->serialize());
  const auto kept = load_tokenizer(*storage, "kept.json");
  EXPECT_EQ(kept->bos(), -1);
  EXPECT_EQ(kept->eos(), 0);
  EXPECT_EQ(kept->encode("the cat"), plain->encode("the cat"));
}

TEST(HfPieces, ANormalizerThatFillsTheMemoryIsStopped) {
  Json json = golden("llama2");
  Json& steps = json["normalizer"]["normalizers"] = Json::array();
  for (int i = 0; i < 60; ++i) {
    steps.push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "aa"}});
  }
  EXPECT_THROW(tokenizer_of(json)->encode("a"), Error);
}

TEST(HfPieces, SequencesInSequencesDoNotExhaustTheStack) {
  std::string deep;
  for (int i = 0; i < 200000; ++i) deep += R"({"type":"Sequence","normalizers":[)";
  for (int i = 0; i < 200000; ++i) deep += "]}";
  const auto storage = memory_storage();
  for (const char* type : {"Unigram", "BPE"}) {
    write_file_atomically(*storage, "deep.json",
                          fmt::format(R"({{"model":{{"type":"{}","vocab":{{}},"merges":[]}},)"
                                      R"("normalizer":{}}})",
                                      type, deep));
    EXPECT_THROW(load_tokenizer(*storage, "deep.json"), Error) << type;
  }
}

TEST(HfPieces, WhatCannotBeFollowedIsRefusedByName) {
  const auto changed = [](std::string_view name, const char* pointer, Json value) {
    Json json = golden(name);
    json[Json::json_pointer(pointer)] = std::move(value);
    return refusal(json);
  };
  const auto type = [](const char* name) { return Json{{"type", name}}; };
  expect_part(changed("t5", "/normalizer", type("Other")), "normalizer \"Other\" is not");
  expect_part(changed("albert", "/normalizer/normalizers/0/pattern", {{"Regex", "(a+"}}),
              "normalizer Replace: \"(a+\" is not a pattern");
  expect_part(changed("t5", "/normalizer/precompiled_charsmap", "x"), "Precompiled");
  expect_part(changed("t5", "/decoder", type("CTC")), "decoder \"CTC\" is not supported");
  expect_part(changed("llama2", "/model/dropout", 0.1), "dropout is 0.1");
  expect_part(changed("t5", "/model/unk_id", nullptr), "no unk_id");
  expect_part(changed("t5", "/model/unk_id", 100000), "not in the vocabulary");
  expect_part(changed("t5", "/model/vocab/5/0", ""), "piece 5 is empty");
  expect_part(changed("t5", "/model/vocab/5/1", "x"), "expected a piece [text, score]");
  expect_part(changed("t5", "/model/vocab/5/1", -1e300), "expected a score within");
  Json merged = golden("llama2");
  merged["model"]["vocab"]["<0x41><0x42>"] = 5000;
  merged["model"]["merges"].push_back({"<0x41>", "<0x42>"});
  expect_part(refusal(merged), "a merge of \"<0x41>\" is not supported");
  EXPECT_EQ(changed("llama2", "/model/unk_token", nullptr),
            "accepted");  // bytes leave nothing unknown
}

TEST(HfPieces, WhatIsNotPiecesAloneIsLeftToThePipeline) {
  const auto changed = [](std::string_view name, const char* pointer, Json value) {
    Json json = golden(name);
    json[Json::json_pointer(pointer)] = std::move(value);
    return holds_pieces(json);
  };
  const auto type = [](const char* name) { return Json{{"type", name}}; };
  EXPECT_FALSE(changed("t5", "/pre_tokenizer", type("Digits")));
  EXPECT_FALSE(changed("t5", "/pre_tokenizer", type("WhitespaceSplit")));
  EXPECT_FALSE(changed("t5", "/pre_tokenizer/replacement", "_"));
  EXPECT_FALSE(changed("llama2", "/model/ignore_merges", true));
  EXPECT_FALSE(changed("llama2", "/model/continuing_subword_prefix", "##"));
  EXPECT_FALSE(changed("unfused", "/model/unk_token", nullptr));
  EXPECT_FALSE(changed("unfused", "/model/unk_token", "?"));
  // Gemma's Split does nothing only when the spaces are gone.
  EXPECT_FALSE(changed("gemma", "/normalizer", nullptr));
  EXPECT_TRUE(changed("gemma", "/model/dropout", nullptr));
  Json few = golden("llama2");
  few["model"]["vocab"].erase("<0x41>");
  EXPECT_FALSE(holds_pieces(few));
}

}  // namespace
}  // namespace ingot
