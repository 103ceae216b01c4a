#include "tokenizer/train/bpe_trainer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "core/error/error.h"
#include "core/random/random.h"
#include "support/source_path.h"
#include "tokenizer/bpe/split.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using Words = std::map<std::string, int64_t>;
using Merges = std::vector<TokenMerge>;

std::vector<PieceCount> pieces_of(const Words& words) {
  std::vector<PieceCount> pieces;
  for (const auto& [word, count] : words) pieces.push_back({word, count});
  return pieces;
}

NextDocument stream_of(std::vector<std::string> documents) {
  auto at = std::make_shared<size_t>(0);
  return [documents = std::move(documents), at](std::string& document) {
    if (*at == documents.size()) return false;
    document = documents[(*at)++];
    return true;
  };
}

// Ends a piece before every space and at the end.
void split_at_spaces(std::string_view text, std::vector<uint32_t>& ends) {
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] == ' ') ends.push_back(static_cast<uint32_t>(i));
  }
  if (!text.empty()) ends.push_back(static_cast<uint32_t>(text.size()));
}

TrainedBpe train_documents(const std::vector<std::string>& documents,
                           const BpeTrainerOptions& options, int threads = 1) {
  ThreadPool pool(threads);
  return train_bpe(stream_of(documents), split_at_spaces, options, pool);
}

BpeModel train_words(const Words& words, const BpeTrainerOptions& options) {
  return train_bpe(pieces_of(words), options);
}

BpeTrainerOptions options_of(Ties ties, int64_t vocab_size) {
  BpeTrainerOptions options;
  options.ties = ties;
  options.vocab_size = vocab_size;
  return options;
}

// The definition: count all pairs anew before every merge.
Merges merges_by_definition(const Words& words, const std::vector<std::string>& tokens,
                            const BpeTrainerOptions& options, size_t first_merged) {
  std::map<std::string, int32_t> byte_ids;
  std::vector<int64_t> length(first_merged, 1);
  for (size_t id = 0; id < first_merged; ++id) {
    if (tokens[id].size() == 1) byte_ids[tokens[id]] = static_cast<int32_t>(id);
  }
  std::vector<std::pair<std::vector<int32_t>, int64_t>> texts;
  for (const auto& [word, count] : words) {
    std::vector<int32_t> ids;
    for (const char byte : word) ids.push_back(byte_ids[std::string(1, byte)]);
    texts.emplace_back(ids, count);
  }
  Merges merges;
  while (static_cast<int64_t>(length.size()) < options.vocab_size) {
    std::map<std::pair<int32_t, int32_t>, int64_t> counts;
    for (const auto& [ids, count] : texts) {
      for (size_t i = 0; i + 1 < ids.size(); ++i) {
        const int64_t joint = length[ids[i]] + length[ids[i + 1]];
        const bool allowed = options.max_token_length == 0 || joint < options.max_token_length;
        if (allowed || joint == 2) counts[{ids[i], ids[i + 1]}] += count;
      }
    }
    std::pair<int32_t, int32_t> best;
    int64_t best_count = 0;
    for (const auto& [pair, count] : counts) {
      if (count > best_count) {  // the map is sorted: of equal counts the smallest pair stays
        best = pair;
        best_count = count;
      }
    }
    if (best_count < std::max<int64_t>(options.min_frequency, 1)) break;
    const auto id = static_cast<int32_t>(length.size());
    merges.push_back({best.first, best.second, id});
    length.push_back(length[best.first] + length[best.second]);
    for (auto& [ids, count] : texts) {
      std::vector<int32_t> merged;
      for (size_t i = 0; i < ids.size(); ++i) {
        const bool pair = i + 1 < ids.size() && ids[i] == best.first && ids[i + 1] == best.second;
        merged.push_back(pair ? id : ids[i]);
        if (pair) ++i;
      }
      ids = merged;
    }
  }
  return merges;
}

std::string random_word(const RandomStream& random, uint64_t seed, size_t longest,
                        std::string_view alphabet) {
  std::string word;
  const size_t size = 1 + random.bits(seed * 1000) % longest;
  for (size_t i = 1; i <= size; ++i)
    word += alphabet[random.bits(seed * 1000 + i) % alphabet.size()];
  return word;
}

TEST(BpeTrainer, LearnsTheMergesOfHuggingFacesOwnTest) {
  BpeTrainerOptions options = options_of(Ties::Hf, 1000);
  options.min_frequency = 2;
  const auto trained = train_words({{"roses", 1},
                                    {"are", 2},
                                    {"red", 1},
                                    {"voilets", 1},
                                    {"blue", 1},
                                    {"BERT", 1},
                                    {"is", 2},
                                    {"big", 1},
                                    {"and", 1},
                                    {"so", 1},
                                    {"GPT-2", 1}},
                                   options);
  EXPECT_EQ(std::vector<std::string>(trained.tokens.begin() + 256, trained.tokens.end()),
            (std::vector<std::string>{"re", "are", "is"}));
}

TEST(BpeTrainer, RawIdsAreBytesThenMerges) {
  const Words words{{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}};
  EXPECT_EQ(train_words(words, options_of(Ties::Raw, 266)).merges, (Merges{{101, 115, 256},
                                                                           {256, 116, 257},
                                                                           {108, 111, 258},
                                                                           {258, 119, 259},
                                                                           {101, 119, 260},
                                                                           {110, 260, 261},
                                                                           {261, 257, 262},
                                                                           {100, 257, 263},
                                                                           {105, 263, 264},
                                                                           {119, 264, 265}}));
}

TEST(BpeTrainer, OverlappingPairsCount) {
  const Words words{{"hello", 1}, {"hallo", 1}, {"aaaa", 2}, {"aaa", 1}};
  EXPECT_EQ(train_words(words, options_of(Ties::Raw, 300)).merges, (Merges{{97, 97, 256},
                                                                           {108, 108, 257},
                                                                           {256, 256, 258},
                                                                           {257, 111, 259},
                                                                           {97, 259, 260},
                                                                           {101, 259, 261},
                                                                           {104, 260, 262},
                                                                           {104, 261, 263},
                                                                           {256, 97, 264}}));
}

TEST(BpeTrainer, LearnsWhatTheDefinitionSays) {
  const RandomStream random(5, Purpose::Test);
  for (uint64_t seed = 0; seed < 120; ++seed) {
    const std::string_view alphabet =
        std::array<std::string_view, 3>{"ab", "aab ", "abc\xE9"}[seed % 3];
    const size_t longest = std::array<size_t, 3>{5, 14, 40}[seed / 3 % 3];
    Words words;
    for (uint64_t i = 0; i < 2 + seed % 20; ++i) {
      words[random_word(random, seed * 100 + i, longest, alphabet)] +=
          1 + random.bits(seed + i) % 4;
    }
    BpeTrainerOptions options = options_of(seed % 2 == 0 ? Ties::Hf : Ties::Raw, 1000);
    options.min_frequency = static_cast<int64_t>(seed % 4);
    options.max_token_length = seed % 5 == 0 ? 6 : 0;
    const auto trained = train_words(words, options);
    ASSERT_EQ(trained.merges, merges_by_definition(words, trained.tokens, options, 256)) << seed;
  }
}

TEST(BpeTrainer, NoTwoTokensHaveTheSameBytes) {
  const RandomStream random(6, Purpose::Test);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Words words;
    for (uint64_t i = 0; i < 30; ++i) ++words[random_word(random, seed * 100 + i, 60, "aab")];
    const auto trained = train_words(words, options_of(Ties::Raw, 100000));
    const std::set<std::string> different(trained.tokens.begin(), trained.tokens.end());
    EXPECT_EQ(different.size(), trained.tokens.size());
    for (const TokenMerge& merge : trained.merges) {
      EXPECT_EQ(trained.tokens[merge.result],
                trained.tokens[merge.left] + trained.tokens[merge.right]);
    }
  }
}

TEST(BpeTrainer, TiesFollowTheNumbering) {
  // "!x" and " y" are equally frequent. In GPT-2's alphabet a space comes after all printable
  // characters, among bytes it comes before them.
  const Words words{{"!x", 3}, {" y", 3}};
  EXPECT_EQ(train_words(words, options_of(Ties::Hf, 257)).tokens.back(), "!x");
  EXPECT_EQ(train_words(words, options_of(Ties::Raw, 257)).tokens.back(), " y");
}

TEST(BpeTrainer, HfNumbersBytesAsGpt2Does) {
  const auto tokens = train_words({{"a", 1}}, options_of(Ties::Hf, 256)).tokens;
  EXPECT_EQ(tokens[0], "!");
  EXPECT_EQ(tokens[64], "a");
  EXPECT_EQ(tokens[94], "\xA1");
  EXPECT_EQ(tokens[187], "\xFF");
  EXPECT_EQ(tokens[188], std::string(1, '\0'));
  EXPECT_EQ(tokens[198], "\n");
  EXPECT_EQ(tokens[220], " ");
  EXPECT_EQ(tokens[221], "\x7F");
  EXPECT_EQ(tokens[255], "\xAD");
}

TEST(BpeTrainer, SpecialTokensComeFirstOrLast) {
  BpeTrainerOptions options = options_of(Ties::Hf, 260);
  options.special_tokens = {"<|end|>", "<|pad|>"};
  const Words words{{"abab", 3}, {"cd", 1}};
  const auto hf = train_words(words, options);
  EXPECT_EQ(hf.tokens.size(), 260u);
  EXPECT_EQ(hf.added[0].id, 0);
  EXPECT_EQ(hf.added[1].id, 1);
  EXPECT_EQ(hf.tokens[1], "<|pad|>");
  EXPECT_EQ(hf.merges, (Merges{{66, 67, 258}, {258, 258, 259}}));
  options.ties = Ties::Raw;
  const auto raw = train_words(words, options);
  EXPECT_EQ(raw.tokens.size(), 260u);
  EXPECT_EQ(raw.added[0].id, 258);
  EXPECT_EQ(raw.added[1].id, 259);
  EXPECT_EQ(raw.tokens[259], "<|pad|>");
  EXPECT_EQ(raw.merges, (Merges{{97, 98, 256}, {256, 256, 257}}));
}

TEST(BpeTrainer, TextThatSpellsASpecialTokenDoesNotMergeIntoIt) {
  BpeTrainerOptions options = options_of(Ties::Hf, 1000);
  options.special_tokens = {"<end>"};
  const auto trained = train_words({{"<end>", 100}, {"x<end>", 1}}, options);
  EXPECT_EQ(std::count(trained.tokens.begin(), trained.tokens.end(), "<end>"), 1);
  for (const TokenMerge& merge : trained.merges) EXPECT_NE(trained.tokens[merge.result], "<end>");
}

TEST(BpeTrainer, CountsBeyond32BitsDoNotOverflow) {
  const int64_t many = int64_t{3} << 40;
  EXPECT_EQ(
      train_words({{"ab", many}, {"bc", many + 1}, {"xy", 5}}, options_of(Ties::Raw, 259)).merges,
      (Merges{{98, 99, 256}, {97, 98, 257}, {120, 121, 258}}));
  EXPECT_THROW(train_words({{"ab", INT64_MAX}}, options_of(Ties::Raw, 259)), Error);
  EXPECT_THROW(train_words({{"ab", 0}}, options_of(Ties::Raw, 259)), Error);
}

TEST(BpeTrainer, ThreadsAndOrderOfDocumentsDoNotMatter) {
  const RandomStream random(8, Purpose::Test);
  std::vector<std::string> documents;
  for (uint64_t d = 0; d < 300; ++d) {
    std::string text;
    for (uint64_t i = 0; i < 200; ++i) {
      text += " " + random_word(random, d * 300 + i, i % 10 == 0 ? 30 : 7, "abcdefgh");
    }
    // More than a thread takes at a time, so that there is something to share.
    documents.push_back(text + (d % 50 == 0 ? std::string(600'000, ' ') : ""));
  }
  const auto one = train_documents(documents, options_of(Ties::Hf, 2000), 1);
  std::reverse(documents.begin(), documents.end());
  for (const int threads : {2, 3, 8}) {
    const auto other = train_documents(documents, options_of(Ties::Hf, 2000), threads);
    EXPECT_EQ(one.model.merges, other.model.merges);
    EXPECT_EQ(one.model.tokens, other.model.tokens);
    EXPECT_EQ(one.characters, other.characters);
    EXPECT_EQ(one.pieces, other.pieces);
    EXPECT_EQ(one.distinct_pieces, other.distinct_pieces);
  }
}

TEST(BpeTrainer, SaysWhatItWasTrainedOn) {
  const auto trained = train_documents({"é b b", "", "b"}, options_of(Ties::Raw, 300));
  EXPECT_EQ(trained.documents, 3);
  EXPECT_EQ(trained.characters, 6);
  EXPECT_EQ(trained.bytes, 7);
  EXPECT_EQ(trained.pieces, 4);
  EXPECT_EQ(trained.distinct_pieces, 3);
}

TEST(BpeTrainer, TheVocabularyEndsWhenNoPairIsLeft) {
  EXPECT_EQ(train_documents({"ab", "abc"}, options_of(Ties::Raw, 100000)).model.tokens.size(),
            258u);
  EXPECT_EQ(train_documents(std::vector<std::string>{}, options_of(Ties::Raw, 1 << 30))
                .model.tokens.size(),
            256u);
}

TEST(BpeTrainer, LongPiecesCostNoMoreThanShortOnes) {
  // One piece of a million bytes: a trainer that reads it anew for each merge takes hours.
  const RandomStream random(9, Purpose::Test);
  std::string noise;
  for (uint64_t i = 0; i < 1'000'000; ++i) noise += static_cast<char>('a' + random.bits(i) % 26);
  const auto trained =
      train_documents({noise, std::string(1'000'000, 'z')}, options_of(Ties::Raw, 20000));
  EXPECT_EQ(trained.model.tokens.size(), 20000u);
  EXPECT_EQ(trained.model.tokens[257].substr(0, 4), "zzzz");
}

TEST(BpeTrainer, RefusesOptionsThatContradictEachOther) {
  BpeTrainerOptions options = options_of(Ties::Hf, 256);
  options.special_tokens = {"<end>"};
  EXPECT_THROW(train_words({{"ab", 1}}, options), Error);
  options.vocab_size = 300;
  EXPECT_NO_THROW(train_words({{"ab", 1}}, options));
  options.special_tokens = {"<end>", "<end>"};
  EXPECT_THROW(train_words({{"ab", 1}}, options), Error);
  options.special_tokens = {"x"};
  EXPECT_THROW(train_words({{"ab", 1}}, options), Error);
}

TEST(BpeTrainer, AFailingStreamEndsTheTraining) {
  ThreadPool pool(4);
  int calls = 0;
  const NextDocument next = [&](std::string& document) -> bool {
    document = std::string(2'000'000, 'a');
    if (++calls == 3) throw Error(ErrorCode::Data, "the file is broken");
    return true;
  };
  EXPECT_THROW(train_bpe(next, split_at_spaces, options_of(Ties::Hf, 300), pool), Error);
  EXPECT_EQ(calls, 3);
}

std::vector<std::string> sample(const std::vector<std::string>& documents, SampleLimit limit) {
  const DocumentSample drawn(stream_of(documents), limit);
  const NextDocument next = drawn.of(stream_of(documents));
  std::vector<std::string> taken;
  for (std::string document; next(document);) taken.push_back(document);
  return taken;
}

std::vector<std::string> numbered_documents(int count) {
  std::vector<std::string> documents;
  for (int i = 0; i < count; ++i) documents.push_back(fmt::format("{:04}", i));
  return documents;
}

TEST(DocumentSample, IsDrawnOverTheWholeStreamAndBySeed) {
  const auto documents = numbered_documents(1000);
  const auto taken = sample(documents, {.documents = 100});
  ASSERT_EQ(taken.size(), 100u);
  EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
  const auto half = std::lower_bound(taken.begin(), taken.end(), "0500") - taken.begin();
  EXPECT_GT(half, 30);
  EXPECT_LT(half, 70);
  EXPECT_EQ(sample(documents, {.documents = 100}), taken);
  EXPECT_NE(sample(documents, {.documents = 100, .seed = 1}), taken);
  EXPECT_EQ(sample(documents, {.documents = 5000}), documents);
}

TEST(DocumentSample, EndsAtTheLimitThatIsReachedFirst) {
  const auto documents = numbered_documents(1000);
  const auto characters = [](const std::vector<std::string>& parts) {
    int64_t sum = 0;
    for (const std::string& part : parts) sum += count_characters(part);
    return sum;
  };
  EXPECT_EQ(characters(sample(documents, {.documents = 10, .characters = 1000})), 40);
  EXPECT_EQ(characters(sample(documents, {.documents = 500, .characters = 101})), 101);
  EXPECT_EQ(characters(sample(documents, {.characters = 33})), 33);
  EXPECT_EQ(sample({"añb"}, {.characters = 2}), std::vector<std::string>{"añ"});
}

TEST(DocumentSample, OfCharactersComesFromAllOverALongDocument) {
  std::string document;
  for (int i = 0; i < 100'000; ++i) document += fmt::format("{:06}\n", i);
  int lower = 0, upper = 0;
  for (const std::string& part : sample({document}, {.characters = 200'000})) {
    (part < "050000" ? lower : upper) += 1;
  }
  EXPECT_GT(lower, 10);
  EXPECT_GT(upper, 10);
}

std::vector<std::string> documents_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> documents;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    documents.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return documents;
}

TEST(BpeTrainer, LearnsTheMergesThatHuggingFaceLearns) {
  const fs::path text = testing_support::source_path("../shared/data/text");
  if (!fs::exists(text)) GTEST_SKIP() << text << " is absent";
  std::ifstream goldens(testing_support::source_path("tests/golden/tokenizer/bpe_trainer.txt"));
  std::string corpus, hash;
  BpeTrainerOptions options;
  options.special_tokens = {"<|endoftext|>"};
  size_t num_merges = 0;
  int num_cases = 0;
  ThreadPool pool(2);
  while (goldens >> corpus >> options.vocab_size >> options.min_frequency >>
         options.max_token_length >> num_merges >> hash) {
    const auto trained = train_bpe(
        stream_of(documents_below(text / corpus)),
        [](std::string_view t, std::vector<uint32_t>& ends) { split_text(Split::Gpt2, t, ends); },
        options, pool);
    static_assert(sizeof(TokenMerge) == 3 * sizeof(int32_t));
    const auto& merges = trained.model.merges;
    EXPECT_EQ(merges.size(), num_merges) << corpus;
    const uint64_t learnt = XXH64(merges.data(), merges.size() * sizeof(TokenMerge), 0);
    EXPECT_EQ(fmt::format("{:016x}", learnt), hash) << corpus;
    ++num_cases;
  }
  EXPECT_EQ(num_cases, 5);
}

}  // namespace
}  // namespace ingot
