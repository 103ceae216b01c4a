#include <gtest/gtest.h>

#include "checkpoint/gguf_fixture.h"
#include "core/error/error.h"
#include "tokenizer/sentencepiece_file.h"
#include "tokenizer/small_bpe.h"

namespace ingot::checkpoint_test {
namespace {

using testing_support::add_merge;
using testing_support::add_special;
using testing_support::add_token;
using testing_support::SmallModel;

BpeModel small_bpe(Split split) {
  BpeModel model = testing_support::bytes_only();
  model.split = split;
  add_merge(model, "a", "b");
  add_merge(model, " ", "ab");
  add_special(model, "<|endoftext|>");
  model.bos = model.eos = model.added.back().id;
  return model;
}

AuxiliaryFiles with_tokenizer(std::string file) {
  AuxiliaryFiles auxiliary_files;
  auxiliary_files.tokenizer = std::move(file);
  return auxiliary_files;
}

std::map<std::string, Json> facts_of(const AuxiliaryFiles& auxiliary_files) {
  return exported(small_model(), GgufType::F32, auxiliary_files).metadata;
}
std::map<std::string, Json> facts_of(const BpeModel& model) {
  return facts_of(with_tokenizer(to_tokenizer_json(model)));
}
std::string refusal_of(const AuxiliaryFiles& auxiliary_files) {
  return error_of([&] { facts_of(auxiliary_files); });
}
std::string refusal_of(const BpeModel& model) {
  return refusal_of(with_tokenizer(to_tokenizer_json(model)));
}

Json pre_of(const BpeModel& model) {
  return facts_of(model).at("tokenizer.ggml.pre");
}

TEST(GgufTokenizer, BpeIsTokensMergesAndTheNameOfAPattern) {
  const auto facts = facts_of(small_bpe(Split::Gpt2));
  EXPECT_EQ(facts.at("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(facts.at("tokenizer.ggml.pre"), "gpt-2");
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").at(257), "Ġab");
  EXPECT_EQ(facts.at("tokenizer.ggml.merges"), (Json{"a b", "Ġ ab"}));
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").size(), 300u);
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").at(299), "[PAD299]");
  EXPECT_EQ(facts.at("tokenizer.ggml.token_type").at(299), 5);
  EXPECT_EQ(facts.at("tokenizer.ggml.token_type").at(258), 3);
}

TEST(GgufTokenizer, APatternHasAnotherNameWherePiecesAreTakenWhole) {
  BpeModel model = small_bpe(Split::Llama3);
  EXPECT_EQ(pre_of(model), "dbrx");
  model.whole_piece_first = true;
  EXPECT_EQ(pre_of(model), "llama-bpe");
  model.split = Split::Qwen2;
  EXPECT_EQ(pre_of(model), "qwen2");  // merging makes every token all the same
  add_token(model, "xyz");
  EXPECT_TRUE(contains(refusal_of(model), "qwen2"));
  model.whole_piece_first = false;
  EXPECT_EQ(pre_of(model), "qwen2");
  model.split = Split::O200k;
  EXPECT_TRUE(contains(refusal_of(model), "o200k"));  // there they are taken whole
}

TEST(GgufTokenizer, APatternThatLlamaCppDoesNotHaveIsRefused) {
  for (const Split split : {Split::None, Split::Nanochat})
    EXPECT_TRUE(contains(refusal_of(small_bpe(split)), std::string(name_of(split))));
  BpeModel model = small_bpe(Split::Cl100k);
  add_merge(model, "\n", "\n");
  EXPECT_EQ(pre_of(model), "dbrx");
  add_merge(model, "\n", " ");  // at the end of a text a piece there, two here
  EXPECT_TRUE(contains(refusal_of(model), "cl100k"));
  BpeModel bytes = testing_support::bytes_only();
  bytes.split = Split::None;
  add_special(bytes, "<|endoftext|>");
  bytes.bos = bytes.eos = 256;
  EXPECT_EQ(refusal_of(bytes), "");  // nothing merges, wherever it is cut
}

Json tokenizer_json(const Json& pre_tokenizer) {
  Json json = Json::parse(to_tokenizer_json(small_bpe(Split::Gpt2)));
  json["pre_tokenizer"] = pre_tokenizer;
  return json;
}

TEST(GgufTokenizer, ArrangementsThatLlamaCppHasAreKnown) {
  const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  const auto with_digits = [&](bool each) {
    return tokenizer_json(
        {{"type", "Sequence"},
         {"pretokenizers", {{{"type", "Digits"}, {"individual_digits", each}}, byte_level}}});
  };
  EXPECT_EQ(facts_of(with_tokenizer(with_digits(true).dump())).at("tokenizer.ggml.pre"), "smollm");
  EXPECT_TRUE(contains(refusal_of(with_tokenizer(with_digits(false).dump())), "arrangement"));
  // DeepSeek's; line ends as they are or spelt.
  const auto split_at = [](const char* regex) {
    return Json{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}};
  };
  const Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  for (const char* lines : {"[\r\n]", "[\\r\\n]"}) {
    const Json parts = {split_at(lines),
                        split_at("\\s?\\p{L}+"),
                        split_at("\\s?\\p{P}+"),
                        split_at("[一-龥ࠀ-一가-\xED\x9F\xBF]+"),
                        {{"type", "Digits"}, {"individual_digits", true}},
                        bytes};
    const Json json = tokenizer_json({{"type", "Sequence"}, {"pretokenizers", parts}});
    EXPECT_EQ(facts_of(with_tokenizer(json.dump())).at("tokenizer.ggml.pre"), "deepseek-coder");
  }
  Json prefixed = byte_level;
  prefixed["add_prefix_space"] = true;
  EXPECT_TRUE(contains(refusal_of(with_tokenizer(tokenizer_json(prefixed).dump())), "arrangement"));
}

TEST(GgufTokenizer, AddedTokensThatGgufCannotSayAreRefused) {
  BpeModel model = small_bpe(Split::Gpt2);
  add_special(model, "<tool>", false);
  EXPECT_EQ(facts_of(model).at("tokenizer.ggml.token_type").at(259), 4);
  model.added.back().lstrip = true;
  EXPECT_TRUE(contains(refusal_of(model), "<tool>"));
  model = small_bpe(Split::Gpt2);
  add_special(model, "[PAD280]");
  EXPECT_TRUE(contains(refusal_of(model), "[PAD280]"));  // the name of an id that is not used
}

TEST(GgufTokenizer, TheTokenThatEndsATextIsNeverLeftToChance) {
  BpeModel model = testing_support::bytes_only();
  add_merge(model, "a", "b");
  add_merge(model, "ab", "c");
  add_special(model, "<separator>");  // no name that says what it is
  EXPECT_TRUE(contains(refusal_of(model), "eos_token"));
  model.eos = 258;
  const auto facts = facts_of(model);
  EXPECT_EQ(facts.at("tokenizer.ggml.bos_token_id"), 258);
  EXPECT_EQ(facts.at("tokenizer.ggml.eos_token_id"), 258);
  EXPECT_EQ(facts.at("tokenizer.ggml.add_bos_token"), false);
  EXPECT_EQ(facts.at("tokenizer.ggml.add_eos_token"), false);
}

TEST(GgufTokenizer, BosStandsBeforeATextAsWhereTheModelComesFrom) {
  BpeModel model = small_bpe(Split::Gpt2);
  // Trained here: as text is generated here.
  EXPECT_EQ(facts_of(model).at("tokenizer.ggml.add_bos_token"), true);
  // With files of its own: by them.
  const auto with_files = [](const BpeModel& of) {
    AuxiliaryFiles auxiliary_files = with_tokenizer(to_tokenizer_json(of));
    auxiliary_files.hf_files["tokenizer.json"] = auxiliary_files.tokenizer;
    return auxiliary_files;
  };
  EXPECT_EQ(facts_of(with_files(model)).at("tokenizer.ggml.add_bos_token"), false);
  model.post_processor = R"({"type": "Sequence", "processors": [{"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<|endoftext|>", "type_id": 0}},
               {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<|endoftext|>": {"id": "<|endoftext|>", "ids": [258]}}}]})";
  AuxiliaryFiles auxiliary_files = with_files(model);
  EXPECT_EQ(facts_of(auxiliary_files).at("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(facts_of(auxiliary_files).at("tokenizer.ggml.add_eos_token"), false);
  auxiliary_files.hf_files["tokenizer_config.json"] =
      R"({"add_bos_token": false, "add_eos_token": true})";
  EXPECT_EQ(facts_of(auxiliary_files).at("tokenizer.ggml.add_bos_token"), false);
  EXPECT_EQ(facts_of(auxiliary_files).at("tokenizer.ggml.add_eos_token"), true);
}

SmallModel llama_pieces() {
  SmallModel model;
  model.kind = SentencePieceModel::Kind::Bpe;
  model.byte_fallback = true;
  model.rules.remove_extra_whitespaces = false;
  model.pieces = {{"ab", -1, PieceType::Normal}, {"▁", -2, PieceType::Normal}};
  return model;
}
SmallModel unigram_pieces() {
  SmallModel model;
  model.pieces = {{"ab", -1, PieceType::Normal}, {"▁", -2, PieceType::Normal}};
  return model;
}
std::string refusal_of(const SmallModel& model) {
  return refusal_of(with_tokenizer(model.file()));
}

TEST(GgufTokenizer, PiecesAreTokensWithScores) {
  const auto facts = facts_of(with_tokenizer(llama_pieces().file()));
  EXPECT_EQ(facts.at("tokenizer.ggml.model"), "llama");
  EXPECT_EQ(facts.at("tokenizer.ggml.unknown_token_id"), 0);
  EXPECT_EQ(facts.at("tokenizer.ggml.bos_token_id"), 1);
  EXPECT_EQ(facts.at("tokenizer.ggml.eos_token_id"), 2);
  EXPECT_EQ(facts.at("tokenizer.ggml.add_bos_token"), true);
  EXPECT_EQ(facts.at("tokenizer.ggml.add_space_prefix"), true);
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").at(259), "ab");
  EXPECT_EQ(facts.at("tokenizer.ggml.scores").at(260), -2.0f);
  EXPECT_EQ(facts.at("tokenizer.ggml.token_type").at(3), 6);
  EXPECT_LT(facts.at("tokenizer.ggml.scores").at(299), -1000.0f);  // not used
}

TEST(GgufTokenizer, UnigramPiecesKeepTheirRules) {
  const auto facts = facts_of(with_tokenizer(unigram_pieces().file()));
  EXPECT_EQ(facts.at("tokenizer.ggml.model"), "t5");
  EXPECT_EQ(facts.at("tokenizer.ggml.add_eos_token"), false);  // else llama.cpp puts one
  EXPECT_EQ(facts.at("tokenizer.ggml.remove_extra_whitespaces"), true);
  EXPECT_FALSE(facts.contains("tokenizer.ggml.precompiled_charsmap"));
}

TEST(GgufTokenizer, PiecesThatLlamaCppTreatsOtherwiseAreRefused) {
  EXPECT_EQ(refusal_of(llama_pieces()), "");
  EXPECT_EQ(refusal_of(unigram_pieces()), "");
  SmallModel model = llama_pieces();
  model.rules.remove_extra_whitespaces = true;
  EXPECT_TRUE(contains(refusal_of(model), "drops spaces"));
  model = llama_pieces();
  model.byte_fallback = false;
  EXPECT_TRUE(contains(refusal_of(model), "bytes"));
  model = llama_pieces();
  model.whitespace_is_suffix = true;
  EXPECT_TRUE(contains(refusal_of(model), "after words"));
  model = llama_pieces();
  model.pieces.push_back({"abab", -3, PieceType::Unused});
  EXPECT_TRUE(contains(refusal_of(model), "passes over"));
  model = llama_pieces();
  model.pieces.push_back({"<tool>", 0, PieceType::UserDefined});
  EXPECT_TRUE(contains(refusal_of(model), "user-defined"));
  model.rules.add_dummy_prefix = false;
  EXPECT_EQ(refusal_of(model), "");
  model = unigram_pieces();
  model.byte_fallback = true;
  EXPECT_TRUE(contains(refusal_of(model), "unigram"));
  model = unigram_pieces();
  model.rules.remove_extra_whitespaces = false;
  EXPECT_TRUE(contains(refusal_of(model), "unigram"));
}

// As Gemma has it: runs of spaces are added tokens, and merge all the same.
Json gemma_json(bool merges_spaces) {
  Json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int byte = 0; byte < 256; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = 3 + byte;
  vocab["▁"] = 259;
  vocab["▁▁"] = 260;
  Json added = Json::array();
  for (const auto& [content, id] :
       {std::pair{"<unk>", 0}, std::pair{"<s>", 1}, std::pair{"</s>", 2}, std::pair{"▁▁", 260}})
    added.push_back({{"id", id},
                     {"content", content},
                     {"special", id < 3},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false}});
  const Json merges = merges_spaces ? Json::array({{"▁", "▁"}}) : Json::array();
  return {{"added_tokens", added},
          {"normalizer", {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}}},
          {"pre_tokenizer", nullptr},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "<unk>"},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", vocab},
            {"merges", merges}}}};
}

TEST(GgufTokenizer, WhatTokenizerJsonSaysOtherwiseComesFromTheModelBesideItIfItsIdsAreTheSame) {
  SmallModel model = llama_pieces();
  model.rules.add_dummy_prefix = false;
  model.pieces = {{"▁", -1, PieceType::Normal}, {"▁▁", 0, PieceType::UserDefined}};
  AuxiliaryFiles auxiliary_files = with_tokenizer(gemma_json(true).dump());
  EXPECT_TRUE(contains(refusal_of(auxiliary_files), "with its tokenizer.model"));
  auxiliary_files.hf_files["tokenizer.model"] = model.file();
  EXPECT_EQ(facts_of(auxiliary_files).at("tokenizer.ggml.tokens").at(260), "▁▁");
  auxiliary_files.tokenizer = gemma_json(false).dump();
  EXPECT_TRUE(contains(refusal_of(auxiliary_files), "with its tokenizer.model"));
  Json more = gemma_json(true);  // a token that .model does not have
  more["added_tokens"].push_back(more["added_tokens"].back());
  more["added_tokens"].back()["id"] = 261;
  more["added_tokens"].back()["content"] = "<tool>";
  auxiliary_files.tokenizer = more.dump();
  EXPECT_TRUE(contains(refusal_of(auxiliary_files), "with its tokenizer.model"));
}

TEST(GgufTokenizer, RunsOfSpacesMergeFirst) {
  SmallModel model = llama_pieces();
  model.rules.add_dummy_prefix = false;
  model.pieces.push_back({"▁▁", 0, PieceType::UserDefined});
  const auto facts = facts_of(with_tokenizer(model.file()));
  EXPECT_EQ(facts.at("tokenizer.ggml.tokens").at(261), "▁▁");
  EXPECT_GT(facts.at("tokenizer.ggml.scores").at(261), 0.0f);
  model.pieces.push_back({"▁▁▁▁", 0, PieceType::UserDefined});
  EXPECT_TRUE(contains(refusal_of(model), "spaces"));  // three do not merge, so four do not
  model.pieces.back().text = "▁▁▁";
  EXPECT_EQ(refusal_of(model), "");
  model.pieces.back().text = "▁x";
  EXPECT_TRUE(contains(refusal_of(model), "spaces"));
}

}  // namespace
}  // namespace ingot::checkpoint_test
