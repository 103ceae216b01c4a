#include "tokenizer/sentencepiece/sentencepiece.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#define XXH_STATIC_LINKING_ONLY  // for the state on the stack
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <thread>

#include "core/error/error.h"
#include "core/random/random.h"
#include "support/source_path.h"
#include "tokenizer/sentencepiece_file.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;
using testing_support::SmallModel;
using Ids = std::vector<int32_t>;
using Kind = SentencePieceModel::Kind;

const SentencePieceRules kAsItIs{{}, false, false, true};

std::unique_ptr<Tokenizer> tokenizer_of(const SmallModel& model) {
  return parse_sentencepiece(model.file(), "small");
}

std::string message_of(const std::string& file) {
  try {
    parse_sentencepiece(file, "origin");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    EXPECT_NE(std::string(error.what()).find("origin"), std::string::npos);
    return error.what();
  }
  return "accepted";
}

// ---- What SentencePiece does, step by step over the whole text
// -------------------------------------

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == ' ' ? std::string("▁") : std::string(1, c);
  return result;
}

size_t character_length(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

struct Segment {
  std::string text;
  int32_t id;
};

// Unknown characters to bytes, or a run of them to one id.
Ids ids_of(const std::vector<Segment>& segments, bool byte_fallback) {
  Ids ids;
  bool after_unknown = false;
  for (const auto& [text, id] : segments) {
    if (id == 0 && byte_fallback) {
      for (const char byte : text) ids.push_back(3 + static_cast<uint8_t>(byte));
    } else if (id != 0 || !after_unknown) {
      ids.push_back(id);
    }
    after_unknown = id == 0;
  }
  return ids;
}

Ids unigram_by_definition(const SmallModel& model, std::string_view text) {
  const std::string normalized = escaped(text);
  struct End {
    float score = 0;
    int begin = -1;
    int32_t id = 0;
  };
  std::vector<End> ends(normalized.size() + 1);
  float smallest = std::numeric_limits<float>::max();
  for (const auto& piece : model.pieces) {
    if (piece.type == PieceType::Normal)
      smallest = std::min(smallest, static_cast<float>(piece.score));
  }
  const float unknown_score = smallest - 10.0f;
  size_t farthest = 0;
  for (size_t begin = 0; begin < normalized.size();) {
    const size_t length = character_length(normalized[begin]);
    if (std::abs(ends[begin].score) > 100000.0f) {
      const float offset = ends[begin].score;
      for (size_t i = begin; i <= farthest; ++i) {
        if (i == begin || ends[i].begin >= 0) ends[i].score -= offset;
      }
    }
    const auto offer = [&](size_t end, float score, int32_t id) {
      farthest = std::max(farthest, end);
      const float sum = score + ends[begin].score;
      if (ends[end].begin < 0 || sum > ends[end].score)
        ends[end] = {sum, static_cast<int>(begin), id};
    };
    bool known = false;
    std::map<size_t, int32_t> found;  // by length, the shortest first
    for (size_t i = 0; i < model.pieces.size(); ++i) {
      const auto& piece = model.pieces[i];
      if (piece.type == PieceType::Unused) continue;
      if (std::string_view(normalized).substr(begin).starts_with(piece.text)) {
        found[piece.text.size()] = static_cast<int32_t>(i);
      }
    }
    for (const auto& [size, i] : found) {
      const auto& piece = model.pieces[i];
      const bool user = piece.type == PieceType::UserDefined;
      const auto bonus = static_cast<float>(0.1 * static_cast<double>(size - 1));
      offer(begin + size, user ? bonus : static_cast<float>(piece.score), model.first_piece() + i);
      known = known || size == length;
    }
    if (!known) offer(begin + length, unknown_score, 0);
    begin += length;
  }
  std::vector<Segment> segments;
  for (size_t end = normalized.size(); end > 0; end = static_cast<size_t>(ends[end].begin)) {
    const auto begin = static_cast<size_t>(ends[end].begin);
    segments.push_back({normalized.substr(begin, end - begin), ends[end].id});
  }
  std::reverse(segments.begin(), segments.end());
  return ids_of(segments, model.byte_fallback);
}

Ids bpe_by_definition(const SmallModel& model, std::string_view text) {
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < model.pieces.size(); ++i) index[model.pieces[i].text] = i;
  const std::string normalized = escaped(text);
  struct Symbol {
    std::string text;
    bool frozen;
  };
  std::vector<Symbol> symbols;
  for (size_t begin = 0; begin < normalized.size();) {
    size_t size = 0;
    for (const auto& piece : model.pieces) {
      const bool here = std::string_view(normalized).substr(begin).starts_with(piece.text);
      if (piece.type == PieceType::UserDefined && here) size = std::max(size, piece.text.size());
    }
    const bool frozen = size > 0;
    if (!frozen) size = character_length(normalized[begin]);
    symbols.push_back({normalized.substr(begin, size), frozen});
    begin += size;
  }
  while (true) {
    size_t best = symbols.size();
    float best_score = -std::numeric_limits<float>::infinity();
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = index.find(symbols[i].text + symbols[i + 1].text);
      if (symbols[i].frozen || symbols[i + 1].frozen || found == index.end()) continue;
      if (static_cast<float>(model.pieces[found->second].score) > best_score) {
        best = i;
        best_score = static_cast<float>(model.pieces[found->second].score);
      }
    }
    if (best == symbols.size()) break;
    symbols[best].text += symbols[best + 1].text;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  std::vector<Segment> segments;
  for (const Symbol& symbol : symbols) {
    const auto found = index.find(symbol.text);
    const int32_t id =
        found == index.end() ? 0 : model.first_piece() + static_cast<int32_t>(found->second);
    segments.push_back({symbol.text, id});
  }
  return ids_of(segments, model.byte_fallback);
}

// ---- Random models over few characters, so that pieces compete
// --------------------------------------

const std::vector<std::string> kCharacters{"▁", "a",  "b",  "c",  "1", ".",
                                           "é", "你", "好", "，", "か"};

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed, Purpose::Test) {}
  size_t below(size_t bound) { return random_.bits(next_++) % bound; }

 private:
  RandomStream random_;
  uint64_t next_ = 0;
};

SmallModel random_model(uint64_t seed, Kind kind) {
  Dice dice(seed);
  SmallModel model;
  model.kind = kind;
  model.byte_fallback = seed % 2 == 0;
  model.rules = kAsItIs;
  const size_t alphabet = 3 + dice.below(kCharacters.size() - 2);
  std::set<std::string> texts;
  for (size_t i = 0; i < 10 + dice.below(40); ++i) {
    std::string text;
    for (size_t n = 1 + dice.below(4); n > 0; --n) text += kCharacters[dice.below(alphabet)];
    texts.insert(text);
  }
  const float scale = std::array<float, 3>{0.001f, 1.0f, 40.0f}[seed % 3];
  for (const std::string& text : texts) {
    // Few different scores: sums tie, and rounding decides.
    const float score = -scale * (1.0f + 0.37f * static_cast<float>(dice.below(5)));
    const bool user = seed % 5 == 0 && dice.below(12) == 0;
    model.pieces.push_back({text, score, user ? PieceType::UserDefined : PieceType::Normal});
  }
  return model;
}

std::string random_text(Dice& dice, size_t length) {
  std::string text;
  for (size_t i = 0; i < length; ++i) {
    const size_t which = dice.below(kCharacters.size() + 1);
    text += which == kCharacters.size() ? "😀" : which == 0 ? " " : kCharacters[which];
  }
  return text;
}

TEST(SentencePiece, UnigramEncodesAsTheDefinitionSays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const SmallModel model = random_model(seed, Kind::Unigram);
    const auto tokenizer = tokenizer_of(model);
    Dice dice(seed + 1000);
    for (int round = 0; round < 20; ++round) {
      const std::string text = random_text(dice, dice.below(60));
      ASSERT_EQ(tokenizer->encode(text), unigram_by_definition(model, text)) << seed << " " << text;
    }
  }
}

TEST(SentencePiece, UnigramRoundsAsSentencePieceDoesInLongTexts) {
  // Sums from the beginning of the text reach 100,000 several times, where SentencePiece starts
  // anew; before that their last digits are worth more than the differences between segmentations.
  for (uint64_t seed = 2; seed < 32; seed += 3) {
    const SmallModel model = random_model(seed, Kind::Unigram);
    Dice dice(seed);
    const std::string text = random_text(dice, 12'000);
    ASSERT_EQ(tokenizer_of(model)->encode(text), unigram_by_definition(model, text)) << seed;
  }
}

TEST(SentencePiece, BpeEncodesAsTheDefinitionSays) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    const SmallModel model = random_model(seed, Kind::Bpe);
    const auto tokenizer = tokenizer_of(model);
    Dice dice(seed + 1000);
    for (int round = 0; round < 20; ++round) {
      const std::string text = random_text(dice, dice.below(60));
      ASSERT_EQ(tokenizer->encode(text), bpe_by_definition(model, text)) << seed << " " << text;
    }
  }
}

TEST(SentencePiece, UnusedPiecesAreTakenApart) {
  SmallModel model;
  model.rules = kAsItIs;
  model.pieces = {{"a", -1}, {"b", -1}, {"c", -1}, {"ab", -1}, {"abc", -1, PieceType::Unused}};
  EXPECT_EQ(tokenizer_of(model)->encode("abc"), (Ids{6, 5}));
  model.kind = Kind::Bpe;
  EXPECT_EQ(tokenizer_of(model)->encode("abc"), (Ids{6, 5}));
}

TEST(SentencePiece, SpacesAreCollapsedAndMarked) {
  SmallModel model;
  model.pieces = {{"▁", -1}, {"a", -1}};
  const Ids space_a{3, 4}, a_space{4, 3}, space_a_space_a{3, 4, 3, 4};
  EXPECT_EQ(tokenizer_of(model)->encode("a"), space_a);
  EXPECT_EQ(tokenizer_of(model)->encode("  a "), space_a);
  EXPECT_EQ(tokenizer_of(model)->encode(" a   a "), space_a_space_a);
  EXPECT_EQ(tokenizer_of(model)->encode("a▁"), space_a);  // the mark itself, at the end
  EXPECT_EQ(tokenizer_of(model)->encode("   "), Ids{});
  EXPECT_EQ(tokenizer_of(model)->encode(""), Ids{});
  model.whitespace_is_suffix = true;
  EXPECT_EQ(tokenizer_of(model)->encode(" a"), a_space);
  model.whitespace_is_suffix = false;
  model.rules.add_dummy_prefix = false;
  EXPECT_EQ(tokenizer_of(model)->encode(" a  a"), (Ids{4, 3, 4}));
  model.rules.remove_extra_whitespaces = false;
  EXPECT_EQ(tokenizer_of(model)->encode(" a  a"), (Ids{3, 4, 3, 3, 4}));
  model.rules.escape_whitespaces = false;
  EXPECT_EQ(tokenizer_of(model)->encode(" a▁"), (Ids{0, 4, 3}));
}

TEST(SentencePiece, WhatIsNotUtf8BecomesTheReplacementCharacter) {
  SmallModel model;
  model.rules = kAsItIs;
  model.byte_fallback = true;
  model.pieces = {{"a", -1}};
  const auto tokenizer = tokenizer_of(model);
  const Ids replacement{3 + 0xEF, 3 + 0xBF, 3 + 0xBD};
  EXPECT_EQ(tokenizer->encode("\xC3"), replacement);
  EXPECT_EQ(tokenizer->encode("\xEF\xBF\xBD"), replacement);
  EXPECT_EQ(tokenizer->encode("\xE4\xBD"), tokenizer->encode("\xFF\xFF"));
  EXPECT_EQ(tokenizer->encode(std::string(1, '\0')), Ids{3});
}

TEST(SentencePiece, TextThatSpellsASpecialPieceDoesNotBecomeIt) {
  SmallModel model;
  model.rules = kAsItIs;
  model.byte_fallback = true;
  model.pieces = {{"a", -1}};
  for (const Kind kind : {Kind::Unigram, Kind::Bpe}) {
    model.kind = kind;
    const auto tokenizer = tokenizer_of(model);
    for (const int32_t id : tokenizer->encode("<s></s><unk><0x41>")) EXPECT_GE(id, 3 + 0x2F);
    Ids ids;
    tokenizer->encode_with_specials("a<s>a</s>", ids);
    EXPECT_EQ(ids, (Ids{259, 1, 259, 2}));
  }
}

TEST(SentencePiece, DecodesAsSentencePieceDoes) {
  SmallModel model;
  model.byte_fallback = true;
  model.pieces = {{"▁", -1}, {"▁a", -1}, {"b", -1}};
  const int32_t space = 259, a = 260, b = 261;
  const auto bytes = [](std::initializer_list<int> values) {
    Ids ids;
    for (const int value : values) ids.push_back(3 + value);
    return ids;
  };
  const auto tokenizer = tokenizer_of(model);
  EXPECT_EQ(tokenizer->decode(Ids{a, b, a}), "ab a");
  EXPECT_EQ(tokenizer->decode(Ids{1, space, space, a, b, 2}), "ab");
  EXPECT_EQ(tokenizer->decode(Ids{b, 0, b}), "b ⁇ b");
  EXPECT_EQ(tokenizer->decode(bytes({0xE4, 0xBD, 0xA0})), "你");
  EXPECT_EQ(tokenizer->decode(bytes({0xE4, 0xBD})), "\uFFFD\uFFFD");
  EXPECT_EQ(tokenizer->decode(Ids{3 + 0xE4, b}), "\uFFFDb");
  EXPECT_EQ(tokenizer->decode(a), " a");
  EXPECT_EQ(tokenizer->decode(3 + 0xE4), "\xE4");
  EXPECT_EQ(tokenizer->decode(1), "");
  EXPECT_THROW(tokenizer->decode(262), Error);
  EXPECT_THROW(tokenizer->decode(Ids{-1}), Error);
  model.rules.remove_extra_whitespaces = false;
  EXPECT_EQ(tokenizer_of(model)->decode(Ids{space, space, a}), "  a");
}

TEST(SentencePiece, AThreadSeesWhatAnotherSees) {
  const SmallModel model = random_model(7, Kind::Unigram);
  const auto tokenizer = tokenizer_of(model);
  Dice dice(3);
  std::vector<std::string> texts;
  std::vector<Ids> expected;
  for (int i = 0; i < 200; ++i) {
    texts.push_back(random_text(dice, 50));
    expected.push_back(unigram_by_definition(model, texts.back()));
  }
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < texts.size(); ++i) {
        const size_t which = (i + 50 * t) % texts.size();
        EXPECT_EQ(tokenizer->encode(texts[which]), expected[which]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(SentencePiece, LongRunsAreLinear) {
  SmallModel model;
  model.rules = kAsItIs;
  model.pieces = {{"a", -1}, {"aa", -2.5}, {"aaaa", -3}};
  for (const Kind kind : {Kind::Unigram, Kind::Bpe}) {
    model.kind = kind;
    EXPECT_EQ(tokenizer_of(model)->encode(std::string(1'000'000, 'a')).size(), 250'000u);
  }
}

TEST(SentencePiece, IsLoadedByItsContents) {
  const std::string file = random_model(1, Kind::Bpe).file();
  const auto storage = memory_storage();
  write_file_atomically(*storage, "tokenizer", file);
  const auto tokenizer = load_tokenizer(*storage, "tokenizer");
  EXPECT_EQ(tokenizer->kind(), "sentencepiece");
  EXPECT_EQ(tokenizer->serialize(), file);
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_FALSE(looks_like_sentencepiece(""));
  EXPECT_FALSE(looks_like_sentencepiece("{\"version\": \"1.0\"}"));
  EXPECT_FALSE(looks_like_sentencepiece(file.substr(0, file.size() - 1)));
}

TEST(SentencePiece, EveryTruncationIsRefusedOrEndsBetweenFields) {
  const std::string file = SmallModel{.pieces = {{"a", -1}, {"b", -2}}}.file();
  int accepted = 0;
  for (size_t size = 0; size < file.size(); ++size) {
    accepted += message_of(file.substr(0, size)) == "accepted" ? 1 : 0;
  }
  EXPECT_EQ(accepted, 6);  // after <unk>, <s>, </s>, a, b, and the trainer's part
}

TEST(SentencePiece, RefusesDamagedModels) {
  const auto with = [](const std::vector<SentencePieceModel::Piece>& pieces) {
    return message_of(SmallModel{.pieces = pieces}.file());
  };
  EXPECT_NE(message_of("").find("piece for the unknown"), std::string::npos);
  EXPECT_NE(with({{"a", -1}, {"a", -2}}).find("twice"), std::string::npos);
  EXPECT_NE(with({{"", -1}}).find("bytes of UTF-8"), std::string::npos);
  EXPECT_NE(with({{"\xC3", -1}}).find("bytes of UTF-8"), std::string::npos);
  EXPECT_NE(with({{std::string(1, '\0'), -1}}).find("without NUL"), std::string::npos);
  EXPECT_NE(with({{std::string(8000, 'a'), -1}}).find("bytes of UTF-8"), std::string::npos);
  EXPECT_NE(with({{"a", std::numeric_limits<float>::quiet_NaN()}}).find("finite"),
            std::string::npos);
  EXPECT_NE(with({{"?", 0, PieceType::Unknown}}).find("both stand"), std::string::npos);
  EXPECT_NE(with({{"<0x41>", 0, PieceType::Byte}}).find("byte_fallback"), std::string::npos);
  EXPECT_NE(with({{"a", 0, static_cast<PieceType>(7)}}).find("1 to 6"), std::string::npos);
  const std::string file = SmallModel{}.file();
  EXPECT_NE(message_of(file + WireWriter().bytes(2, WireWriter().varint(3, 3).message()).message())
                .find("unigram"),
            std::string::npos);
  EXPECT_NE(message_of(file + WireWriter().bytes(2, WireWriter().varint(35, 1).message()).message())
                .find("256 byte pieces"),
            std::string::npos);
  for (const std::string& charsmap : {std::string("abc"), std::string("\x00\x04\x00\x00 ", 5)}) {
    SmallModel model;
    model.rules.charsmap = charsmap;
    EXPECT_NE(message_of(model.file()).find("charsmap"), std::string::npos);
  }
}

// ---- Against SentencePiece itself
// ----------------------------------------------------------------

const std::string kShared = testing_support::source_path("../shared/data");
const std::string kTestModel = kShared + "/tokenizers/sentencepiece_test_unigram.model";

TEST(SentencePiece, EncodesThePublishedExamples) {
  if (!fs::exists(kTestModel)) GTEST_SKIP() << kTestModel << " is absent";
  const auto tokenizer = load_tokenizer(*posix_storage(), kTestModel);
  EXPECT_EQ(tokenizer->vocab_size(), 1000);
  EXPECT_EQ(tokenizer->encode("I saw a girl with a telescope."),
            (Ids{9, 459, 11, 939, 44, 11, 4, 142, 82, 8, 28, 21, 132, 6}));
  EXPECT_EQ(tokenizer->encode("This is a test"), (Ids{284, 47, 11, 4, 15, 400}));
  EXPECT_EQ(tokenizer->encode("Hello world"), (Ids{151, 88, 21, 887}));
  EXPECT_EQ(tokenizer->encode("hello 12345 xyz"),
            (Ids{39, 88, 21, 4, 357, 596, 0, 556, 4, 297, 34, 997}));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("I saw a girl with a telescope.")),
            "I saw a girl with a telescope.");
}

TEST(SentencePiece, EncodesAndDecodesAsTheLibraryDoes) {
  if (!fs::exists(kTestModel)) GTEST_SKIP() << kTestModel << " is absent";
  const auto tokenizer = load_tokenizer(*posix_storage(), kTestModel);
  std::ifstream goldens(testing_support::source_path("tests/golden/tokenizer/sentencepiece.txt"));
  std::string corpus, mode, hash;
  size_t num_ids = 0, num_cases = 0;
  while (goldens >> corpus >> mode >> num_ids >> hash) {
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    size_t count = 0;
    std::vector<fs::path> paths;
    for (const auto& entry : fs::recursive_directory_iterator(kShared + "/text/" + corpus)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      std::ifstream file(path, std::ios::binary);
      std::string document;
      while (std::getline(file, document, mode == "lines" ? '\n' : '\0')) {
        const Ids ids = tokenizer->encode(document);
        count += ids.size();
        const std::string text = tokenizer->decode(ids);
        XXH64_update(&state, ids.data(), ids.size() * sizeof(int32_t));
        XXH64_update(&state, text.data(), text.size());
      }
    }
    EXPECT_EQ(count, num_ids) << corpus << " " << mode;
    EXPECT_EQ(fmt::format("{:016x}", XXH64_digest(&state)), hash) << corpus << " " << mode;
    ++num_cases;
  }
  EXPECT_EQ(num_cases, 8u);
}

}  // namespace
}  // namespace ingot
