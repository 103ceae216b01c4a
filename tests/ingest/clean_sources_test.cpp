// What a document's words do not decide: PII, where it came from, its language, listed words.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "ingest/clean/filters/bad_words.h"
#include "ingest/clean/filters/pii.h"
#include "ingest/clean/filters/url.h"
#include "ingest/clean/language/language.h"
#include "support/files.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::error_of;

std::string masked(std::string text, const PiiSettings& settings = {}) {
  mask_pii(settings, text);
  return text;
}

TEST(CleanPii, FollowsItsVectors) {
  EXPECT_EQ(masked("a.b@c.io x@y.z z@w.org"),
            "email@example.com firstname.lastname@example.org email@example.com");
  EXPECT_EQ(
      masked("<Foo+Bar@Ex-ample.CO.uk>, é@ex.com user@localhost a@[8.8.8.8] .a@b.co a..b@c.de"),
      "<email@example.com>, é@ex.com user@localhost firstname.lastname@example.org "
      ".email@example.com a..firstname.lastname@example.org");
  EXPECT_EQ(masked("8.8.8.8 10.0.0.1 1.2.3.4.5 256.1.1.1 1234.5.6.7 08.8.8.8"),
            "22.214.171.124 10.0.0.1 126.96.36.199.5 2188.8.131.52 1184.108.40.206 08.8.8.8");
  EXPECT_EQ(masked("v1.2.3.4.5.6.7.8 100.64.0.1 192.0.2.1 224.0.0.1 0.0.0.0"),
            "v22.214.171.124.126.96.36.199 100.64.0.1 192.0.2.1 188.8.131.52 0.0.0.0");
}

// Against Python's re on the same strings.
TEST(CleanPii, EdgesOfTheEmailPattern) {
  EXPECT_EQ(masked("éa@ex.com a!b@c.de x@y.c- x@-y.co x@y..co x@y.c.-d"),
            "éa@ex.com email@example.com firstname.lastname@example.org- x@-y.co x@y..co "
            "email@example.com.-d");
  EXPECT_EQ(masked("a@b.cd@e.fg a@[1.2.3.a-b:] a@[1.2.3.-:] a@[1.2.3.256] @b.co a@"),
            "email@example.com@e.fg firstname.lastname@example.org a@[1.2.3.-:] "
            "a@[22.214.171.1246] @b.co a@");
}

TEST(CleanPii, StartsAnewWithEachDocumentAndCounts) {
  std::string first = "a@b.co 9.9.9.9", second = first;
  const PiiCounts counts = mask_pii({}, first);
  mask_pii({}, second);
  EXPECT_EQ(first, second);
  EXPECT_EQ(counts.emails, 1);
  EXPECT_EQ(counts.ips, 1);
}

TEST(CleanPii, SwitchesDoWhatTheySay) {
  PiiSettings strict;
  strict.needs_digit_boundaries = true;
  EXPECT_EQ(masked("v1.2.3.4.5 1234.5.6.7 8.8.8.8. 9.9.9.9", strict),
            "v1.2.3.4.5 1234.5.6.7 22.214.171.124. 126.96.36.199");
  PiiSettings all;
  all.only_public_ips = false;
  EXPECT_EQ(masked("10.0.0.1 08.8.8.8", all), "22.214.171.124 08.8.8.8");
  PiiSettings old;
  old.lower_case_emails_only = true;
  EXPECT_EQ(masked("ab@cd.ef AB@cd.ef ab@cD.ef", old), "email@example.com AB@cd.ef ab@cD.ef");
  PiiSettings off;
  off.masks_emails = off.masks_ips = false;
  EXPECT_EQ(masked("ab@cd.ef 8.8.8.8", off), "ab@cd.ef 8.8.8.8");
}

TEST(CleanPii, LongRunsTakeLinearTime) {
  for (const std::string piece :
       {"a", "@", "a@", ".", "a.", "1.", "1.1.1.", "a@b.", "a-", "[1.2.3."}) {
    std::string text;
    while (text.size() < 1'000'000) text += piece;
    masked(text);
  }
}

class CleanUrl : public ::testing::Test {
 protected:
  static UrlLists lists() {
    UrlLists lists;
    lists.domains = "# comment\nbad.com\nbad.co.uk\nsub.fine.org\n10.1.2.3\n";
    lists.urls = "https://fine.org/bad/page\n";
    lists.words = "Casino\n";
    lists.soft_words = "poker\nbet\n";
    lists.subwords = "badsub\n";
    lists.public_suffixes =
        "// comment\ncom\norg\nuk\nco.uk\n*.ck\n!www.ck\n// ===END ICANN DOMAINS===\nblog.com\n";
    return lists;
  }
  static std::string_view reason(std::string_view url) { return UrlFilter(2, lists()).filter(url); }
};

TEST_F(CleanUrl, RulesRunInOrder) {
  EXPECT_EQ(reason("http://a.b.bad.com/x"), "domain");
  EXPECT_EQ(reason("http://www.bad.co.uk"), "domain");
  EXPECT_EQ(reason("http://sub.fine.org/"), "subdomain");
  EXPECT_EQ(reason("http://x.sub.fine.org/"), "");
  EXPECT_EQ(reason("http://user@10.1.2.3:80/"), "subdomain");
  EXPECT_EQ(reason("https://fine.org/bad/page"), "url");
  EXPECT_EQ(reason("https://fine.org/bad/page2"), "");
  EXPECT_EQ(reason("https://fine.org/my-casino/"), "hard_blacklisted");
  EXPECT_EQ(reason("HTTP://EXAMPLE.com/CASINO"), "");  // words of the URL keep their case
  EXPECT_EQ(reason("https://fine.org/poker/poker"), "");
  EXPECT_EQ(reason("https://fine.org/poker/bet"), "soft_blacklisted");
  EXPECT_EQ(reason("https://fine.org/a-Bad-Sub-b"), "blacklisted_subword");
}

TEST_F(CleanUrl, RegisteredDomainsFollowThePublicSuffixList) {
  const PublicSuffixes suffixes(lists().public_suffixes);
  EXPECT_EQ(suffixes.registered_domain("a.b.com"), "b.com");
  EXPECT_EQ(suffixes.registered_domain("com"), "");
  EXPECT_EQ(suffixes.registered_domain("a.b.co.uk"), "b.co.uk");
  EXPECT_EQ(suffixes.registered_domain("a.b.uk"), "b.uk");
  EXPECT_EQ(suffixes.registered_domain("x.y.z.ck"), "y.z.ck");
  EXPECT_EQ(suffixes.registered_domain("x.www.ck"), "www.ck");
  EXPECT_EQ(suffixes.registered_domain("a.b.blog.com"), "blog.com");  // not of the ICANN part
  EXPECT_EQ(suffixes.registered_domain("a.unknown"), "");
  EXPECT_EQ(PublicSuffixes("").registered_domain("a.b.unknown"), "b.unknown");
  EXPECT_EQ(PublicSuffixes("").registered_domain("localhost"), "");
  std::string labels;  // to look up each ending would take hours
  while (labels.size() < 2'000'000) labels += "a.";
  EXPECT_EQ(suffixes.registered_domain(labels + "b.co.uk"), "b.co.uk");
}

TEST_F(CleanUrl, HostsComeOutOfAnyUrl) {
  EXPECT_EQ(host_of("https://user:pw@Www.Example.COM.:8080/a?b#c"), "www.example.com");
  EXPECT_EQ(host_of("//x.y/z"), "x.y");
  EXPECT_EQ(host_of("x.y?z"), "x.y");
  EXPECT_EQ(host_of("http://[::1]:80/"), "[::1]");
  EXPECT_EQ(host_of("http://[::1"), "");
  EXPECT_EQ(host_of(""), "");
}

TEST(CleanBadWords, MatchWholeWordsInLowerCase) {
  const std::string list = "darn\nbloody hell\n\nsm\nérd\n";
  std::string scratch;
  const BadWords words({}, list);
  const auto reason = [&](std::string_view text) { return words.filter("id", text, scratch); };
  EXPECT_EQ(reason("DARN!"), "document_removed_with_badwords");
  EXPECT_EQ(reason("a Bloody hell b"), "document_removed_with_badwords");
  EXPECT_EQ(reason("ÉRD"), "document_removed_with_badwords");
  EXPECT_EQ(reason("darning sm _darn darné édarn"), "");
  BadWordsSettings settings;
  settings.whole_words = false;
  const BadWords anywhere(settings, list);
  EXPECT_EQ(anywhere.filter("id", "darning", scratch), "document_removed_with_badwords");
}

TEST(CleanBadWords, KeepAShareThatDependsOnTheDocumentAlone) {
  std::string scratch;
  const auto kept = [&](uint64_t seed) {
    BadWordsSettings settings;
    settings.keep_fraction = 0.25;
    settings.seed = seed;
    const BadWords words(settings, "darn");
    std::vector<bool> result;
    for (int i = 0; i < 4000; ++i)
      result.push_back(words.filter(fmt::format("doc{}", i), "darn", scratch).empty());
    return result;
  };
  const auto share = [](const std::vector<bool>& result) {
    return static_cast<double>(std::count(result.begin(), result.end(), true)) /
           static_cast<double>(result.size());
  };
  EXPECT_NEAR(share(kept(1)), 0.25, 0.03);
  EXPECT_EQ(kept(1), kept(1));
  EXPECT_NE(kept(1), kept(2));
}

std::string label_of_best(const LanguageDetector& detector, std::string_view text,
                          float* score = nullptr) {
  std::vector<float> scores;
  detector.score(text, scores);
  const auto best = std::max_element(scores.begin(), scores.end());
  if (score != nullptr) *score = *best;
  return detector.labels()[static_cast<size_t>(best - scores.begin())];
}

TEST(CleanLanguage, ScriptsAreToldApart) {
  const auto detector = make_script_detector();
  EXPECT_EQ(
      label_of_best(*detector, "plain English, and enough of it to fill a block or two, 1234"),
      "Latn");
  EXPECT_EQ(label_of_best(*detector, "это по-русски"), "Cyrl");
  EXPECT_EQ(label_of_best(*detector, "大漠孤烟直，长河落日圆"), "Hani");
  EXPECT_EQ(label_of_best(*detector, "吾輩は猫である。名前はまだ無い。"), "Jpan");
  EXPECT_EQ(label_of_best(*detector, "한국어 문장"), "Hang");
  EXPECT_EQ(label_of_best(*detector, "ελληνικά"), "Grek");
  float score = 1;
  label_of_best(*detector, "123 …", &score);
  EXPECT_EQ(score, 0);
  label_of_best(*detector, "abcжab", &score);
  EXPECT_FLOAT_EQ(score, 5.0f / 6);
}

TEST(CleanLanguage, ALanguageIsKnownByAScriptThatItAloneHas) {
  const auto detector = make_script_detector();
  const auto script = [&](std::string_view language) {
    return detector->labels()[detector->label_of(language)];
  };
  EXPECT_EQ(script("ja"), "Jpan");
  EXPECT_EQ(script("zh"), "Hani");
  EXPECT_EQ(script("Cyrl"), "Cyrl");
  for (const char* language : {"en", "de", "ru", "e", "klingon"}) {
    EXPECT_NE(error_of(ErrorCode::Config, [&] { script(language); }).find("lid.176.bin"),
              std::string::npos)
        << language;
  }
}

std::string read_golden(const std::string& name) {
  std::ifstream file(testing_support::source_path("tests/golden/data/fasttext/") + name,
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Tiny models of each loss, and what fastText 0.9.2 itself predicts with them.
TEST(CleanLanguage, FasttextModelsPredictAsTheLibraryDoes) {
  std::istringstream golden(read_golden("predictions.txt"));
  std::string line, model, text;
  int num_scores = 0;
  std::unique_ptr<const LanguageDetector> detector;
  std::vector<float> scores;
  while (std::getline(golden, line)) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "model") {
      words >> model;
      detector = make_fasttext_detector(read_golden(model), model);
    } else if (kind == "text") {
      text = line.size() > 5 ? line.substr(5) : "";
      detector->score(text, scores);
    } else {
      double expected;
      words >> expected;
      EXPECT_NEAR(scores[detector->label_of(kind)], expected, 1e-5 + 1e-5 * expected)
          << model << " «" << text << "» " << kind;
      ++num_scores;
    }
  }
  EXPECT_GT(num_scores, 70);
}

TEST(CleanLanguage, DamagedFasttextModelsAreRefused) {
  const std::string whole = read_golden("hs.bin");
  ASSERT_FALSE(whole.empty());
  const auto message = [](std::string_view bytes) {
    return error_of(ErrorCode::Data, [&] { make_fasttext_detector(bytes, "some.bin"); });
  };
  EXPECT_NE(message("").find("some.bin"), std::string::npos);
  EXPECT_NE(message(std::string(100, 'x')).find("magic"), std::string::npos);
  for (size_t bytes = 8; bytes < whole.size(); bytes += 97)
    message(std::string_view(whole).substr(0, bytes));
}

}  // namespace
}  // namespace ingot
