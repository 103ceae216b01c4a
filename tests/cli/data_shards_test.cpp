// ingot data tokenize, verify, inspect, cat, mix, import and export, as a user runs them.
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/process.h"
#include "core/random/random.h"
#include "support/own_folder.h"
#include "tokenizer/llama2c_file.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

class DataShards : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_ / "in");
    std::string lines;
    for (int i = 0; i < 200; ++i) {
      lines +=
          nlohmann::json({{"id", "doc-" + std::to_string(i)}, {"text", text(i)}}).dump() + "\n";
    }
    write("in/lines.jsonl", lines);
    write("in/one.txt", "A text of its own.\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  static std::string text(int i) {
    std::string text = "Document " + std::to_string(i) + ":";
    for (int word = 0; word < i; ++word) text += " word";
    return text + ".";
  }
  void write(const std::string& name, const std::string& contents) const {
    std::ofstream(root_ / name, std::ios::binary) << contents;
  }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  Outcome data(std::vector<std::string> args) const {
    args.insert(args.begin(), "data");
    return run_ingot(args, root_);
  }
  std::vector<std::string> tokenize_args(const std::string& out,
                                         const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"tokenize", path("in"), "--tokenizer",
                                     "byte",     "--out",    path(out)};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  Outcome tokenize(const std::string& out, const std::vector<std::string>& more = {}) const {
    return data(tokenize_args(out, more));
  }
  // Fails unless the command fails with one line that has `part`.
  void expect_refused(const std::vector<std::string>& args, const std::string& part) const {
    const Outcome outcome = data(args);
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.code;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err << "\nexpected: " << part;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  static nlohmann::json last_line(const std::string& out) {
    return nlohmann::json::parse(out.substr(out.rfind('\n', out.size() - 2) + 1));
  }
  std::map<std::string, std::string> contents(const std::string& out) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / out)) {
      if (entry.is_regular_file()) {
        files[fs::relative(entry.path(), root_ / out)] = slurp(entry.path());
      }
    }
    return files;
  }

  void write_many_documents() const {
    std::string lines;
    for (int i = 0; i < 6000; ++i) {
      lines += nlohmann::json({{"text", text(i % 400)}}).dump() + "\n";
    }
    write("in/lines.jsonl", lines);
  }

  // Runs the command again and again, each time killed when so many more files are in `out`, so
  // that the moment does not depend on speed; at last it may finish.
  void expect_same_after_kills(
      const std::string& expected, const std::string& out,
      const std::function<std::vector<std::string>(uint64_t attempt)>& command) const {
    const RandomStream random(20261115, Purpose::Test);
    const auto num_files = [&] {
      int64_t count = 0;
      std::error_code ignored;  // files come and go
      for (fs::recursive_directory_iterator it(root_ / out, ignored), end; it != end;
           it.increment(ignored)) {
        ++count;
      }
      return count;
    };
    int kills = 0;
    for (uint64_t attempt = 0; attempt < 40; ++attempt) {
      auto args = command(attempt);
      args.insert(args.begin(), "data");
      const int64_t target = num_files() + 1 + static_cast<int64_t>(random.bits(attempt) % 9);
      Process process(args, root_);
      if (attempt < 10) {
        while (process.is_running() && num_files() < target) std::this_thread::yield();
        process.signal(SIGKILL);
      }
      const int code = process.wait();
      if (code == 0) break;
      ASSERT_EQ(code, -SIGKILL) << process.err();
      ++kills;
    }
    EXPECT_GE(kills, 3);
    auto killed = contents(out);
    // What a killed process had begun to write lies aside, under other names.
    const auto whole = contents(expected);
    std::erase_if(killed, [&](const auto& file) { return !whole.contains(file.first); });
    EXPECT_TRUE(killed == whole);
  }

  fs::path root_;
};

TEST_F(DataShards, TextToShardsAndBack) {
  const Outcome made = tokenize("out", {"--json", "--shard-tokens", "20000"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(last_line(made.out).at("documents"), 201);
  const Outcome verified = data({"verify", path("out"), "--tokenizer", "byte"});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_NE(verified.out.find("good"), std::string::npos);
  const Outcome inspected = data({"inspect", path("out"), "--json"});
  ASSERT_EQ(inspected.code, 0) << inspected.err;
  const auto facts = last_line(inspected.out);
  EXPECT_EQ(facts.at("documents"), 201);
  EXPECT_EQ(facts.at("eos"), 256);
  EXPECT_EQ(facts.at("bos"), -1);
  EXPECT_EQ(facts.at("tokens").get<int64_t>(), facts.at("bytes").get<int64_t>() + 201);

  EXPECT_EQ(data({"cat", path("out"), "7"}).out, text(7) + "\n");
  EXPECT_EQ(data({"cat", path("out"), "3-4"}).out, text(3) + "\n" + text(4) + "\n");
  EXPECT_EQ(data({"cat", path("out"), "doc-11"}).out, text(11) + "\n");
  EXPECT_EQ(data({"cat", path("out"), "0", "--ids"}).out,
            "68 111 99 117 109 101 110 116 32 48 58 46 256\n");
  const std::string header = data({"cat", path("out"), "5", "--headers"}).out;
  EXPECT_NE(header.find("«doc-5»"), std::string::npos) << header;
  const std::string id = header.substr(6, 32);
  EXPECT_EQ(data({"cat", path("out"), id}).out, text(5) + "\n") << id;
  expect_refused({"cat", path("out"), "201"}, "no document 201");
  expect_refused({"cat", path("out"), "nobody"}, "no document «nobody»");
}

TEST_F(DataShards, NamedSourcesKeepTheirNames) {
  const Outcome made = data({"tokenize", "--source", "a=" + path("in/lines.jsonl"), "--source",
                             "b=" + path("in/one.txt"), "--tokenizer", "byte", "--out", path("out"),
                             "--bos", "yes"});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto facts = last_line(data({"inspect", path("out"), "--json"}).out);
  EXPECT_EQ(facts.at("sources")[0].at("name"), "a");
  EXPECT_EQ(facts.at("sources")[0].at("documents"), 200);
  EXPECT_EQ(facts.at("sources")[1].at("documents"), 1);
  EXPECT_EQ(facts.at("bos"), 256);
  EXPECT_EQ(data({"verify", path("out")}).code, 0);
}

TEST_F(DataShards, KilledAtRandomMomentsGivesTheSameBytes) {
  write_many_documents();
  ASSERT_EQ(tokenize("whole", {"--threads", "1", "--shard-tokens", "100000"}).code, 0);
  expect_same_after_kills("whole", "killed", [this](uint64_t attempt) {
    return tokenize_args("killed",
                         {"--shard-tokens", "100000", "--threads", attempt % 2 == 0 ? "2" : "8"});
  });
}

TEST_F(DataShards, AMixKilledAtRandomMomentsGivesTheSameBytes) {
  write_many_documents();
  ASSERT_EQ(tokenize("a").code, 0);
  write("mix.toml",
        "seed = 1\ntrain_tokens = 2_000_000\nvalid_tokens = 100_000\ntest_tokens = 100_000\n"
        "shard_tokens = 50_000\n[[source]]\npath = \"" +
            path("a") + "\"\n");
  const auto mix = [this](const std::string& out) -> std::vector<std::string> {
    return {"mix", path("mix.toml"), "--out", path(out)};
  };
  ASSERT_EQ(data(mix("whole")).code, 0);
  expect_same_after_kills("whole", "killed", [&](uint64_t) { return mix("killed"); });
}

TEST_F(DataShards, BadInputIsOneClearLine) {
  ASSERT_EQ(tokenize("good").code, 0);
  expect_refused({"verify", path("nowhere")}, "no such folder");
  expect_refused({"verify", path("in")}, "no manifest.json");
  write("other.json", "{");
  expect_refused({"verify", path("good"), "--tokenizer", path("other.json")}, "other.json");
  write("tok.bin", testing_support::small_llama2c_file());
  for (const char* command : {"verify", "cat", "inspect"}) {
    expect_refused({command, path("good"), "--tokenizer", path("tok.bin")},
                   "made with another tokenizer");
  }
  expect_refused({"tokenize", path("nowhere"), "--tokenizer", "byte", "--out", path("x")},
                 "nowhere");
  expect_refused({"tokenize", "--tokenizer", "byte", "--out", path("x")}, "nothing to tokenize");
  expect_refused({"tokenize", path("in"), "--tokenizer", "byte", "--out", path("good"),
                  "--shard-tokens", "30000"},
                 "shard_tokens");
  expect_refused(
      {"tokenize", path("in"), "--tokenizer", "byte", "--out", path("x"), "--process", "2/2"},
      "K of N");
  EXPECT_FALSE(fs::exists(root_ / "x"));

  const auto damage = [&](const std::string& name, const std::string& contents,
                          const std::string& part) {
    const std::string whole = slurp(root_ / "good" / name);
    write("good/" + name, contents);
    expect_refused({"verify", path("good")}, part);
    write("good/" + name, whole);
  };
  std::string changed = slurp(root_ / "good" / "00000.tokens");
  changed[100] = static_cast<char>(changed[100] ^ 1);
  damage("00000.tokens", changed, "00000.tokens: the file changed");
  damage("00000.tokens", changed.substr(2), "00000.tokens: truncated");
  damage("00000.names", "", "00000.names");
  damage("manifest.json", "{}", "version is missing");
  damage("tokenizer", "nonsense", "tokenizer");
  EXPECT_EQ(data({"verify", path("good")}).code, 0);

  // What copies tokens does not pass on a change.
  write("good/00000.tokens", changed);
  write("mix.toml", "train_tokens = 1000\n[[source]]\npath = \"" + path("good") + "\"\n");
  expect_refused({"mix", path("mix.toml"), "--out", path("mixed")}, "the file changed");
  expect_refused({"export", path("good"), "--format", "megatron", "--out", path("exported")},
                 "the file changed");
}

TEST_F(DataShards, MixesGiveExactCounts) {
  ASSERT_EQ(tokenize("a").code, 0);
  const std::string recipe =
      "seed = 1\ntrain_tokens = 50_000\nvalid_tokens = 5_001\ntest_tokens = "
      "77\n[[source]]\npath = \"" +
      path("a") + "\"\n";
  write("mix.toml", recipe);
  const Outcome mixed = data({"mix", path("mix.toml"), "--out", path("mixed"), "--json"});
  ASSERT_EQ(mixed.code, 0) << mixed.err;
  const std::map<std::string, int64_t> wanted = {{"train", 50'000}, {"valid", 5'001}, {"test", 77}};
  for (const auto& [split, tokens] : wanted) {
    EXPECT_EQ(data({"verify", path("mixed/" + split)}).code, 0) << split;
    EXPECT_EQ(last_line(data({"inspect", path("mixed/" + split), "--json"}).out).at("tokens"),
              tokens);
  }
  EXPECT_EQ(data({"mix", path("mix.toml"), "--out", path("mixed")}).code, 0);  // finished: kept
  write("mix.toml", recipe + "max_epochs = 2\n");
  expect_refused({"mix", path("mix.toml"), "--out", path("mixed")}, "max_epochs");
  write("mix.toml", "train_tokens = 1_000_000_000\n[[source]]\npath = \"" + path("a") + "\"\n");
  expect_refused({"mix", path("mix.toml"), "--out", path("more")}, "set its max_epochs to");
}

TEST_F(DataShards, OtherProgramsFilesComeAndGo) {
  ASSERT_EQ(tokenize("a").code, 0);
  for (const char* name : {"megatron", "nanogpt", "llmc"}) {
    const std::string format = name;
    const std::string out = path(format + "/x") + (format == "nanogpt" ? ".bin" : "");
    const Outcome exported = data({"export", path("a"), "--format", format, "--out", out});
    ASSERT_EQ(exported.code, 0) << exported.err;
    std::vector<std::string> args = {"import", "--tokenizer",        "byte",     "--eos", "256",
                                     "--out",  path(format + "/in"), "--format", format};
    std::istringstream lines(exported.out);
    for (std::string file; std::getline(lines, file);) {
      if (!file.ends_with(".idx")) args.push_back(file);
    }
    const Outcome imported = data(args);
    ASSERT_EQ(imported.code, 0) << imported.err;
    EXPECT_EQ(data({"verify", path(format + "/in")}).code, 0);
    EXPECT_EQ(data({"cat", path(format + "/in")}).out, data({"cat", path("a")}).out) << format;
  }
}

}  // namespace
}  // namespace ingot::test
