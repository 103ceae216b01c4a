#include "ingest/clean/cleaner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "core/storage/storage.h"
#include "ingest/clean/filters/bad_words.h"
#include "ingest/clean/filters/c4.h"
#include "ingest/clean/filters/c4_paragraph.h"
#include "ingest/clean/filters/fineweb.h"
#include "ingest/clean/filters/gopher_quality.h"
#include "ingest/clean/filters/gopher_repetition.h"
#include "ingest/clean/filters/language.h"
#include "ingest/clean/filters/length.h"
#include "ingest/clean/filters/pii.h"
#include "ingest/clean/filters/url.h"
#include "ingest/clean_documents.h"
#include "ingest/clean_punkt.h"
#include "ingest/clean_vectors.h"
#include "ingest/text/normalize.h"
#include "support/files.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::CleanDocuments;
using testing_support::error_of;
using testing_support::numbered_words;
using testing_support::prefix_of;

// A document that every filter of the presets lets pass.
std::string good_text() {
  std::string text;
  for (int i = 0; i < 12; ++i) {
    text += "Of the " + numbered_words(6, prefix_of(i)) + " with " +
            numbered_words(4, prefix_of(i + 20)) + ".\n";
  }
  return text;
}

// Besides Punkt's, files by path.
using Files = std::map<std::string, std::string>;

Cleaner cleaner_of(CleanSettings settings, const Files& files = {}) {
  const auto storage = memory_storage();
  settings.punkt = testing_support::write_punkt(*storage);
  for (const auto& [path, contents] : files) write_file_atomically(*storage, path, contents);
  return {std::move(settings), *storage};
}

Document document(std::string text, std::string url = "") {
  return {"id", "source", std::move(text), std::move(url), ""};
}

std::string outcome(const CleanSettings& settings, Document doc, const Files& files = {}) {
  const Cleaner cleaner = cleaner_of(settings, files);
  const Verdict verdict = CleanWorker(cleaner).clean(doc);
  return verdict.kept() ? "kept" : fmt::format("{} {}", verdict.step, verdict.reason);
}

TEST(Cleaner, PresetsKeepGoodTextAndMaskIt) {
  for (const std::string_view name : kCleanPresets) {
    CleanSettings settings = clean_preset(name);
    settings.of<LanguageSettings>().languages = {"Latn"};  // fineweb-v1's English needs a model
    const Cleaner cleaner = cleaner_of(settings);
    CleanWorker worker(cleaner);
    Document doc = document(good_text() + "Write to a.b@c.de of the numbers with care.\n");
    const Verdict verdict = worker.clean(doc);
    EXPECT_TRUE(verdict.kept()) << name << " " << verdict.step << " " << verdict.reason;
    EXPECT_EQ(doc.text, good_text() + "Write to email@example.com of the numbers with care.");
    EXPECT_EQ(doc.language, "Latn");
    EXPECT_EQ(verdict.lines, (C4LineCounts{13, 0, 0, 0, 0, 0, 13}));
    EXPECT_EQ(worker.counts().pii.emails, 1);
  }
}

TEST(Cleaner, EveryStepCanRemove) {
  const CleanSettings preset = clean_preset("datatrove-0.10");
  EXPECT_EQ(outcome(preset, document(good_text())), "kept");
  EXPECT_EQ(outcome(preset, document("")), "input empty");
  EXPECT_EQ(outcome(preset, document("caf\xE9")), "input invalid_utf8");
  EXPECT_EQ(outcome(preset, document("123 ...")), "language language");
  EXPECT_EQ(outcome(preset, document(good_text() + good_text())),
            "gopher_repetition dup_line_frac");
  EXPECT_EQ(outcome(preset, document(numbered_words(40))), "gopher_quality gopher_short_doc");
  EXPECT_EQ(outcome(preset, document(good_text() + "a { b c d")), "c4 curly_bracket");

  CleanSettings small = preset;
  small.max_document_bytes = 10;
  EXPECT_EQ(outcome(small, document(good_text())), "input too_large");

  CleanSettings lengths = preset;
  lengths.of<LengthSettings>().enabled = true;
  lengths.of<LengthSettings>().max_words = 10;
  EXPECT_EQ(outcome(lengths, document(good_text())), "length too_many_words");

  CleanSettings paragraphs = preset;
  paragraphs.of<C4ParagraphSettings>().enabled = true;
  EXPECT_EQ(outcome(paragraphs, document(good_text())), "c4_paragraph < 3 paragraphs");

  CleanSettings words = preset;
  words.of<BadWordsSettings>().enabled = true;
  words.of<BadWordsSettings>().list = "list";
  EXPECT_EQ(outcome(words, document(good_text()), {{"list", "with\n"}}),
            "bad_words document_removed_with_badwords");

  CleanSettings urls = preset;
  urls.of<UrlSettings>().enabled = true;
  urls.of<UrlSettings>().domains = "domains";
  const Files with_urls{{"domains", "bad.com"}};
  EXPECT_EQ(outcome(urls, document(good_text(), "http://www.bad.com/"), with_urls), "url domain");
  EXPECT_EQ(outcome(urls, document(good_text(), "http://good.com/"), with_urls), "kept");
}

TEST(Cleaner, FinewebSeesTheRewrittenText) {
  // C4 drops the lines of one word, which are more than two thirds.
  CleanSettings settings = clean_preset("datatrove-0.10");
  settings.of<GopherRepetitionSettings>().enabled = settings.of<GopherQualitySettings>().enabled =
      false;
  std::string list = good_text();
  for (int i = 0; i < 50; ++i) list += "word" + std::to_string(i) + "\n";
  EXPECT_EQ(outcome(settings, document(list)), "kept");
  settings.of<C4Settings>().enabled = false;
  EXPECT_EQ(outcome(settings, document(list)), "fineweb short_line_ratio");
}

TEST(Cleaner, EveryFilterHasANameAndADocLineOfItsOwn) {
  std::set<std::string_view> names, docs;
  for (const OwnedFilterSettings& filter : all_filters()) {
    EXPECT_TRUE(names.insert(filter->name()).second) << filter->name();
    EXPECT_TRUE(docs.insert(filter->doc()).second) << filter->name();
  }
  EXPECT_GE(names.size(), 10u);
}

TEST(Cleaner, ARemovedDocumentKeepsItsText) {
  CleanSettings settings = clean_preset("datatrove-0.10");
  settings.of<FinewebSettings>().min_terminal_lines = 1;
  const Cleaner cleaner = cleaner_of(settings);
  Document doc = document(good_text() + "of the[1] last line with a@b.co");
  const std::string before = doc.text;
  EXPECT_EQ(CleanWorker(cleaner).clean(doc).reason, "line_punct_ratio");
  EXPECT_EQ(doc.text, before);
}

TEST(Cleaner, DocumentsWithoutUrlPassAndAreCounted) {
  CleanSettings settings = clean_preset("datatrove-0.10");
  settings.of<UrlSettings>().enabled = true;
  settings.of<UrlSettings>().domains = "domains";
  const Cleaner cleaner = cleaner_of(settings, {{"domains", "bad.com"}});
  CleanWorker worker(cleaner);
  Document doc = document(good_text());
  EXPECT_TRUE(worker.clean(doc).kept());
  EXPECT_EQ(worker.counts().without_url, 1);
}

TEST(Cleaner, LanguagesAreAskedForByName) {
  CleanSettings settings = clean_preset("fineweb-v1");
  settings.of<LanguageSettings>().languages = {"Latn"};
  settings.of<GopherRepetitionSettings>().enabled = settings.of<GopherQualitySettings>().enabled =
      settings.of<C4Settings>().enabled = settings.of<FinewebSettings>().enabled = false;
  EXPECT_EQ(outcome(settings, document("plain English")), "kept");
  EXPECT_EQ(outcome(settings, document("это по-русски")), "language language");
  settings.of<LanguageSettings>().languages = {"Latn", "Cyrl"};
  EXPECT_EQ(outcome(settings, document("это по-русски")), "kept");
  // Two thirds are enough for a request, though no label may be best; half is not.
  EXPECT_EQ(outcome(settings, document("ab ж")), "kept");
  EXPECT_EQ(outcome(settings, document("ab жя")), "language language");
  settings.of<LanguageSettings>().languages = {"klingon"};
  EXPECT_NE(error_of(ErrorCode::Config, [&] { cleaner_of(settings); }).find("klingon"),
            std::string::npos);
}

TEST(Cleaner, SettingsThatMakeNoSenseAreRefused) {
  EXPECT_NE(error_of(ErrorCode::Config, [] { clean_preset("fineweb"); }).find("fineweb-v1"),
            std::string::npos);
  const auto message = [](auto change) {
    CleanSettings settings = clean_preset("datatrove-0.10");
    change(settings);
    return error_of(ErrorCode::Config, [&] { cleaner_of(settings); });
  };
  message([](CleanSettings& s) { s.splitter = "spacy"; });
  message([](CleanSettings& s) { s.of<LanguageSettings>().min_score = 1.5; });
  message([](CleanSettings& s) { s.of<GopherRepetitionSettings>().dup_n_grams = {{11, 0.1}}; });
  message([](CleanSettings& s) { s.of<GopherQualitySettings>().min_words = 200'000; });
  message([](CleanSettings& s) { s.of<C4Settings>().min_sentences = -2; });
  message([](CleanSettings& s) { s.max_document_bytes = 0; });
  EXPECT_NE(
      message([](CleanSettings& s) { s.of<BadWordsSettings>().enabled = true; }).find("bad_words"),
      std::string::npos);
}

TEST(Cleaner, CountsAddUpWhoeverDidTheWork) {
  const Cleaner cleaner = cleaner_of(clean_preset("datatrove-0.10"));
  std::vector<Document> documents;
  for (int i = 0; i < 200; ++i) {
    documents.push_back(document(i % 3 == 0   ? good_text()
                                 : i % 3 == 1 ? "too short a text"
                                              : "{ a b c\n" + good_text()));
  }
  const auto total = [&](size_t num_threads) {
    std::vector<CleanCounts> counts(num_threads);
    std::vector<std::thread> threads;
    for (size_t t = 0; t < num_threads; ++t) {
      threads.emplace_back([&, t] {
        CleanWorker worker(cleaner);
        for (size_t i = t; i < documents.size(); i += num_threads) {
          Document doc = documents[i];
          worker.clean(doc);
        }
        counts[t] = worker.counts();
      });
    }
    for (auto& thread : threads) thread.join();
    CleanCounts sum;
    for (const CleanCounts& part : counts) sum += part;
    return sum;
  };
  const CleanCounts one = total(1), three = total(3);
  EXPECT_EQ(one.documents, 200);
  EXPECT_EQ(one.kept, 67);
  EXPECT_EQ(one.removed, (std::map<std::string, int64_t>{{"c4 curly_bracket", 66},
                                                         {"gopher_repetition top_2_gram", 67}}));
  EXPECT_EQ(three.removed, one.removed);
  EXPECT_EQ(three.kept, one.kept);
  EXPECT_EQ(three.bytes_in, one.bytes_in);
  EXPECT_EQ(three.bytes_kept, one.bytes_kept);
  EXPECT_EQ(three.lines, one.lines);
}

// Hashes as tools/clean_reference.py takes them.
class Digest {
 public:
  void add(std::string_view reason, std::string_view text) {
    bytes_ += reason;
    bytes_ += '\n';
    bytes_ += text;
    bytes_ += '\n';
  }
  std::string str() const {
    return fmt::format("{:08x}", XXH64(bytes_.data(), bytes_.size(), 0) & 0xFFFFFFFF);
  }

 private:
  std::string bytes_;
};

// The recipe, and each filter alone on the text as it came.
std::string digest_of(const std::vector<CleanSettings>& runs, const std::string& text) {
  Digest digest;
  for (const CleanSettings& settings : runs) {
    static std::map<std::string, std::unique_ptr<Cleaner>>
        cleaners;  // building one takes longer than cleaning
    auto& cleaner = cleaners[fmt::format("{} {} {}", settings.preset, settings.splitter,
                                         &settings - runs.data())];
    if (cleaner == nullptr) cleaner = std::make_unique<Cleaner>(cleaner_of(settings));
    Document doc = document(text);
    const Verdict verdict = CleanWorker(*cleaner).clean(doc);
    digest.add(verdict.reason, doc.text);
  }
  return digest.str();
}

std::vector<CleanSettings> runs_of(const std::string& column) {
  CleanSettings recipe = clean_preset(column.substr(0, column.find('/')));
  recipe.splitter = column.substr(column.find('/') + 1);
  recipe.of<LanguageSettings>().enabled = false;
  CleanSettings none = recipe;
  none.of<GopherRepetitionSettings>().enabled = none.of<GopherQualitySettings>().enabled =
      none.of<C4Settings>().enabled = none.of<FinewebSettings>().enabled = false;
  none.of<PiiSettings>().masks_emails = none.of<PiiSettings>().masks_ips = false;
  std::vector<CleanSettings> runs{recipe, none, none, none, none, none, none};
  runs[1].of<GopherRepetitionSettings>().enabled = true;
  runs[2].of<GopherQualitySettings>().enabled = true;
  runs[3].of<C4Settings>().enabled = runs[3].of<C4Settings>().needs_terminal_mark = true;
  runs[4].of<C4Settings>().enabled = runs[4].of<C4Settings>().by_sentence = true;
  runs[5].of<C4ParagraphSettings>().enabled = true;
  runs[6].of<FinewebSettings>().enabled = true;
  return runs;
}

// 1,337 documents and half as many worn ones: reasons and texts of the recipe and of every filter
// alone, with four pairs of version and splitter, equal those of a plain Python implementation.
TEST(Cleaner, AgreesWithAnIndependentImplementation) {
  const std::string data = testing_support::source_path("../shared/data");
  if (!std::filesystem::exists(data)) GTEST_SKIP() << data << " is absent";
  const CleanDocuments documents(data);
  std::ifstream golden(testing_support::source_path("tests/golden/data/clean.txt"));
  std::string line, word;
  std::getline(golden, line);  // of every character: clean_text_test.cpp
  std::getline(golden, line);
  std::istringstream header(line);
  std::vector<std::string> columns;
  for (header >> word; header >> word && word != "normal-forms";) columns.push_back(word);
  ASSERT_EQ(columns.size(), 4u);
  std::vector<std::vector<CleanSettings>> runs;
  for (const std::string& column : columns) runs.push_back(runs_of(column));

  for (size_t i = 0; i < documents.texts().size(); ++i) {
    const std::string& text = documents.texts()[i];
    ASSERT_TRUE(std::getline(golden, line))
        << "fewer documents expected than " << documents.texts().size();
    std::istringstream expected(line);
    Digest plain;
    plain.add("", text);
    expected >> word;
    ASSERT_EQ(plain.str(), word) << "document " << i << " was cut otherwise";
    for (size_t c = 0; c < columns.size(); ++c) {
      expected >> word;
      EXPECT_EQ(digest_of(runs[c], text), word) << "document " << i << ", " << columns[c];
    }
    Digest normal;
    for (const auto form : {text::NormalForm::Datatrove010, text::NormalForm::FinewebV1,
                            text::NormalForm::Datatrove02}) {
      std::string made;
      text::normalize(form, text, made);
      normal.add("", made);
    }
    expected >> word;
    EXPECT_EQ(normal.str(), word) << "document " << i << ", normal forms";
  }
  EXPECT_FALSE(std::getline(golden, line));
}

}  // namespace
}  // namespace ingot
