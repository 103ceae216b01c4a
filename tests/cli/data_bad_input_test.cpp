// What every stage of data preparation does with input that is not as it should be: an error that
// names the file, or a skip that is counted and told.
#include <gtest/gtest.h>

#include "cli/stage_fixture.h"
#include "ingest/write/document_writer.h"
#include "support/build_folder.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

class DataBadInput : public StageFixture {
 protected:
  void SetUp() override {
    StageFixture::SetUp();
    write_lines("task.jsonl", {{{"context", "What was said?"}, {"continuation", "Nothing."}}});
    stages_ = {{"clean", {"--set", "gopher_quality.enabled=false", "--set", "c4.enabled=false"}},
               {"dedup", {"--method", "exact"}},
               {"decontaminate", {"--against", path("task.jsonl")}},
               {"tokenize", {"--tokenizer", "byte"}}};
  }

  Outcome run_stage(const std::string& stage, const Args& options) const {
    return ingot(with({"data", stage, path("in"), "--out", path(stage), "--json"}, options));
  }

  void expect_refused(const std::string& file, const std::string& part) const {
    for (const auto& [stage, options] : stages_) {
      const Outcome outcome = run_stage(stage, options);
      EXPECT_EQ(outcome.code, 1) << stage;
      EXPECT_NE(outcome.err.find(file), std::string::npos) << stage << ": " << outcome.err;
      EXPECT_NE(outcome.err.find(part), std::string::npos) << stage << ": " << outcome.err;
      EXPECT_FALSE(fs::exists(root_ / stage / "report.json")) << stage;
      EXPECT_FALSE(fs::exists(root_ / stage / "manifest.json")) << stage;
    }
  }

  // Told in the text and in the JSON; `documents` are read.
  void expect_skipped(const std::map<std::string, int64_t>& reasons, int64_t documents) const {
    for (const auto& [stage, options] : stages_) {
      const Outcome outcome = run_stage(stage, options);
      ASSERT_EQ(outcome.code, 0) << stage << ": " << outcome.err;
      const json result = json::parse(outcome.out.substr(outcome.out.find("\n{") + 1));
      EXPECT_EQ(result["documents"], documents) << stage;
      EXPECT_EQ(result[stage == "tokenize" ? "left_out" : "skipped"], reasons) << stage;
      for (const auto& [reason, count] : reasons) {
        EXPECT_NE(outcome.out.find(reason), std::string::npos) << stage << ": " << outcome.out;
      }
    }
  }

  // Writes documents to in/a.jsonl.`ending` and cuts the file short.
  void write_cut(const std::string& ending) const {
    const std::string file = path("in/a.jsonl." + ending);
    const auto writer = create_documents(posix_storage(), file);
    std::mt19937 random(1);
    for (int i = 0; i < 100; ++i) {
      Document document;
      document.id = std::to_string(i);
      document.text = prose(random, 20);
      writer->write(document);
    }
    writer->commit();
    fs::resize_file(file, fs::file_size(file) * 2 / 3);
  }

  std::vector<std::pair<std::string, Args>> stages_;
};

TEST_F(DataBadInput, ACutGzipFileIsAnError) {
  write_cut("gz");
  expect_refused("in/a.jsonl.gz", "the file was cut short");
}

TEST_F(DataBadInput, ACutZstdFileIsAnError) {
  write_cut("zst");
  expect_refused("in/a.jsonl.zst", "the file was cut short");
}

TEST_F(DataBadInput, ACutParquetFileIsAnError) {
  if (!fs::exists(testing_support::build_folder() / "libingot_arrow.so"))
    GTEST_SKIP() << "built without Arrow";
  const std::string whole =
      slurp(testing_support::source_path("tests/ingest/parquet/plain.parquet"));
  std::ofstream(root_ / "in/a.parquet", std::ios::binary) << whole.substr(0, whole.size() * 2 / 3);
  expect_refused("in/a.parquet", "not a parquet file");
}

TEST_F(DataBadInput, RecordsThatAreNoDocumentsAreSkippedAndTold) {
  std::ofstream(root_ / "in/a.jsonl", std::ios::binary)
      << "{\"id\":\"1\",\"text\":\"fine\"}\n"
      << "{\"id\":\"2\",\"text\":\"broken \xff\xfe\"}\n"        // no UTF-8
      << std::string("{\"id\":\"3\",\"text\":\"a\0b\"}\n", 24)  // NUL as JSON does not allow it
      << "{\"id\":\"4\",\"text\":\"\"}\n"
      << "{\"id\":\"5\"}\n"
      << std::string(1 << 20, 'x') << "\n"
      << "{\"id\":\"6\",\"text\":\"a\\u0000b as it does\"}\n";
  std::ofstream(root_ / "in/b.txt");
  expect_skipped({{"invalid_utf8", 1}, {"invalid_json", 2}, {"empty", 2}, {"no_text", 1}}, 2);
}

// A long line, and one after it.
void write_line_of(int64_t bytes, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary);
  file << "{\"text\":\"";
  const std::string part = "words and more of them. ";
  for (int64_t i = 0; i < bytes; i += static_cast<int64_t>(part.size())) file << part;
  file << "\"}\n{\"text\":\"after it\"}\n";
}

TEST_F(DataBadInput, ALineOf8MillionBytesIsOneDocument) {
  write_line_of(8'000'000, root_ / "in/a.jsonl");
  expect_skipped({}, 2);
}

TEST_F(DataBadInput, ALineOf100MillionBytesIsOneDocument) {
  write_line_of(100'000'000, root_ / "in/a.jsonl");
  expect_skipped({}, 2);
}

TEST_F(DataBadInput, DuplicateIdsAreKeptAndTold) {
  write_lines("in/a.jsonl", {{{"id", "x"}, {"text", "one"}}, {{"id", "x"}, {"text", "two"}}});
  expect_skipped({}, 2);
  const Outcome again = run_stage("tokenize", {"--tokenizer", "byte"});
  EXPECT_NE(again.out.find("with the id of an earlier document: 1"), std::string::npos)
      << again.out;
}

TEST_F(DataBadInput, NothingToTokenizeSaysWhatWasLeftOut) {
  std::ofstream(root_ / "in/a.txt", std::ios::binary) << "broken \xff\xfe\n";
  const Outcome outcome = run_stage("tokenize", {"--tokenizer", "byte"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("no documents in the 1 files of the input; left out: 1 invalid_utf8"),
            std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace ingot::test
