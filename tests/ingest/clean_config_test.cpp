#include "ingest/clean/clean_config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error/error.h"
#include "ingest/clean/cleaner.h"
#include "ingest/clean/filters/fineweb.h"
#include "ingest/clean/filters/gopher_repetition.h"
#include "ingest/clean/filters/language.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

TEST(CleanConfig, APresetComesFirstWhereverItStands) {
  CleanSettings config =
      parse_clean_config("[fineweb]\nmax_short_lines = 0.5\n", "", {{"preset", "fineweb-v1"}});
  EXPECT_EQ(config.splitter, "nltk-en");
  EXPECT_EQ(config.of<LanguageSettings>().languages, std::vector<std::string>{"en"});
  EXPECT_EQ(config.of<FinewebSettings>().max_short_lines, 0.5);
}

TEST(CleanConfig, ListsAndNGramLimitsAreTextWithSpaces) {
  CleanSettings config = parse_clean_config(
      "[language]\nlanguages = \"en  de\"\n[gopher_repetition]\ntop_n_grams = \"3:0.25\"\n", "",
      {});
  EXPECT_EQ(config.of<LanguageSettings>().languages, (std::vector<std::string>{"en", "de"}));
  ASSERT_EQ(config.of<GopherRepetitionSettings>().top_n_grams.size(), 1u);
  EXPECT_EQ(config.of<GopherRepetitionSettings>().top_n_grams[0].n, 3);
  EXPECT_EQ(config.of<GopherRepetitionSettings>().top_n_grams[0].max_share, 0.25);
}

TEST(CleanConfig, WhatIsPrintedReadsBackToTheSame) {
  for (const std::string_view preset : kCleanPresets) {
    CleanSettings config = parse_clean_config("", "", {{"preset", std::string(preset)}});
    const std::string printed = to_toml(config);
    EXPECT_EQ(to_toml(parse_clean_config(printed, "printed", {})), printed);
  }
}

TEST(CleanConfig, ValuesThatMakeNoSenseAreRefusedByName) {
  const std::pair<const char*, const char*> wrong[] = {
      {"gopher_repetition.top_n_grams", "2"},
      {"gopher_repetition.top_n_grams", "2:x"},
      {"gopher_repetition.dup_n_grams", "5:2"},
      {"gopher_repetition.dup_n_grams", "5:0.1 4:0.1"},
      {"gopher_repetition.dup_n_grams", "99:0.1"},
      {"language.min_score", "2"},
      {"splitter", "none"},
      {"no.such", "1"}};
  for (const auto& [name, value] : wrong) {
    EXPECT_THROW(parse_clean_config("", "", {{name, value}}), Error) << name << " = " << value;
  }
}

TEST(CleanConfig, OptionsOfAFilterThatIsOffAreRefusedUnlessItWasTurnedOffOnPurpose) {
  const std::string tuned = "[c4]\nmin_sentences = 3\n";
  const std::pair<std::string, Overrides> refused[] = {
      {"", {{"url.domains", "list.txt"}}},
      {"[url]\nenabled = false\ndomains = \"list.txt\"\n", {}},  // as --print-config has it
      {"", {{"c4_paragraph.min_paragraphs", "3"}}},
      {"", {{"c4.enabled", "false"}, {"c4.min_sentences", "3"}}},
      {"[c4]\nenabled = false\n", {{"c4.min_sentences", "3"}}}};
  for (const auto& [toml, overrides] : refused) {
    EXPECT_THROW(parse_clean_config(toml, "", overrides), Error) << toml;
  }
  EXPECT_NO_THROW(parse_clean_config(tuned, "", {{"c4.enabled", "false"}}));
  EXPECT_NO_THROW(parse_clean_config(tuned + "enabled = false\n", "", {}));
  EXPECT_NO_THROW(parse_clean_config(tuned, "", {{"preset", "fineweb-v1"}}));
}

TEST(CleanConfig, ThePageOfCleaningListsEveryFilterInOrder) {
  const std::string page =
      read_text(*posix_storage(), testing_support::source_path("docs/ingest-cleaning.md"));
  size_t at = page.find("## Filters");
  for (const OwnedFilterSettings& filter : clean_preset("datatrove-0.10").filters) {
    const std::string row = fmt::format("| `{}` | {} | {} |\n", filter->name(), filter->doc(),
                                        filter->enabled ? "yes" : "no");
    at = page.find(row, at);
    EXPECT_NE(at, std::string::npos) << "expected the row " << row;
  }
}

TEST(CleanConfig, FilesOfEnabledFiltersAreReadAndHashed) {
  const auto storage = memory_storage();
  write_file_atomically(*storage, "bad.txt", "nasty\n");
  const CleanSettings settings =
      parse_clean_config("", "", {{"bad_words.enabled", "true"}, {"bad_words.list", "bad.txt"}});
  const uint64_t first = Cleaner(settings, *storage).files_hash();
  EXPECT_EQ(Cleaner(settings, *storage).files_hash(), first);
  write_file_atomically(*storage, "bad.txt", "nastier\n");
  EXPECT_NE(Cleaner(settings, *storage).files_hash(), first);
  write_file_atomically(*storage, "bad.txt", "caf\xE9\n");  // Latin-1
  EXPECT_THROW(Cleaner(settings, *storage), Error);
  for (const char* enabled : {"true", "false"}) {
    const CleanSettings missing = parse_clean_config(
        "[bad_words]\nenabled = true\nlist = \"no.txt\"\n", "", {{"bad_words.enabled", enabled}});
    const auto build = [&] { Cleaner(missing, *storage); };
    if (enabled == std::string("true")) {
      EXPECT_THROW(build(), Error);
    } else {
      EXPECT_NO_THROW(build());
    }
  }
}

}  // namespace
}  // namespace ingot::test
