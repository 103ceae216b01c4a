#include <gtest/gtest.h>

#include <random>

#include "core/error/error.h"
#include "ingest/dedup/minhash.h"
#include "ingest/dedup/sha1.h"
#include "shards/sha256.h"
#include "support/forced_isa.h"

namespace ingot::test {
namespace {

using Values = std::vector<uint64_t>;

std::string digest_of(std::span<const uint64_t> values) {
  return sha256(std::as_bytes(values));
}

class Hashing {
 public:
  explicit Hashing(MinHashSettings settings = {}, const char* splitter = "spacy-en")
      : splitter_(make_splitter(splitter)), hasher(settings, *splitter_) {}
  Values signature(std::string_view text) {
    const auto values = hasher.signature(text);
    return {values.begin(), values.end()};
  }

 private:
  std::unique_ptr<const Splitter> splitter_;

 public:
  MinHasher hasher;
};

MinHashSettings with_sha1() {
  MinHashSettings settings;
  settings.hash = ShingleHash::Sha1;
  return settings;
}

// The vectors of the reference page, section 10.

TEST(MinHash, ParametersAreThoseNumpyDraws) {
  const MinHashParameters p = minhash_parameters(1, 112);
  EXPECT_EQ(p.a[0], 775169054918279404u);
  EXPECT_EQ(p.a[111], 223865076026037746u);
  EXPECT_EQ(p.b[0], 1062448801025099917u);
  EXPECT_EQ(p.b[111], 1097409548522419201u);
  EXPECT_EQ(digest_of(p.a), "646f7c43faa49e0426999bc921979e88d751a279eabdb2d5e2dfb1c1a70a7212");
  EXPECT_EQ(digest_of(p.b), "f81eeb8337743ed94fa76566ebdc77b3f4e1bfea5e2365fcecdf81d24b9b1583");
}

TEST(MinHash, SignaturesWithXxh64AreThoseOfTheReference) {
  Hashing hashing;
  const Values signature = hashing.signature("a b c d e f g");
  ASSERT_EQ(signature.size(), 112u);
  EXPECT_EQ(
      Values(signature.begin(), signature.begin() + 4),
      (Values{608970002929154467u, 47158559598946917u, 470060621155994218u, 1475775062067657178u}));
  EXPECT_EQ(digest_of(signature),
            "d7ecf16f0b28bd726c4d22e6998f705c50a90dbbdc68459c0e08836a81f4a3f0");
}

TEST(MinHash, SignaturesWithSha1AreThoseOfTheReference) {
  Hashing hashing(with_sha1());
  const Values signature = hashing.signature("a b c d e f g");
  EXPECT_EQ(digest_of(signature),
            "ca42f32681535a2500b9a72589309b8328950d3191cc19068eebfb07369168d0");
}

TEST(MinHash, EveryInstructionSetGivesWhatTheDefinitionSays) {
  std::mt19937_64 random(7);
  // Products that wrap, and sums at both sides of the modulus and of its multiples.
  Values hashes{0, 1, kMersenne61 - 1, kMersenne61, kMersenne61 + 1, ~uint64_t{0}, 8 * kMersenne61};
  for (int i = 0; i < 200; ++i) hashes.push_back(random());
  MinHashParameters p = minhash_parameters(5, 20);
  p.a.insert(p.a.end(), {1, 1, 1, 8});
  p.b.insert(p.b.end(), {0, kMersenne61 - 1, 7, 0});
  for (size_t count = 1; count <= hashes.size(); count += 3) {
    Values expected;
    for (size_t i = 0; i < p.a.size(); ++i) {
      uint64_t least = ~uint64_t{0};
      for (size_t k = 0; k < count; ++k) {
        least = std::min(least, (hashes[k] * p.a[i] + p.b[i]) % kMersenne61);
      }
      expected.push_back(least);
    }
    for (const cpu::Isa isa : runnable_isas()) {
      const ForcedIsa forced(isa);
      Values minima(p.a.size());
      INGOT_CPU_DISPATCH(find_minima, std::span(hashes).first(count), p.a.data(), p.b.data(),
                         p.a.size(), minima.data());
      ASSERT_EQ(minima, expected) << count << " " << cpu::name_of(isa);
    }
  }
}

TEST(MinHash, ADocumentShorterThanAnNGramHasNoSignature) {
  Hashing hashing;
  EXPECT_TRUE(hashing.signature("").empty());
  EXPECT_TRUE(hashing.signature("one two three four").empty());
  EXPECT_EQ(hashing.signature("one two three four five").size(), 112u);
}

TEST(MinHash, WordsThatTheSplitterCutsAreJoinedByOneSpace) {
  Hashing spacy, whitespace({}, "whitespace");
  EXPECT_EQ(spacy.signature("we cannot see the sea"),
            whitespace.signature("we can not see the sea"));
  EXPECT_EQ(spacy.signature("We, CAN  not\nsee the (sea)!"),
            whitespace.signature("we can not see the sea"));
}

TEST(MinHash, AnotherGeometryIsAPrefixOnlyOfTheSameDraws) {
  MinHashSettings settings;
  settings.buckets = 3;
  settings.hashes = 5;  // 15 lanes: not a whole block
  Hashing small(settings);
  const Values signature = small.signature("a b c d e f g");
  ASSERT_EQ(signature.size(), 15u);
  // The a's are drawn first, so they agree with those of the default geometry; the b's do not.
  Values a = minhash_parameters(1, 112).a;
  a.resize(15);
  EXPECT_EQ(minhash_parameters(1, 15).a, a);
  EXPECT_NE(signature[0], 608970002929154467u);
}

TEST(MinHash, SettingsThatMakeNoSenseAreRefused) {
  MinHashSettings settings;
  settings.n_gram = 0;
  EXPECT_THROW(validate(settings), Error);
  settings = {};
  settings.buckets = 0;
  EXPECT_THROW(validate(settings), Error);
  settings = {};
  settings.hashes = -1;
  EXPECT_THROW(validate(settings), Error);
}

std::string hex(const std::array<uint8_t, 20>& digest) {
  std::string text;
  for (const uint8_t byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

TEST(Sha1, EqualsThePublishedVectorsAtEveryPaddingBorder) {
  for (const Sha1Code code : {Sha1Code::Fastest, Sha1Code::Generic}) {
    const auto digest = [&](const std::string& text) { return hex(sha1(text, code)); };
    EXPECT_EQ(digest(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(digest("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(digest(std::string(1'000'000, 'a')), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    // 55 bytes are the most that fit one block; hashlib's digests.
    EXPECT_EQ(digest(std::string(55, 'a')), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    EXPECT_EQ(digest(std::string(56, 'a')), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
    EXPECT_EQ(digest(std::string(64, 'a')), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
  }
}

}  // namespace
}  // namespace ingot::test
