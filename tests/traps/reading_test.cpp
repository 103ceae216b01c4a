// Traps around what is in files of documents, and what is read of it: docs/traps.md.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "ingest/web_server.h"
#include "support/build_folder.h"
#include "support/source_path.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;
using testing_support::WebServer;

class ReadingTrap : public Trap {
 protected:
  static std::string lines(const std::string& what, int count) {
    std::string file;
    for (int i = 0; i < count; ++i)
      file += json{{"text", what + " number " + std::to_string(i)}}.dump() + "\n";
    return file;
  }
  Outcome tokenize(const Args& inputs, const std::string& out) const {
    return ingot(
        with({"data", "tokenize", "--tokenizer", "byte", "--out", path(out), "--json"}, inputs));
  }
  Outcome clean(const Args& inputs, const std::string& out) const {
    return ingot(with({"data", "clean", "--out", path(out), "--json"}, inputs));
  }
  Outcome train_tokenizer(const Args& inputs) const {
    Args args = {"tokenizer", "train", "--out", path("t.json"), "--vocab", "270", "--force"};
    for (const std::string& input : inputs) args.insert(args.end(), {"--input", input});
    return ingot(args);
  }
  // Without Arrow neither parquet files nor s3:// are read.
  static bool reads_parquet() {
    return fs::exists(testing_support::build_folder() / "libingot_arrow.so");
  }
  void expect_refused(const Outcome& outcome, const Args& parts) const {
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.code << outcome.out;
    for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
  }
};

TEST_F(ReadingTrap, ACopyOfAnInputIsNotCleanedOrLearnedFromBesideIt) {
  write("task.jsonl", json{{"context", "What was said?"}, {"continuation", "Nothing."}}.dump());
  write("raw/a.jsonl", lines("a", 5));
  write("raw/deep/b.jsonl", lines("b", 7));
  fs::copy(root_ / "raw", root_ / "copy", fs::copy_options::recursive);
  fs::rename(root_ / "copy/a.jsonl", root_ / "copy/other.jsonl");
  const Args both = {path("raw"), path("copy")};
  const Args named = {path("raw"), path("copy"), "leave one of them out"};
  expect_refused(clean(both, "cleaned"), named);
  expect_refused(ingot(with({"data", "decontaminate", "--against", path("task.jsonl"), "--out",
                             path("decontaminated")},
                            both)),
                 named);
  expect_refused(train_tokenizer(both), named);
  for (const char* out : {"cleaned", "decontaminated", "t.json"})
    EXPECT_FALSE(fs::exists(root_ / out)) << out;
  // Where copies are removed they may come.
  const Outcome deduplicated =
      ingot(with({"data", "dedup", "--method", "exact", "--out", path("d"), "--json"}, both));
  EXPECT_EQ(deduplicated.code, 0) << deduplicated.err;
  EXPECT_EQ(result_of(deduplicated).value("kept", 0), 12);
  // Of the same sizes, but not the same.
  std::string other = slurp(root_ / "copy/deep/b.jsonl");
  other[other.size() - 4] = '!';
  write("copy/deep/b.jsonl", other);
  EXPECT_EQ(clean(both, "cleaned").code, 0);
}

TEST_F(ReadingTrap, FilesOfOneFolderThatHoldTheSameAreCounted) {
  write("task.jsonl", json{{"context", "What was said?"}, {"continuation", "Nothing."}}.dump());
  for (const char* name : {"a", "b", "c"})
    write("raw/" + std::string(name) + ".jsonl", lines("x", 9));
  write("raw/d.jsonl", lines("y", 9));
  write("raw/empty.txt", "");
  write("raw/empty too.txt", "");
  const Outcome cleaned = clean({path("raw")}, "cleaned");
  ASSERT_EQ(cleaned.code, 0) << cleaned.err;
  EXPECT_EQ(result_of(cleaned).value("equal_files", 0), 2);
  EXPECT_TRUE(contains(cleaned.out, "the same as an earlier file: 2 (b.jsonl = a.jsonl"))
      << cleaned.out;
  const Outcome decontaminated = ingot({"data", "decontaminate", path("raw"), "--against",
                                        path("task.jsonl"), "--out", path("out"), "--json"});
  EXPECT_EQ(result_of(decontaminated).value("equal_files", 0), 2) << decontaminated.err;
  const Outcome learned = train_tokenizer({path("raw")});
  ASSERT_EQ(learned.code, 0) << learned.err;
  EXPECT_TRUE(contains(learned.err, "the same as an earlier file: 2 (b.jsonl = a.jsonl"))
      << learned.err;
}

TEST_F(ReadingTrap, AnArrayIsReadAsOneUnderTheNameOfJsonLinesToo) {
  json array = json::array();
  for (int i = 0; i < 40; ++i) array.push_back({{"text", "text number " + std::to_string(i)}});
  write("one line/a.jsonl", array.dump() + "\n");
  write("many lines/a.jsonl", "\xEF\xBB\xBF" + array.dump(2));
  std::string a_line_each = "[\n";
  for (const json& record : array) a_line_each += record.dump() + ",\n";
  a_line_each.replace(a_line_each.size() - 2, 1, "\n]");
  write("a line each/a.ndjson", a_line_each);
  for (const std::string name : {"one line", "many lines", "a line each"}) {
    const Outcome outcome = tokenize({path(name)}, "of " + name);
    ASSERT_EQ(outcome.code, 0) << name << outcome.err;
    EXPECT_EQ(result_of(outcome).value("documents", 0), 40) << name << outcome.out;
    EXPECT_TRUE(result_of(outcome).value("left_out", json()).empty()) << outcome.out;
  }
}

TEST_F(ReadingTrap, RecordsThatTakeSeveralLinesAreNotLeftOutLineByLine) {
  std::string file;
  for (int i = 0; i < 10; ++i) file += json{{"id", i}, {"text", "some text"}}.dump(2) + "\n";
  write("a.jsonl", file);
  write("b.json", json{{"text", "one text"}}.dump(1));
  write("c.jsonl", "{\"id\": 1,\n \"text\": \"some text\"}\n{\"id\": 2,\n \"text\": \"more\"}\n");
  for (const char* name : {"a.jsonl", "b.json", "c.jsonl"})
    expect_refused(tokenize({path(name)}, "tokens"),
                   {path(name), "several lines", "jq -c . FILE > NEW.jsonl"});
  EXPECT_FALSE(fs::exists(root_ / "tokens"));
}

TEST_F(ReadingTrap, ATextFieldOfFilesWithoutFieldsIsSaidToDoNothing) {
  write("in/a.txt", "some text");
  const Outcome outcome = tokenize({path("in"), "--text-field", "body"}, "tokens");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "setting=read.text_field")) << outcome.err;
  write("in/b.jsonl", json{{"body", "more text"}}.dump());
  EXPECT_FALSE(contains(tokenize({path("in"), "--text-field", "body"}, "both").err, "no_effect"));
}

TEST_F(ReadingTrap, AFieldOfIdsThatIsNotThereIsNamed) {
  write("a.jsonl", json{{"text", "some text"}, {"key", "k"}}.dump());
  write("b.csv", "text,key\nsome text,k\n");
  for (const char* name : {"a.jsonl", "b.csv"}) {
    const Outcome wrong = tokenize({path(name), "--id-field", "kee"}, "wrong");
    EXPECT_EQ(wrong.code, 0) << wrong.err;
    EXPECT_TRUE(contains(wrong.err, "setting=read.id_field field=kee")) << wrong.err;
    EXPECT_FALSE(contains(tokenize({path(name), "--id-field", "key"}, "right").err, "no_such"));
    EXPECT_FALSE(contains(tokenize({path(name)}, "none").err, "no_such_field"));
    for (const char* out : {"wrong", "right", "none"}) fs::remove_all(root_ / out);
  }
  EXPECT_TRUE(contains(clean({path("a.jsonl"), "--url-field", "link"}, "cleaned").err,
                       "setting=read.url_field field=link"));
}

TEST_F(ReadingTrap, OfTwoColumnsOfOneNameNoneIsChosen) {
  write("a.csv", "text,id,text\nfirst,1,second\n");
  write("b.tsv", "id\ttext\tid\n1\tfirst\t2\n");
  expect_refused(tokenize({path("a.csv")}, "tokens"), {path("a.csv"), "2 columns «text»"});
  expect_refused(tokenize({path("b.tsv")}, "tokens"), {path("b.tsv"), "2 columns «id»"});
  if (reads_parquet())
    expect_refused(
        tokenize({testing_support::source_path("tests/ingest/parquet/doubled.parquet")}, "tokens"),
        {"doubled.parquet", "2 columns are named «text»"});
  // A name that is not asked for may stand twice.
  write("c.csv", "text,x,x\nfirst,1,second\n");
  EXPECT_EQ(tokenize({path("c.csv")}, "tokens").code, 0);
}

TEST_F(ReadingTrap, OfAMemberThatARecordHasTwiceNoneIsChosen) {
  write("raw/a.jsonl", lines("a", 3));
  write("raw/b.jsonl",
        "{\"text\": \"one\"}\n{\"text\": \"first\", \"text\": \"second\"}\n"
        "{\"id\": \"x\", \"text\": \"two\", \"id\": \"y\"}\n"
        // A name that is not asked for may stand twice.
        "{\"text\": \"three\", \"n\": 1, \"n\": 2, \"of\": {\"text\": 1}}\n");
  write("raw/c.json", R"([{"text": "four"}, {"text": "first", "text": "second"}])");
  const Outcome tokenized = tokenize({path("raw")}, "tokens");
  ASSERT_EQ(tokenized.code, 0) << tokenized.err;
  EXPECT_EQ(result_of(tokenized).value("documents", 0), 6);
  EXPECT_EQ(result_of(tokenized)["left_out"], (json{{"repeated_field", 3}}));
  EXPECT_TRUE(contains(tokenized.out, "left out: 3 repeated_field (the first: b.jsonl, record 1)"))
      << tokenized.out;
  const Outcome cleaned = clean({path("raw")}, "cleaned");
  EXPECT_EQ(result_of(cleaned)["skipped"].value("repeated_field", 0), 3) << cleaned.out;
}

TEST_F(ReadingTrap, WhatARemoteFolderHoldsThatNothingReadsIsCounted) {
  write("served/data/a.jsonl", lines("a", 3));
  write("served/data/b.jsonl.bz2", "packed");
  write("served/data/c.xz", "packed");
  write("served/data/d.xz", "packed");
  write("served/data/part-00000", lines("more", 3));
  write("served/data/.hidden", "hidden");
  write("served/README.md", "What this is.");
  write("served/none/a.bz2", "packed");
  WebServer server(path("served"));
  setenv("HF_ENDPOINT", server.root().c_str(), 1);
  setenv("AWS_ENDPOINT_URL_S3", server.root().c_str(), 1);
  setenv("AWS_REGION", "us-east-1", 1);
  Args folders = {"hf://datasets/owner/name/data"};
  if (reads_parquet()) folders.push_back("s3://bucket/data");
  for (const std::string& folder : folders) {
    const Outcome outcome = tokenize({folder, "--cache", ""}, "tokens");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(result_of(outcome).value("documents", 0), 3) << outcome.out;
    for (const char* part : {"left_out", "1 .bz2", "2 .xz", "1 without an ending"})
      EXPECT_TRUE(contains(outcome.err, part)) << part << ": " << outcome.err;
    EXPECT_FALSE(contains(outcome.err, "hidden")) << outcome.err;
    fs::remove_all(root_ / "tokens");
  }
  EXPECT_TRUE(
      contains(tokenize({"hf://datasets/owner/name", "--cache", ""}, "all").err, "1 README.md"));
  expect_refused(tokenize({"hf://datasets/owner/name/none", "--cache", ""}, "none"),
                 {"no documents", "1 .bz2"});
  for (const char* name : {"HF_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_REGION"}) unsetenv(name);
}

}  // namespace
}  // namespace ingot::test
