// Reading and writing tokenizer files, and the ids of other programs for the same files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/error/error.h"
#include "support/source_path.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/convert.h"
#include "tokenizer/nasty_text.h"
#include "tokenizer/small_bpe.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

using testing_support::add_merge;
using testing_support::add_special;
using testing_support::add_token;
using testing_support::bytes_only;
using testing_support::nasty_parts;
using testing_support::nasty_text;
using testing_support::random_model;
using Ids = std::vector<int32_t>;

const std::string kShared = testing_support::source_path("../shared/");
const std::string kTokenizers = kShared + "data/tokenizers/";
const std::string kGolden = testing_support::source_path("tests/golden/tokenizer/");

std::string slurp(const std::string& path) {
  return read_text(*posix_storage(), path);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data) << error.what();
    return error.what();
  }
  return "accepted";
}

void expect_same_ids(const Tokenizer& a, const Tokenizer& b) {
  EXPECT_EQ(a.vocab_size(), b.vocab_size());
  EXPECT_EQ(a.bos(), b.bos());
  EXPECT_EQ(a.eos(), b.eos());
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::string text = nasty_text(seed, 60);
    const auto ids_or_refusal = [&](const Tokenizer& tokenizer) {
      try {
        return tokenizer.encode(text);
      } catch (const Error&) {
        return Ids{-1};  // GPT-NeoX has no token for bytes that valid UTF-8 never has
      }
    };
    EXPECT_EQ(ids_or_refusal(a), ids_or_refusal(b)) << text;
  }
}

// A model that uses everything a file can hold.
BpeModel full_model() {
  BpeModel model = random_model(4, 200, nasty_parts());
  model.split = Split::Qwen2;
  model.nfc = true;
  model.whole_piece_first = true;
  add_token(model, "unreachable");
  add_special(model, "<|endoftext|>");
  add_special(model, "  ", false);
  model.added.back().normalized = true;
  add_special(model, "<mask>");
  model.added.back().lstrip = true;
  model.bos = model.added[2].id;
  model.eos = model.added[0].id;
  model.post_processor = R"({"type":"ByteLevel"})";
  return model;
}

TEST(TokenizerFiles, TokenizerJsonComesBackAsItWas) {
  for (const Split split : kAllSplits) {
    BpeModel model = full_model();
    model.split = split;
    const std::string file = to_tokenizer_json(model);
    const BpeModel back = parse_tokenizer_json(file, "back");
    EXPECT_EQ(to_tokenizer_json(back), file);
    EXPECT_EQ(back.tokens, model.tokens);
    EXPECT_EQ(back.split, split);
    EXPECT_EQ(back.post_processor, model.post_processor);
    expect_same_ids(*bpe_tokenizer(back, "back"), *bpe_tokenizer(model, "model"));
  }
}

TEST(TokenizerFiles, TiktokenFilesComeBackAsTheyWere) {
  BpeModel model = bytes_only();
  // Of "aab" the last two parts are "aa" and "b".
  for (const char* token : {"aa", "ab", "aab", "aaab"}) add_token(model, token);
  model.merges = merges_of_ranks(model.tokens, "model");
  ASSERT_EQ(model.merges.size(), 4u);
  EXPECT_EQ(model.merges[2], (TokenMerge{256, 'b', 258}));
  const std::string file = to_tiktoken(model);
  EXPECT_TRUE(file.starts_with("AA== 0\nAQ== 1\n"));
  EXPECT_TRUE(file.ends_with("YWFi 258\nYWFhYg== 259\n"));
  const BpeModel back = parse_tiktoken(file, "back");
  EXPECT_EQ(back.tokens, model.tokens);
  EXPECT_EQ(back.merges, model.merges);
}

TEST(TokenizerFiles, ATokenizerWhoseIdsAreNotInMergeOrderIsNoTiktokenFile) {
  BpeModel model = bytes_only();
  add_token(model, "bc");
  add_merge(model, "a", "b");
  add_merge(model, "b", "c");
  EXPECT_NE(message_of([&] { to_tiktoken(model); }).find("ids are ranks"), std::string::npos);
}

TEST(TokenizerFiles, WhatTiktokenWouldEncodeOtherwiseIsNotWrittenSo) {
  const auto refusal = [](const BpeModel& model) {
    return message_of([&] { file_as(*bpe_tokenizer(model, "test"), "x.tiktoken"); });
  };
  BpeModel good = bytes_only();
  for (const char* token : {"aa", "aab"}) add_token(good, token);
  good.merges = merges_of_ranks(good.tokens, "test");
  add_special(good, "<|endoftext|>");
  EXPECT_EQ(refusal(good), "accepted");

  BpeModel model = good;
  model.nfc = true;
  EXPECT_NE(refusal(model).find("NFC"), std::string::npos);
  model = good;
  add_special(model, "  ", false);
  EXPECT_NE(refusal(model).find("not special"), std::string::npos);
  model = good;
  add_token(model, "xyz");  // no merges lead to it
  EXPECT_NE(refusal(model).find("gives other ids"), std::string::npos);
  model.whole_piece_first = true;
  EXPECT_EQ(refusal(model), "accepted");
}

TEST(TokenizerFiles, AMergeOfATokenWithASpaceNeedsThePairForm) {
  const auto with_merges = [](const std::string& merges) {
    const std::string vocab = R"({"a":0,"b c":1,"ab c":2})";
    return R"({"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false},"model":{"vocab":)" +
           vocab + R"(,"merges":)" + merges + "}}";
  };
  EXPECT_EQ(parse_tokenizer_json(with_merges(R"([["a","b c"]])"), "pair").merges.size(), 1u);
  EXPECT_NE(message_of([&] {
              parse_tokenizer_json(with_merges(R"(["a b c"])"), "line");
            }).find("left right"),
            std::string::npos);
}

TEST(TokenizerFiles, WhatIsNotUnderstoodIsRefused) {
  const auto json = nlohmann::json::parse(to_tokenizer_json(full_model()));
  const auto refusal = [&](const char* pointer, const nlohmann::json& value) {
    auto changed = json;
    changed[nlohmann::json::json_pointer(pointer)] = value;
    return message_of([&] { bpe_tokenizer(parse_tokenizer_json(changed.dump(), "it"), "it"); });
  };
  const std::pair<const char*, nlohmann::json> cases[] = {
      {"/model/type", "Unigram"},
      {"/model/dropout", 0.1},
      {"/model/byte_fallback", true},
      {"/model/continuing_subword_prefix", "##"},
      {"/model/vocab", nlohmann::json::array()},
      {"/model/vocab/a", -1},
      {"/model/vocab/a", 98},
      {"/model/vocab/a", 2'000'000'000},
      {"/model/vocab/a", "x"},
      {"/model/merges", nullptr},
      {"/model/merges/0", 7},
      {"/model/merges/0", "a"},
      {"/model/merges/0", "a nowhere"},
      {"/model/ignore_merges", "yes"},
      {"/normalizer", {{"type", "NFKC"}}},
      {"/pre_tokenizer", nullptr},
      {"/pre_tokenizer/type", "Whitespace"},
      {"/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+"},
      {"/pre_tokenizer/pretokenizers/0/behavior", "MergedWithNext"},
      {"/pre_tokenizer/pretokenizers/0/invert", true},
      {"/pre_tokenizer/pretokenizers/0/type", "Digits"},
      {"/pre_tokenizer/pretokenizers/1/add_prefix_space", true},
      {"/pre_tokenizer/pretokenizers/1/use_regex", true},
      {"/added_tokens", 3},
      {"/added_tokens/0", "x"},
      {"/added_tokens/0/id", 2'000'000'000},
      {"/added_tokens/0/content", "a"},
  };
  for (const auto& [pointer, value] : cases) {
    const std::string message = refusal(pointer, value);
    EXPECT_NE(message, "accepted") << pointer << " " << value;
    EXPECT_TRUE(message.starts_with("it: ")) << message;
  }
  for (const char* text : {"", "{", "[]", "{}", "{\"model\":3}", "{\"model\":{\"vocab\":{}}}"}) {
    EXPECT_NE(message_of([&] { parse_tokenizer_json(text, "it"); }), "accepted") << text;
  }
}

TEST(TokenizerFiles, DamagedTiktokenFilesAreRefused) {
  for (const char* text : {"", "YQ==", "YQ== x", "YQ== -1", "YQ== 1 ", "Y 1", "Y*== 1", " 1",
                           "YQ== 1\nYg== 1", "YQ== 4000000000", "YQ== 99999999999"}) {
    EXPECT_NE(message_of([&] { parse_tiktoken(text, "it"); }), "accepted") << text;
  }
  const auto twice = [] { bpe_tokenizer(parse_tiktoken("YQ== 0\nYQ== 1\n", "it"), "it"); };
  EXPECT_NE(message_of(twice).find("same bytes"), std::string::npos);
}

TEST(TokenizerFiles, ATiktokenFileNeedsAKnownNameOrAPattern) {
  const auto storage = memory_storage();
  std::string file = to_tiktoken(bytes_only());
  write_file_atomically(*storage, "mine.tiktoken", file);
  EXPECT_NE(message_of([&] { load_tokenizer(*storage, "mine.tiktoken"); }).find("mine"),
            std::string::npos);
  LoadOptions options;
  options.split = Split::O200k;
  const auto o200k = load_tokenizer(*storage, "mine.tiktoken", options);
  EXPECT_EQ(o200k->vocab_size(), 258);  // its two special tokens follow the ranks
  EXPECT_EQ(o200k->eos(), 256);
  options.split = Split::None;
  EXPECT_EQ(load_tokenizer(*storage, "mine.tiktoken", options)->eos(), -1);
  write_file_atomically(*storage, "cl100k_base.tiktoken", file);
  const std::string refusal = message_of([&] { load_tokenizer(*storage, "cl100k_base.tiktoken"); });
  EXPECT_NE(refusal.find("it has 256 ranks and cl100k_base, whose name it has, 100256"),
            std::string::npos)
      << refusal;

  BpeModel published = bytes_only();
  for (int rank = 256; rank < 100256; ++rank)
    published.tokens.push_back(fmt::format("token {}", rank));
  write_file_atomically(*storage, "cl100k_base.tiktoken", to_tiktoken(published));
  options.split = Split::O200k;  // the name says another
  EXPECT_THROW(load_tokenizer(*storage, "cl100k_base.tiktoken", options), Error);
  const auto cl100k = load_tokenizer(*storage, "cl100k_base.tiktoken");
  EXPECT_EQ(cl100k->eos(), 100257);
  EXPECT_EQ(cl100k->vocab_size(), 100277);
  Ids ids;
  cl100k->encode_with_specials("<|endofprompt|>", ids);
  EXPECT_EQ(ids, Ids{100276});
}

TEST(TokenizerFiles, PublishedSpecialTokensHaveTheirPublishedIds) {
  BpeModel model;
  model.tokens.resize(128000);
  apply_split(Split::Llama3, model);
  EXPECT_EQ(model.tokens.size(), 128256u);
  EXPECT_EQ(model.bos, 128000);
  EXPECT_EQ(model.eos, 128001);
  const auto id_of = [&](const std::string& content) {
    for (const AddedToken& token : model.added) {
      if (token.content == content) return token.id;
    }
    return -1;
  };
  EXPECT_EQ(id_of("<|start_header_id|>"), 128006);
  EXPECT_EQ(id_of("<|eot_id|>"), 128009);
  EXPECT_EQ(id_of("<|reserved_special_token_250|>"), 128255);
  BpeModel p50k;
  p50k.tokens.resize(50281);
  apply_split(Split::Gpt2, p50k);
  EXPECT_EQ(p50k.eos, 50256);
  EXPECT_EQ(p50k.tokens.size(), 50281u);
}

TEST(TokenizerFiles, WhatARankFileLeavesUnsaidIsReadFromTomlBesideIt) {
  const auto storage = memory_storage();
  write_file_atomically(*storage, "mine.tiktoken", to_tiktoken(bytes_only()));
  const auto load = [&](const std::string& toml) {
    write_file_atomically(*storage, "mine.toml", toml);
    return load_tokenizer(*storage, "mine.tiktoken");
  };
  const auto refused = [&](const std::string& toml) -> std::string {
    try {
      load(toml);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Config);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(load("split = \"qwen2\"\n")->eos(), 256);
  const std::string tokens = "[special_tokens]\n\"<a>\" = 300\n\"<b>\" = 256\n";
  const auto both = load("split = \"gpt2\"\nbos = \"<a>\"\neos = \"<b>\"\n" + tokens);
  EXPECT_EQ(both->bos(), 300);
  EXPECT_EQ(both->eos(), 256);
  EXPECT_EQ(both->vocab_size(), 301);
  EXPECT_NE(refused("split = \"gpt5\"\n").find("cl100k"), std::string::npos);
  EXPECT_NE(refused(tokens).find("split"), std::string::npos);
  EXPECT_NE(refused("split = \"gpt2\"\neos = \"<c>\"\n" + tokens).find("<c>"), std::string::npos);
  EXPECT_NE(refused("split = \"gpt2\"\npattern = 1\n").find("pattern"), std::string::npos);
  for (const char* id : {"0", "-1", "1000000", "1.5", "\"1\""}) {
    EXPECT_NE(
        refused(fmt::format("split = \"gpt2\"\n[special_tokens]\n\"<a>\" = {}\n", id)).find("<a>"),
        std::string::npos)
        << id;
  }
}

TEST(TokenizerFiles, LoadTellsByContentsAndFindsWhatLiesBeside) {
  const auto storage = memory_storage();
  BpeModel model = bytes_only();
  add_merge(model, "a", "b");
  add_special(model, "<|im_end|>");
  add_special(model, "<|endoftext|>");
  storage->make_directories("folder");
  write_file_atomically(*storage, "folder/tokenizer.json", to_tokenizer_json(model));
  write_file_atomically(*storage, "folder/tokenizer_config.json",
                        R"({"bos_token":null,"eos_token":{"content":"<|im_end|>"}})");
  const auto tokenizer = load_tokenizer(*storage, "folder");
  EXPECT_EQ(tokenizer->kind(), "bpe");
  EXPECT_EQ(tokenizer->bos(), -1);
  EXPECT_EQ(tokenizer->eos(), 257);
  write_file_atomically(*storage, "any_name", tokenizer->serialize());
  EXPECT_EQ(load_tokenizer(*storage, "any_name")->eos(), 257);

  std::string vocab = "{\"model\": 0";
  for (int i = 1; i < 3; ++i)
    vocab += ", \"" + std::string(1, static_cast<char>('a' + i)) + "\": " + std::to_string(i);
  write_file_atomically(*storage, "my-vocab.json", vocab + ", \"bc\": 3, \"<|endoftext|>\": 4}");
  EXPECT_THROW(load_tokenizer(*storage, "my-vocab.json"), Error);  // no merges yet
  write_file_atomically(*storage, "my-merges.txt", "#version: 0.2\nb c\n");
  const auto gpt2 = load_tokenizer(*storage, "my-vocab.json");
  EXPECT_EQ(gpt2->encode("bcb"), (Ids{3, 1}));
  EXPECT_EQ(gpt2->eos(), 4);
}

TEST(TokenizerFiles, AddedTokensAreFoundAsHuggingFaceFindsThem) {
  std::ifstream file(kGolden + "added_tokens.jsonl");
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto golden = nlohmann::json::parse(line);
    BpeModel model = bytes_only();
    add_merge(model, " ", "a");
    model.nfc = golden["nfc"];
    for (const auto& item : golden["added"]) {
      add_special(model, item["content"]);
      AddedToken& token = model.added.back();
      token.special = item["special"];
      token.normalized = item["normalized"];
      token.lstrip = item["lstrip"];
      token.rstrip = item["rstrip"];
      token.single_word = item["single_word"];
    }
    const auto tokenizer = bpe_tokenizer(model, "golden");
    for (const auto& one : golden["cases"]) {
      const auto text = one["text"].get<std::string>();
      Ids ids;
      tokenizer->encode_with_specials(text, ids);
      EXPECT_EQ(ids, one["with_specials"].get<Ids>()) << golden["added"] << "\n" << one["text"];
      EXPECT_EQ(tokenizer->encode(text), one["ids"].get<Ids>()) << golden["added"] << one["text"];
    }
  }
  EXPECT_EQ(lines, 60);
}

class SharedTokenizers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kTokenizers)) GTEST_SKIP() << kTokenizers << " is absent";
  }
};

TEST_F(SharedTokenizers, FourFilesAreOneTokenizer) {
  const auto storage = posix_storage();
  const auto json = load_tokenizer(*storage, kTokenizers + "gpt2_hf_tokenizer.json");
  EXPECT_EQ(json->vocab_size(), 50257);
  EXPECT_EQ(json->eos(), 50256);
  EXPECT_EQ(json->bos(), 50256);
  for (const char* name : {"gpt2_vocab.json", "r50k_base.tiktoken"}) {
    const auto other = load_tokenizer(*storage, kTokenizers + name);
    expect_same_ids(*json, *other);
    Ids ids;
    other->encode_with_specials("Hello<|endoftext|>", ids);
    EXPECT_EQ(ids, (Ids{15496, 50256}));
  }
}

TEST_F(SharedTokenizers, HardStringsHaveThePublishedIds) {
  const std::string stem = kShared + "data/tokenizer_vectors/ggml-vocab-gpt-2.gguf";
  const std::string separator = "\n__ggml_vocab_test__\n";
  const std::string inputs = slurp(stem + ".inp");
  std::istringstream outputs(slurp(stem + ".out"));
  const auto tokenizer = load_tokenizer(*posix_storage(), kTokenizers + "gpt2_hf_tokenizer.json");
  int count = 0;
  for (size_t begin = 0; begin < inputs.size(); ++count) {  // the last ends with a separator too
    const size_t end = std::min(inputs.find(separator, begin), inputs.size());
    const std::string text = inputs.substr(begin, end - begin);
    begin = end + separator.size();
    std::string line;
    ASSERT_TRUE(std::getline(outputs, line));
    std::istringstream numbers(line);
    const Ids expected{std::istream_iterator<int32_t>(numbers), {}};
    EXPECT_EQ(tokenizer->encode(text), expected) << text;
    EXPECT_EQ(tokenizer->decode(expected), text);
  }
  EXPECT_EQ(count, 46);
}

TEST_F(SharedTokenizers, WrittenAndReadAgainTheyEncodeTheSame) {
  for (const char* name : {"dolma2_hf_tokenizer.json", "gpt_neox_olmo_hf_tokenizer.json",
                           "minimind_6400_hf_tokenizer.json", "r50k_base.tiktoken"}) {
    const auto tokenizer = load_tokenizer(*posix_storage(), kTokenizers + name);
    const auto storage = memory_storage();
    write_file_atomically(*storage, "written", tokenizer->serialize());
    expect_same_ids(*tokenizer, *load_tokenizer(*storage, "written"));
  }
}

// The hashes are those of Hugging Face tokenizers and tiktoken
// (tools/goldens/make_encode_goldens.py).
TEST_F(SharedTokenizers, EveryTextHasTheIdsOfTheOtherPrograms) {
  std::ifstream file(kGolden + "encode.txt");
  std::string line, word;
  std::getline(file, line);
  std::istringstream names(line.substr(1));
  std::vector<std::unique_ptr<Tokenizer>> tokenizers;
  while (names >> word) tokenizers.push_back(load_tokenizer(*posix_storage(), kTokenizers + word));
  int64_t texts = 0, bytes = 0;
  for (; std::getline(file, line); ++texts) {
    const std::string path = line.substr(0, line.find('\t'));
    std::istringstream fields(line.substr(path.size()));
    const bool shared = path.starts_with("shared/");
    const std::string text = slurp(testing_support::source_path(shared ? "../" + path : path));
    for (const auto& tokenizer : tokenizers) {
      size_t count = 0;
      std::string hash;
      fields >> count >> hash;
      const Ids ids = tokenizer->encode(text);
      EXPECT_EQ(ids.size(), count) << path;
      EXPECT_EQ(fmt::format("{:016x}", XXH64(ids.data(), 4 * ids.size(), 0)), hash) << path;
      EXPECT_EQ(tokenizer->decode(ids) == text, true) << path;
    }
    bytes += static_cast<int64_t>(text.size());
  }
  EXPECT_EQ(texts, 215);
  EXPECT_GT(bytes, 50'000'000);
}

}  // namespace
}  // namespace ingot
