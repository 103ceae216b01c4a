#include "tokenizer/train/sentencepiece_trainer.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <memory>

#include "core/error/error.h"
#include "core/random/random.h"
#include "tokenizer/sentencepiece/sentencepiece.h"

namespace ingot {
namespace {

using Ids = std::vector<int32_t>;
using Kind = SentencePieceModel::Kind;

// Words of a few syllables, the common ones often, in lines; some of it is not ASCII.
std::vector<std::string> documents() {
  static constexpr const char* kSyllables[] = {"ka", "lo", "mi", "re", "tun", "s", "é", "你", "12"};
  const RandomStream random(11, Purpose::Test);
  std::vector<std::string> words;
  uint64_t next = 0;
  for (int i = 0; i < 300; ++i) {
    std::string word;
    for (uint32_t n = 1 + random.bits(next++) % 4; n > 0; --n) {
      word += kSyllables[random.bits(next++) % std::size(kSyllables)];
    }
    words.push_back(word);
  }
  std::vector<std::string> documents;
  for (int d = 0; d < 40; ++d) {
    std::string text;
    for (int i = 0; i < 200; ++i) {
      const double u = random.uniform(next++);
      text += words[static_cast<size_t>(300 * u * u)] + (i % 17 == 16 ? ".\r\n" : " ");
    }
    documents.push_back(text);
  }
  return documents;
}

NextDocument stream_of(std::vector<std::string> documents) {
  auto at = std::make_shared<size_t>(0);
  return [documents = std::move(documents), at](std::string& document) {
    if (*at == documents.size()) return false;
    document = documents[(*at)++];
    return true;
  };
}

SentencePieceTrainerOptions options_of(Kind kind, int64_t vocab_size) {
  SentencePieceTrainerOptions options;
  options.kind = kind;
  options.vocab_size = vocab_size;
  return options;
}

TEST(SentencePieceTrainer, TrainsModelsThatLoseNothing) {
  for (const Kind kind : {Kind::Unigram, Kind::Bpe}) {
    SentencePieceTrainerOptions options = options_of(kind, 400);
    options.special_tokens = {"<|pad|>", "<|end|>"};
    const auto trained = train_sentencepiece(stream_of(documents()), options);
    EXPECT_EQ(trained.documents, 40);
    const auto tokenizer = parse_sentencepiece(trained.file, "trained");
    EXPECT_EQ(tokenizer->vocab_size(), 400);
    EXPECT_EQ(tokenizer->bos(), 1);
    EXPECT_EQ(tokenizer->eos(), 2);
    Ids ids;
    tokenizer->encode_with_specials("<|end|>", ids);
    EXPECT_EQ(ids, (Ids{4}));
    for (const std::string text : {"kalo mi  re", " tun\n\n\tsé 你你", "Ω   ", "", "\r\n"}) {
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    }
    EXPECT_LT(tokenizer->encode("kalomi kalomi").size(), 8u);
  }
}

TEST(SentencePieceTrainer, TheSameTextGivesTheSameModel) {
  for (const Kind kind : {Kind::Unigram, Kind::Bpe}) {
    const auto options = options_of(kind, 400);
    EXPECT_EQ(train_sentencepiece(stream_of(documents()), options).file,
              train_sentencepiece(stream_of(documents()), options).file);
  }
}

TEST(SentencePieceTrainer, TheLibraryEncodesItsBpeModelAsWeDo) {
  const auto file = train_sentencepiece(stream_of(documents()), options_of(Kind::Bpe, 500)).file;
  sentencepiece::SentencePieceProcessor library;
  ASSERT_TRUE(library.LoadFromSerializedProto(file).ok());
  const auto tokenizer = parse_sentencepiece(file, "trained");
  for (const std::string& text : documents()) {
    std::vector<int> expected;
    ASSERT_TRUE(library.Encode(text, &expected).ok());
    EXPECT_EQ(tokenizer->encode(text), Ids(expected.begin(), expected.end()));
  }
}

TEST(SentencePieceTrainer, LongLinesAreCutNotSkipped) {
  std::string line, unspaced;
  for (int i = 0; i < 2000; ++i) line += "xyzzy ";
  for (int i = 0; i < 2000; ++i) unspaced += "plughé";
  const auto trained = train_sentencepiece(stream_of({line, unspaced}), options_of(Kind::Bpe, 300));
  const auto tokenizer = parse_sentencepiece(trained.file, "trained");
  EXPECT_EQ(tokenizer->encode("xyzzy").size(), 1u);
  EXPECT_EQ(tokenizer->encode("aplughéplughéplughé").size(), 5u);  // the space, a, and three
}

TEST(SentencePieceTrainer, FailuresComeThrough) {
  const NextDocument broken = [](std::string&) -> bool {
    throw Error(ErrorCode::Storage, "the disk is gone");
  };
  try {
    train_sentencepiece(broken, options_of(Kind::Bpe, 500));
    FAIL() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Storage);
  }
  EXPECT_THROW(train_sentencepiece(stream_of({}), options_of(Kind::Bpe, 500)), Error);
  EXPECT_THROW(train_sentencepiece(stream_of({"a b"}), options_of(Kind::Unigram, 32000)), Error);
  SentencePieceTrainerOptions options = options_of(Kind::Unigram, 500);
  options.special_tokens = {"<a,b>"};
  EXPECT_THROW(train_sentencepiece(stream_of({"a b"}), options), Error);
}

}  // namespace
}  // namespace ingot
