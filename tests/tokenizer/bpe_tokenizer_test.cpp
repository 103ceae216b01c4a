#include <gtest/gtest.h>

#include <thread>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "tokenizer/bpe/model.h"
#include "tokenizer/nasty_text.h"
#include "tokenizer/small_bpe.h"

namespace ingot {
namespace {

using testing_support::add_merge;
using testing_support::add_special;
using testing_support::add_token;
using testing_support::bytes_only;
using testing_support::EncodingByDefinition;
using testing_support::id_of;
using testing_support::Merging;
using testing_support::nasty_parts;
using testing_support::nasty_text;
using testing_support::random_model;
using Ids = std::vector<int32_t>;

std::unique_ptr<Tokenizer> make(const BpeModel& model) {
  return bpe_tokenizer(model, "test");
}

Ids with_specials(const Tokenizer& tokenizer, std::string_view text) {
  Ids ids;
  tokenizer.encode_with_specials(text, ids);
  return ids;
}

TEST(Bpe, TheEarlierMergeWinsAndOfEqualOnesTheLeftmost) {
  BpeModel model = bytes_only();
  add_merge(model, "b", "c");
  add_merge(model, "a", "b");
  add_merge(model, "a", "a");
  add_merge(model, "ab", "c");
  EXPECT_EQ(make(model)->encode("abc"), (Ids{'a', id_of(model, "bc")}));
  EXPECT_EQ(make(model)->encode("aab"), (Ids{'a', id_of(model, "ab")}));
  EXPECT_EQ(make(model)->encode("aaa"), (Ids{id_of(model, "aa"), 'a'}));
}

TEST(Bpe, ATokenThatNoMergeMakesIsOnlyEverAWholePiece) {
  BpeModel model = bytes_only();
  add_merge(model, "a", "b");
  const int32_t unreachable = add_token(model, "abc");
  EXPECT_EQ(make(model)->encode("abc"), (Ids{id_of(model, "ab"), 'c'}));
  model.whole_piece_first = true;
  EXPECT_EQ(make(model)->encode("abc"), Ids{unreachable});
  EXPECT_EQ(make(model)->encode("abcabc abc"),
            (Ids{id_of(model, "ab"), 'c', id_of(model, "ab"), 'c', ' ', id_of(model, "ab"), 'c'}));
}

TEST(Bpe, ACharacterThatIsATokenIsNotOneInsideAPieceThatMergesElsewise) {
  // 好 is a token no merge makes: alone it is whole, between others it is bytes.
  BpeModel model = bytes_only();
  const int32_t hao = add_token(model, "好");
  model.whole_piece_first = true;
  const auto tokenizer = make(model);
  EXPECT_EQ(tokenizer->encode("好"), Ids{hao});
  EXPECT_EQ(tokenizer->encode("你好你").size(), 9u);
  EXPECT_EQ(tokenizer->encode("好"), Ids{hao});
  EXPECT_EQ(tokenizer->encode("你好你").size(), 9u);
}

TEST(Bpe, RanksMergeWhateverTogetherIsAToken) {
  BpeModel model = bytes_only();
  model.whole_piece_first = true;
  for (const char* token : {"ab", "bc", "abc", "abcd"}) add_token(model, token);
  model.merges = merges_of_ranks(model.tokens, "test");
  EXPECT_EQ(make(model)->encode("abcab"), (Ids{id_of(model, "abc"), id_of(model, "ab")}));
  EXPECT_EQ(make(model)->encode("xbcd"), (Ids{'x', id_of(model, "bc"), 'd'}));
}

// Why one pair for each token is enough: docs/tokenizer.md. Here on tokens that no training would
// give.
TEST(Bpe, ListedMergesOfRanksGiveTheIdsOfRanks) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const RandomStream random(seed, Purpose::Test);
    const uint64_t letters = 1 + seed % 4;
    const auto random_letters = [&](uint64_t at, uint64_t longest) {
      std::string word;
      for (uint64_t i = 0; i < 1 + random.bits(at) % longest; ++i) {
        word += static_cast<char>('a' + random.bits(at + 1 + i) % letters);
      }
      return word;
    };
    BpeModel model = bytes_only();
    model.whole_piece_first = seed % 2 == 0;
    for (uint64_t i = 0; i < 40; ++i) add_token(model, random_letters(i * 100, 8));
    model.merges = merges_of_ranks(model.tokens, "test");
    const auto tokenizer = make(model);
    const EncodingByDefinition definition(model, Merging::Ranks);
    for (uint64_t round = 0; round < 100; ++round) {
      const std::string text = random_letters(100'000 + round * 100, 90);
      ASSERT_EQ(tokenizer->encode(text), definition.encode(text)) << "seed " << seed << " " << text;
    }
  }
}

TEST(Bpe, EncodesAsTheDefinitionSays) {
  const std::vector<std::vector<std::string>> alphabets = {
      {"a", "b", "c"}, {"th", "e", " ", "the"}, {"你", "好", "の", "é", "，"}, nasty_parts()};
  for (uint64_t seed = 0; seed < 24; ++seed) {
    BpeModel model = random_model(seed, 200, alphabets[seed % alphabets.size()]);
    model.split = kAllSplits[seed % std::size(kAllSplits)];
    model.whole_piece_first = seed % 5 >= 3;
    const auto tokenizer = make(model);
    const EncodingByDefinition definition(model);
    const RandomStream random(seed, Purpose::Test);
    const auto& alphabet = alphabets[seed % alphabets.size()];
    for (uint64_t round = 0; round < 60; ++round) {
      std::string text = nasty_text(seed * 100 + round, 1 + round % 40);
      for (uint64_t i = 0; i < round % 50; ++i) {
        text += alphabet[random.bits(round * 64 + i) % alphabet.size()];
      }
      const Ids expected = definition.encode(text);
      ASSERT_EQ(tokenizer->encode(text), expected) << "seed " << seed << " round " << round;
      ASSERT_EQ(tokenizer->encode(text), expected) << "from the caches";
    }
  }
}

TEST(Bpe, AnyBytesComeBack) {
  for (const Split split : kAllSplits) {
    BpeModel model = random_model(1, 300, nasty_parts());
    model.split = split;
    const auto tokenizer = make(model);
    const RandomStream random(7, Purpose::Test);
    for (uint64_t round = 0; round < 300; ++round) {
      std::string text;
      for (uint64_t i = 0; i < round; ++i) {
        text += static_cast<char>(random.bits(round * 1000 + i) >> (i % 3 == 0 ? 24 : 25));
      }
      EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
    }
  }
}

TEST(Bpe, LongPiecesMergeAsTheDefinitionSays) {
  BpeModel model = random_model(3, 100, {"a", "b"});
  model.split = Split::None;
  const auto tokenizer = make(model);
  for (uint64_t seed = 0; seed < 30; ++seed) {
    const RandomStream random(seed, Purpose::Test);
    std::string text;
    for (uint64_t i = 0; i < 50 + 20 * seed; ++i) text += random.bits(i) % 3 == 0 ? 'a' : 'b';
    ASSERT_EQ(tokenizer->encode(text), EncodingByDefinition(model).encode(text)) << seed;
  }
}

TEST(Bpe, LongRunsAreNotQuadratic) {
  BpeModel model = bytes_only();
  for (const std::string part : {"a", "^", "你"}) {
    std::string token = part.substr(0, 1);
    for (size_t i = 1; i < part.size(); ++i) {
      add_merge(model, token, part.substr(i, 1));
      token += part[i];
    }
    for (; token.size() < 64; token += token) add_merge(model, token, token);
  }
  const auto tokenizer = make(model);
  for (const std::string part : {"a", "^", "你", "x", "\xFF", " ", "\n"}) {
    std::string text;
    while (text.size() < 300'000) text += part;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(Bpe, CachesThatOverflowChangeNothing) {
  // Far more different pieces than the caches hold, then the first ones again.
  BpeModel model = random_model(2, 400, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"});
  const auto tokenizer = make(model);
  std::string text;
  for (int64_t i = 0; i < 400'000; ++i) text += " " + std::to_string(i * 7919);
  tokenizer->encode(text);
  const std::string head = text.substr(0, 2000);
  EXPECT_EQ(tokenizer->encode(head), EncodingByDefinition(model).encode(head));
}

TEST(Bpe, ATextThatSpellsASpecialTokenDoesNotBecomeIt) {
  BpeModel model = bytes_only();
  add_special(model, "<|end|>");
  for (const bool whole : {false, true}) {
    model.whole_piece_first = whole;
    for (const Split split : kAllSplits) {
      model.split = split;
      const auto tokenizer = make(model);
      const Ids ids = tokenizer->encode("a<|end|>");
      EXPECT_EQ(ids, (Ids{'a', '<', '|', 'e', 'n', 'd', '|', '>'}));
      EXPECT_EQ(tokenizer->encode("<|end|>").size(), 7u);
      EXPECT_EQ(with_specials(*tokenizer, "a<|end|>b"), (Ids{'a', 256, 'b'}));
      EXPECT_EQ(tokenizer->decode(Ids{'a', 256, 'b'}), "ab");
    }
  }
}

TEST(Bpe, AddedTokensThatAreNotSpecialAreFoundInText) {
  BpeModel model = bytes_only();
  for (const char* token : {"  ", "    ", "|||X|||"}) add_special(model, token, false);
  const auto tokenizer = make(model);
  EXPECT_EQ(tokenizer->encode("a     b|||X|||"), (Ids{'a', 257, ' ', 'b', 258}));
  EXPECT_EQ(tokenizer->decode(Ids{257, 258}), "    |||X|||");
}

TEST(Bpe, AddedTokensTakeSpacesAndNeedWordsAsTheySay) {
  BpeModel model = bytes_only();
  add_special(model, "<m>");
  const auto ids = [&](std::string_view text) { return with_specials(*make(model), text); };
  model.added[0].lstrip = true;
  EXPECT_EQ(ids("a \u3000<m> b"), (Ids{'a', 256, ' ', 'b'}));
  EXPECT_EQ(ids(" <m> <m>"), (Ids{256, 256}));
  model.added[0].lstrip = false;
  model.added[0].rstrip = true;
  EXPECT_EQ(ids("a <m> \n b"), (Ids{'a', ' ', 256, 'b'}));
  model.added[0].rstrip = false;
  model.added[0].single_word = true;
  EXPECT_EQ(ids("a <m>.<m>"), (Ids{'a', ' ', 256, '.', 256}));
  EXPECT_EQ(ids("é<m>").size(), 5u);
  EXPECT_EQ(ids("<m>_").size(), 4u);
}

TEST(Bpe, NfcComesBeforeTheTokensThatAreLookedForInNormalText) {
  BpeModel model = bytes_only();
  model.nfc = true;
  add_special(model, "e\u0301!", false);  // matched as é!
  model.added[0].normalized = true;
  add_special(model, "E\u0301!", false);  // matched as it stands
  const auto tokenizer = make(model);
  EXPECT_EQ(tokenizer->encode("\u00E9!"), Ids{256});
  EXPECT_EQ(tokenizer->encode("e\u0301!"), Ids{256});
  EXPECT_EQ(tokenizer->encode("E\u0301!"), Ids{257});
  EXPECT_EQ(tokenizer->encode("\u00C9!"), (Ids{0xC3, 0x89, '!'}));
  EXPECT_EQ(tokenizer->encode("xe\u0301"), (Ids{'x', 0xC3, 0xA9}));
}

TEST(Bpe, ThreadsGiveTheSameIds) {
  const BpeModel model = random_model(5, 400, nasty_parts());
  const auto tokenizer = make(model);
  std::string text;
  for (uint64_t seed = 0; text.size() < 3'000'000; ++seed) text += nasty_text(seed, 1000);
  const Ids expected = tokenizer->encode(text);
  for (const int threads : {1, 2, 8}) {
    ThreadPool pool(threads);
    Ids ids{-7};
    tokenizer->encode_parallel(text, pool, ids);
    ids.erase(ids.begin());
    EXPECT_EQ(ids, expected) << threads;
  }
  std::vector<std::thread> users;
  std::array<Ids, 4> of_user;
  for (Ids& ids : of_user) users.emplace_back([&] { ids = tokenizer->encode(text); });
  for (std::thread& user : users) user.join();
  for (const Ids& ids : of_user) EXPECT_EQ(ids, expected);
}

TEST(Bpe, ParallelEncodingCutsNoAddedTokenAndNoNormalForm) {
  BpeModel model = random_model(6, 100, {"e", "\u0301", "a", " "});
  model.nfc = true;
  add_special(model, "a a a a", false);
  const auto tokenizer = make(model);
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += i % 5 == 0 ? "e\u0301" : i % 7 == 0 ? "aa " : "a ";
  ThreadPool pool(2);
  Ids ids;
  tokenizer->encode_parallel(text, pool, ids);
  EXPECT_EQ(ids, tokenizer->encode(text));
}

TEST(Bpe, EverySafeCutGivesTheIdsOfTheWhole) {
  for (const Split split : kAllSplits) {
    BpeModel model = random_model(8, 300, nasty_parts());
    model.split = split;
    const auto tokenizer = make(model);
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const std::string text = nasty_text(seed, 25);
      const Ids whole = tokenizer->encode(text);
      for (size_t limit = 1; limit < text.size(); ++limit) {
        const size_t cut = safe_cut(split, text, limit);
        Ids parts = tokenizer->encode(text.substr(0, cut));
        tokenizer->encode(text.substr(cut), parts);
        ASSERT_EQ(parts, whole) << name_of(split) << " seed " << seed << " cut " << cut;
      }
    }
  }
}

TEST(Bpe, AByteWithoutATokenIsRefusedWhenATextHasIt) {
  BpeModel model = bytes_only();
  model.tokens[0xFF].clear();
  const auto tokenizer = make(model);
  EXPECT_EQ(tokenizer->encode("ok").size(), 2u);
  try {
    tokenizer->encode("\xFF");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    EXPECT_NE(std::string(error.what()).find("0xFF"), std::string::npos);
  }
}

TEST(Bpe, RefusesModelsThatContradictThemselves) {
  const auto refused = [](const BpeModel& model) {
    try {
      make(model);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
      return true;
    }
    return false;
  };
  BpeModel twice = bytes_only();
  twice.tokens.emplace_back("a");
  EXPECT_TRUE(refused(twice));
  BpeModel wrong = bytes_only();
  wrong.tokens.emplace_back("ab");
  wrong.merges = {{'a', 'c', 256}};
  EXPECT_TRUE(refused(wrong));
  wrong.merges = {{'a', 'b', 257}};
  EXPECT_TRUE(refused(wrong));
  BpeModel far = bytes_only();
  add_special(far, "<s>");
  far.added[0].id = 1000;
  EXPECT_TRUE(refused(far));
  EXPECT_FALSE(refused(bytes_only()));
}

TEST(Bpe, DecodeRefusesIdsOutsideTheVocabulary) {
  const auto tokenizer = make(bytes_only());
  EXPECT_THROW(tokenizer->decode(256), Error);
  EXPECT_THROW(tokenizer->decode(-1), Error);
  EXPECT_THROW(tokenizer->decode(Ids{1, 300}), Error);
}

}  // namespace
}  // namespace ingot
