// Files that are not on this machine, and libraries that are not, as a user meets them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/process.h"
#include "ingest/web_server.h"
#include "support/own_folder.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing_support::WebServer;

class RemoteCli : public ::testing::Test {
 protected:
  RemoteCli() {
    root_ = testing_support::own_folder();
    fs::create_directories(root_ / "served");
    std::ofstream file(root_ / "served/a.jsonl");
    for (int i = 0; i < 100; ++i) file << R"({"text": "document )" << i << "\"}\n";
  }
  ~RemoteCli() override { fs::remove_all(root_); }

  Outcome tokenize(const std::string& input, const std::string& out) const {
    return run_ingot({"data", "tokenize", "--tokenizer", "byte", "--json", "--cache",
                      (root_ / "cache").string(), "--out", (root_ / out).string(), input},
                     root_);
  }

  fs::path root_;
};

TEST_F(RemoteCli, ADatasetOfTheHubIsTokenizedAndKept) {
  WebServer server((root_ / "served").string());
  setenv("HF_ENDPOINT", (server.root() + "/").c_str(), 1);
  setenv("HF_TOKEN", "secret", 1);
  const std::string input = "hf://datasets/private/name/a.jsonl";
  const Outcome first = tokenize(input, "first");
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_NE(first.out.find("100 documents"), std::string::npos) << first.out;
  server.stop();
  const Outcome second = tokenize(input, "second");
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(slurp(root_ / "first/00000.tokens"), slurp(root_ / "second/00000.tokens"));
  unsetenv("HF_ENDPOINT");
  unsetenv("HF_TOKEN");
}

// The program alone in a folder: as on a machine where nothing else was installed.
TEST_F(RemoteCli, WithoutTheModulesTheProgramWorksAndSaysWhatIsMissing) {
  const fs::path alone = root_ / "ingot";
  fs::copy_file(program(), alone);
  const auto run = [&](const std::string& input, const std::string& out) {
    const std::string command = alone.string() + " data tokenize --tokenizer byte --out " +
                                (root_ / out).string() + " " + input + " >" +
                                (root_ / "out.txt").string() + " 2>" + (root_ / "err.txt").string();
    return std::system(command.c_str());
  };
  EXPECT_EQ(run((root_ / "served/a.jsonl").string(), "local"), 0) << slurp(root_ / "err.txt");
  for (const auto& [input, missing] :
       {std::pair{testing_support::source_path("tests/ingest/parquet/plain.parquet"),
                  "libingot_arrow.so"},
        {"http://127.0.0.1:1/a.jsonl", "libingot_http.so"}}) {
    EXPECT_NE(run(input, missing), 0);
    const std::string error = slurp(root_ / "err.txt");
    EXPECT_NE(error.find(missing), std::string::npos) << error;
    EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1) << error;
  }
}

}  // namespace
}  // namespace ingot::test
