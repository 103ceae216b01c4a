#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <map>

#include "core/error/error.h"
#include "core/random/random.h"
#include "support/source_path.h"
#include "tokenizer/llama2c_file.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

using testing_support::append_raw;
using testing_support::llama2c_file;
using testing_support::small_llama2c_file;

using Ids = std::vector<int32_t>;

std::unique_ptr<Tokenizer> small() {
  return parse_llama2c_tokenizer(small_llama2c_file(), "small");
}

std::string message_of(const std::string& file) {
  try {
    parse_llama2c_tokenizer(file, "origin");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    return error.what();
  }
  return "accepted";
}

// The definition, merge by merge over the whole text: find the best-scoring neighbours (leftmost on
// a tie), join them, start again. Quadratic, but there is little to get wrong.
Ids encode_by_definition(const Tokenizer& tokenizer, const std::map<std::string, float>& scores,
                         const std::string& text) {
  std::map<std::string, int32_t> id_of;
  for (auto id = static_cast<int32_t>(tokenizer.vocab_size() - 1); id >= 259; --id) {
    id_of[tokenizer.decode(id)] = id;
  }
  struct Part {
    std::string text;
    bool fallback;
  };
  std::vector<Part> parts;
  const std::string spaced = " " + text;
  for (size_t i = 0; i < spaced.size();) {
    const auto lead = static_cast<unsigned char>(spaced[i]);
    size_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for (size_t j = 1; j < length; ++j) {
      if (i + j >= spaced.size() || (spaced[i + j] & 0xC0) != 0x80) length = 1;
    }
    const std::string character = spaced.substr(i, length);
    if (id_of.contains(character)) {
      parts.push_back({character, false});
    } else {
      for (char byte : character) parts.push_back({std::string(1, byte), true});
    }
    i += length;
  }
  while (true) {
    size_t best = parts.size();
    float best_score = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::string joined = parts[i].text + parts[i + 1].text;
      if (parts[i].fallback || parts[i + 1].fallback || !id_of.contains(joined)) continue;
      if (scores.at(joined) > best_score) {
        best = i;
        best_score = scores.at(joined);
      }
    }
    if (best == parts.size()) break;
    parts[best].text += parts[best + 1].text;
    parts.erase(parts.begin() + static_cast<int64_t>(best) + 1);
  }
  Ids ids;
  for (const auto& part : parts) {
    ids.push_back(part.fallback ? 3 + static_cast<unsigned char>(part.text[0]) : id_of[part.text]);
  }
  return ids;
}

// Text over a small alphabet, so that merges compete.
std::string random_text(uint64_t seed, size_t length, const std::vector<std::string>& alphabet) {
  const RandomStream random(seed, Purpose::Test);
  std::string text;
  for (size_t i = 0; i < length; ++i) text += alphabet[random.bits(i) % alphabet.size()];
  return text;
}

TEST(Llama2cTokenizer, MergesTheBestScoringPairFirst) {
  // " abc": "ab" (-1) before "bc" (-2) and " a" (-3); then "abc" (-4) before " ab" (-6).
  EXPECT_EQ(small()->encode("abc"), (Ids{259, 267}));
  EXPECT_EQ(small()->encode("ab"), (Ids{269}));
  EXPECT_EQ(small()->encode("bc"), (Ids{259, 265}));
}

TEST(Llama2cTokenizer, OfEqualScoresTheLeftmostPairMergesFirst) {
  EXPECT_EQ(small()->encode("baaa"), (Ids{259, 261, 268, 260}));
}

TEST(Llama2cTokenizer, UnknownCharactersFallBackToBytes) {
  EXPECT_EQ(small()->encode("\xC3\xA9"), (Ids{259, 263}));
  EXPECT_EQ(small()->encode("\xE2\x82\xAC"), (Ids{259, 3 + 0xE2, 3 + 0x82, 3 + 0xAC}));
  EXPECT_EQ(small()->encode(std::string("a\0", 2)), (Ids{266, 3}));
  EXPECT_EQ(small()->encode("\xC3"), (Ids{259, 3 + 0xC3}));  // half a character
}

TEST(Llama2cTokenizer, TextThatSpellsASpecialPieceDoesNotBecomeIt) {
  const auto tokenizer = parse_llama2c_tokenizer(
      llama2c_file({{" ", -9}, {"<", -9}, {"s", -9}, {">", -9}, {"\n", -9}}), "special");
  EXPECT_EQ(tokenizer->encode("\n<s>\n"), (Ids{259, 263, 260, 261, 262, 263}));
}

TEST(Llama2cTokenizer, DecodeDropsOneSpaceAfterBosOnly) {
  const auto tokenizer = small();
  EXPECT_EQ(tokenizer->decode(Ids{1, 266, 266}), "a a");
  EXPECT_EQ(tokenizer->decode(Ids{266, 266}), " a a");
  EXPECT_EQ(tokenizer->decode(Ids{1, 259, 266, 2, 0}), " a");
  EXPECT_EQ(tokenizer->decode(3 + 0xE2), "\xE2");
  EXPECT_EQ(tokenizer->decode(1), "");
  EXPECT_THROW(tokenizer->decode(270), Error);
  EXPECT_THROW(tokenizer->decode(-1), Error);
}

TEST(Llama2cTokenizer, EmptyTextHasNoTokens) {
  EXPECT_TRUE(small()->encode("").empty());
}

TEST(Llama2cTokenizer, AnyBytesComeBackAfterBos) {
  const auto tokenizer = small();
  const RandomStream random(7, Purpose::Test);
  for (uint64_t round = 0; round < 200; ++round) {
    std::string text;
    for (uint64_t i = 0; i < round; ++i) {
      text += static_cast<char>(random.bits(round * 1000 + i) >> (i % 3 == 0 ? 24 : 25));
    }
    Ids ids{1};
    for (int32_t id : tokenizer->encode(text)) ids.push_back(id);
    EXPECT_EQ(tokenizer->decode(ids), text);
  }
}

TEST(Llama2cTokenizer, EncodesAsTheDefinitionSays) {
  // Pieces with equal scores, pieces across spaces, and pieces only reachable one way.
  const std::map<std::string, float> scores{
      {" ", -90},  {"a", -91}, {"b", -92}, {"c", -93}, {"é", -94},   {"ab", -3},  {"bc", -3},
      {"ca", -2},  {"aa", -3}, {" a", -5}, {"a ", -4}, {"abc", -6},  {"a b", -7}, {"aaa", -1},
      {"bca", -8}, {"  ", -2}, {"éa", -4}, {"bé", -4}, {"abca", -1}, {"caa", -9}, {"aaaa", -10}};
  std::vector<std::pair<std::string, float>> pieces(scores.begin(), scores.end());
  const auto tokenizer = parse_llama2c_tokenizer(llama2c_file(pieces), "definition");
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const auto text =
        random_text(seed, 1 + seed % 60, {"a", "b", "c", " ", "é", "a", "\xE2\x82\xAC", "\xC3"});
    ASSERT_EQ(tokenizer->encode(text), encode_by_definition(*tokenizer, scores, text)) << text;
  }
}

TEST(Llama2cTokenizer, ALongRunOfOneLetterIsNotQuadratic) {
  // Half a million letters without a place to cut: merge by merge it would take hours.
  const auto tokenizer = small();
  const auto ids = tokenizer->encode(std::string(500'000, 'a'));
  EXPECT_EQ(ids.size(), 250'001u);  // " a", "aa" …, "a"
}

TEST(Llama2cTokenizer, SerializeGivesBackTheFile) {
  EXPECT_EQ(small()->serialize(), small_llama2c_file());
  const auto storage = memory_storage();
  write_file_atomically(*storage, "tok.bin", small_llama2c_file());
  const auto tokenizer = load_tokenizer(*storage, "tok.bin");
  EXPECT_EQ(tokenizer->kind(), "llama2c");
  EXPECT_EQ(tokenizer->vocab_size(), 270);
}

TEST(Llama2cTokenizer, EveryTruncationIsRefusedOrEndsBetweenPieces) {
  const std::string file = small_llama2c_file();
  int accepted = 0;
  for (size_t size = 0; size < file.size(); ++size) {
    const std::string message = message_of(file.substr(0, size));
    accepted += message == "accepted" ? 1 : 0;
    if (message != "accepted") {
      EXPECT_NE(message.find("origin"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(accepted, 11);  // the vocabulary ends with the file: 259 to 269 pieces are whole files
}

TEST(Llama2cTokenizer, RefusesDamagedFiles) {
  EXPECT_NE(message_of("").find("truncated"), std::string::npos);
  std::string bad_score = small_llama2c_file();
  append_raw(bad_score, std::numeric_limits<float>::quiet_NaN());
  append_raw(bad_score, int32_t{0});
  EXPECT_NE(message_of(bad_score).find("finite score"), std::string::npos);
  for (const int32_t length : {-1, 7, std::numeric_limits<int32_t>::max()}) {
    std::string bad_length = small_llama2c_file();
    append_raw(bad_length, 0.0f);
    append_raw(bad_length, length);
    bad_length += "abcdefghi";
    EXPECT_NE(message_of(bad_length).find("length"), std::string::npos) << length;
  }
  std::string bad_byte = small_llama2c_file();
  bad_byte[bad_byte.find("<0x41>") + 3] = '5';
  EXPECT_NE(message_of(bad_byte).find("<0x41>"), std::string::npos);
}

TEST(Llama2cTokenizer, ReadsTheStoriesVocabulary) {
  const std::string path = testing_support::source_path("../shared/data/weights/tok512.bin");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const auto tokenizer = load_tokenizer(*posix_storage(), path);
  EXPECT_EQ(tokenizer->vocab_size(), 512);
  EXPECT_EQ(tokenizer->bos(), 1);
  // The model's own greedy output (shared/data/README.md) and the text it stands for.
  const Ids ids{403, 407, 261, 378, 432, 383, 286, 261, 376, 298,
                315, 421, 395, 317, 426, 338, 401, 396, 267, 337};
  Ids with_bos{1};
  with_bos.insert(with_bos.end(), ids.begin(), ids.end());
  const std::string text = tokenizer->decode(with_bos);
  EXPECT_EQ(text, "Once upon a time, there was a little girl named Lily. She loved to play");
  EXPECT_EQ(tokenizer->encode(text), ids);
  EXPECT_EQ(tokenizer->encode(""), Ids{});
}

}  // namespace
}  // namespace ingot
