#include "ingest/tasks/stage.h"

#include <gtest/gtest.h>

#include "ingest/tasks/html_page.h"
#include "ingest/tasks/samples.h"

namespace ingot::test {
namespace {

std::vector<std::string> names_of(const std::vector<std::string>& inputs) {
  std::vector<InputFile> files;
  for (const std::string& name : inputs) files.push_back({"/somewhere/" + name, name, 1});
  return output_names(files);
}

TEST(Stage, OutputsAreNamedAsTheirInputsWithoutEnding) {
  EXPECT_EQ(names_of({"a.jsonl.gz", "deep/b.txt", "c.warc.zst", "no_ending", "d.v2.parquet"}),
            (std::vector<std::string>{"a", "deep/b", "c", "no_ending", "d.v2"}));
}

TEST(Stage, NamesThatWouldBeTheSameKeepTheirEndings) {
  EXPECT_EQ(names_of({"a.jsonl.gz", "a.txt", "b.txt"}),
            (std::vector<std::string>{"a.jsonl.gz", "a.txt", "b"}));
}

TEST(Stage, TheDescriptionHoldsNamesAndSizesButNoPlaces) {
  StageInputs inputs;
  inputs.files = {{"/somewhere/a.txt", "a.txt", 7}};
  const auto description = describe(inputs);
  EXPECT_EQ(description["files"][0]["name"], "a.txt");
  EXPECT_EQ(description["files"][0]["bytes"], 7);
  EXPECT_EQ(description.dump().find("somewhere"), std::string::npos);
}

Document document(const std::string& text) {
  Document d;
  d.id = "id of " + text;
  d.text = text;
  return d;
}

TEST(Samples, PartsMergeIntoWhatTheWholeWouldHaveKept) {
  Samples whole(3), merged(3);
  for (int part = 0; part < 4; ++part) {
    Samples of_part(3);
    const std::string file = "file" + std::to_string(part);
    for (int i = 0; i < 50; ++i) {
      const Document d = document(file + " " + std::to_string(i));
      whole.add(i % 2 == 0 ? "even" : "odd", file, i, d);
      of_part.add(i % 2 == 0 ? "even" : "odd", file, i, d);
    }
    merged.merge(of_part.lists());
  }
  EXPECT_EQ(merged.to_json(), whole.to_json());
  EXPECT_EQ(merged.by_label().at("odd").size(), 3u);
}

TEST(Samples, TextsAreCutBetweenCharacters) {
  EXPECT_EQ(beginning_of("abc", 3), "abc");
  EXPECT_EQ(beginning_of("abcd", 3), "abc…");
  EXPECT_EQ(beginning_of("abé", 3), "ab…");
  EXPECT_EQ(beginning_of("日本語", 8), "日本…");
}

TEST(HtmlPage, NothingFromADocumentIsMarkup) {
  Samples samples;
  Document d = document("<script>alert('x')</script> & \"quoted\" \x01");
  d.id = "<img src=x>";
  samples.add("<b>label</b>", "file", 0, d, "<i>note</i>");
  HtmlPage page("A <title>");
  page.samples(samples);
  page.facts({{"<name>", "<value>"}});
  page.bars({{"<bar>", 1}}, 2);
  page.table({"<head>"}, {{"<cell>"}});
  page.heading("<heading>");
  page.paragraph("<paragraph>");
  const std::string html = page.str();
  for (const char* markup :
       {"<script", "<img", "<b>", "<i>", "<name>", "<value>", "<bar>", "<head>\n<cell", "<cell>",
        "<heading>", "<paragraph>", "A <title>", "\x01"}) {
    EXPECT_EQ(html.find(markup), std::string::npos) << markup;
  }
  EXPECT_NE(html.find("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &#34;quoted&#34; ?"),
            std::string::npos);
  EXPECT_NE(html.find("width:50.0%"), std::string::npos);
}

}  // namespace
}  // namespace ingot::test
