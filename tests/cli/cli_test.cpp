#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "cli/run_fixture.h"
#include "core/random/random.h"
#include "core/storage/storage.h"
#include "support/ledger_contents.h"
#include "support/tokenizer_formats.h"

namespace ingot::test {
namespace {

using Cli = RunFixture;

int count_lines(const std::string& text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

nlohmann::json last_line_of(const Outcome& outcome) {
  return nlohmann::json::parse(
      outcome.out.substr(outcome.out.rfind('\n', outcome.out.size() - 2) + 1));
}

TEST_F(Cli, HelpAndVersionSucceed) {
  const Outcome help = ingot({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* command : {"quickstart", "config", "train", "generate", "checkpoint", "bench"})
    EXPECT_NE(help.out.find(command), std::string::npos) << command;
  const Outcome version = ingot({"--version"});
  EXPECT_EQ(version.code, 0);
  for (const char* fact : {"ingot", "backends", "ISA", "CUDA", "MPI"})
    EXPECT_NE(version.out.find(fact), std::string::npos) << fact;
}

TEST_F(Cli, WrongUsageExitsWithTwo) {
  EXPECT_EQ(ingot({"trian"}).code, 2);
  EXPECT_EQ(ingot({"train"}).code, 2);
  EXPECT_EQ(ingot({"config", "show", "--set", "optim.lr"}).code, 2);
  const Outcome typo = ingot({"config", "show", "--set", "optim.leaning_rate=1"});
  EXPECT_EQ(typo.code, 2);
  const Outcome near = ingot({"config", "show", "--set", "optim.weight_deacy=1"});
  EXPECT_NE(near.err.find("optim.weight_decay"), std::string::npos) << near.err;
}

TEST_F(Cli, ResolvedConfigParsesBackToTheSame) {
  const Outcome first =
      ingot({"config", "show", "--set", "optim.lr=0.123", "--set", "train.steps=7"});
  ASSERT_EQ(first.code, 0) << first.err;
  write("resolved.toml", first.out);
  EXPECT_EQ(ingot({"config", "show", path("resolved.toml")}).out, first.out);
}

TEST_F(Cli, TrainThenGenerate) {
  auto args = train_args("run");
  args.push_back("--json");
  const Outcome train = ingot(args);
  ASSERT_EQ(train.code, 0) << train.err;
  const auto result = last_line_of(train);
  EXPECT_EQ(result.at("step"), 6);
  const auto valid_loss = result.at("valid_loss").get<double>();
  EXPECT_GT(valid_loss, 0);
  EXPECT_EQ(result.at("valid_perplexity"), std::exp(valid_loss));
  EXPECT_EQ(result.at("train_perplexity"), std::exp(result.at("train_loss").get<double>()));
  EXPECT_EQ(result.at("run").get<std::string>().size(), 32u);
  for (const Args& says : {Args{"data", "seen", path("run"), "--json"},
                           Args{"checkpoint", "show", path("run"), "--json"}})
    EXPECT_EQ(last_line_of(ingot(says)).at("run"), result.at("run")) << says[0];
  EXPECT_NE(train.err.find("(ppl "), std::string::npos) << train.err;
  EXPECT_NE(train.err.find("tok/s"), std::string::npos) << train.err;  // progress is on stderr

  const std::vector<std::string> generate = {"generate", path("run"), "--tokens", "20",
                                             "--prompt", "Line",      "--seed",   "5"};
  const Outcome text = ingot(generate);
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with("Line"));
  EXPECT_EQ(ingot(generate).out, text.out);
  EXPECT_EQ(ingot({"checkpoint", "verify", result.at("checkpoint")}).code, 0);
  EXPECT_EQ(ingot({"checkpoint", "ls", path("run")}).code, 0);
  EXPECT_EQ(ingot({"checkpoint", "show", path("run")}).code, 0);
}

TEST_F(Cli, ACheckpointOfFp64IsShownVerifiedAndGeneratedFromAsOthers) {
  ASSERT_EQ(ingot(train_args("run", {"train.precision=fp64", "system.device=cpu"})).code, 0);
  for (const char* command : {"verify", "show"})
    EXPECT_EQ(ingot({"checkpoint", command, path("run/step_00000006")}).code, 0) << command;
  const Outcome text = ingot({"generate", path("run"), "--tokens", "9", "--prompt", "Line"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(text.out.starts_with("Line"));
}

TEST_F(Cli, ManyPromptsGiveALineOfJsonEachEqualToThatOfThePromptAlone) {
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  write("prompts.jsonl", "{\"prompt\": \"Line\"}\n\"Li\"\nThe third\n\n\"\"\nLine\n");
  const Args how = {"--tokens", "12", "--seed", "3", "--top-k", "20", "--min-p", "0.01"};
  for (const char* weights : {"f32", "bf16", "q8_0"}) {
    Args many = {"generate", path("run"), "--prompts", path("prompts.jsonl"), "--weights", weights};
    many.insert(many.end(), how.begin(), how.end());
    const Outcome outcome = ingot(many);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    std::istringstream lines(outcome.out);
    for (const char* prompt : {"Line", "Li", "The third", "", "Line"}) {
      std::string line;
      ASSERT_TRUE(std::getline(lines, line));
      const auto json = nlohmann::json::parse(line);
      EXPECT_EQ(json.at("prompt"), prompt);
      EXPECT_EQ(json.at("finish_reason"), "length");
      EXPECT_GT(json.at("seconds"), 0);
      Args one = {"generate", path("run"), "--prompt", prompt, "--weights", weights, "--json"};
      one.insert(one.end(), how.begin(), how.end());
      EXPECT_EQ(last_line_of(ingot(one)).at("ids"), json.at("ids")) << weights << " " << prompt;
    }
  }
}

TEST_F(Cli, StopStringsEndAReplyBeforeThem) {
  ASSERT_EQ(ingot(train_args("run")).code, 0);
  const Args greedy = {"generate", path("run"), "--prompt", "Line", "--temperature", "0", "--json"};
  const auto with = [&](const Args& more) {
    Args all = greedy;
    all.insert(all.end(), more.begin(), more.end());
    return last_line_of(ingot(all));
  };
  const auto whole = with({"--tokens", "30", "--ignore-eos"});
  const auto text = whole.at("text").get<std::string>();
  ASSERT_GT(text.size(), 10u);
  const std::string stop = text.substr(5, 3);
  const auto stopped = with({"--tokens", "30", "--ignore-eos", "--stop", stop});
  EXPECT_EQ(stopped.at("finish_reason"), "stop");
  EXPECT_EQ(stopped.at("text"), text.substr(0, text.find(stop)));
  const auto id = whole.at("ids")[4].dump();
  EXPECT_EQ(with({"--tokens", "30", "--stop-id", id}).at("finish_reason"), "stop");
}

class CliTokenizer : public Cli, public ::testing::WithParamInterface<std::string> {};

TEST_P(CliTokenizer, TravelsWithTheCheckpoint) {
  expect_tokenizer_travels(GetParam(), root_, "text.txt", train_args("run"));
}

INSTANTIATE_TEST_SUITE_P(Formats, CliTokenizer, ::testing::ValuesIn(kTokenizersOfOneFile),
                         format_name);

// Each is one clear line on stderr, a failing exit code, and nothing left behind.
TEST_F(Cli, BadInputGivesOneLineAndLeavesNothing) {
  write("empty.txt", "");
  write("latin1.txt", "caf\xe9 au lait, mais pas en UTF-8\n" + std::string(4000, 'x'));
  write("odd.bin", std::string(4097, '\1'));
  write("wide.bin", std::string(4096, '\xff'));  // u16 ids of 65535
  write("short.txt", "too short");
  write("broken.toml", "[batch\nseq = 16\n");
  write("cut_header.bin",
        std::string("\x38\xd8\x34\x01\x01\0\0\0\xff\xff\0\0", 12) + std::string(1200, '\0'));
  struct Case {
    std::string set;     // KEY=VALUE added to a good run
    std::string expect;  // a part of the message
  };
  const std::vector<Case> cases = {
      {"data.train=" + path("nowhere.txt"), "nowhere.txt"},
      {"data.train=" + path("empty.txt"), "empty"},
      {"data.train=" + path("latin1.txt"), "UTF-8"},
      {"data.train=" + path("odd.bin"), "odd.bin"},
      {"data.train=" + path("wide.bin"), "65535"},
      {"data.train=" + path("cut_header.bin"), "cut_header.bin"},
      {"data.train=" + path("short.txt"), "short.txt"},
      {"data.train=", "data.train"},
      {"data.tokenizer=" + path("text.txt"), "text.txt"},
      {"model.heads=5", "heads"},
      {"model.kv_heads=3", "kv_heads"},
      {"batch.seq=100000", "context"},
      {"batch.seq=0", "batch.seq"},
      {"batch.tokens=33", "batch.tokens"},
      {"train.steps=0", "steps"},
      {"train.precision=fp7", "precision"},
      {"optim.lr=fast", "optim.lr"},
      {"data.token_dtype=u8", "token_dtype"},
      {"checkpoint.dir=" + path("text.txt") + "/run", "text.txt"},
  };
  for (const Case& bad : cases) {
    const Outcome outcome = ingot(train_args("run", {bad.set}));
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << bad.set << " exit " << outcome.code;
    EXPECT_EQ(count_lines(outcome.err), 1) << bad.set << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(bad.expect), std::string::npos) << bad.set << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << bad.set;
    EXPECT_FALSE(fs::exists(root_ / "run")) << bad.set;
  }
  const Outcome broken = ingot({"train", path("broken.toml")});
  EXPECT_EQ(broken.code, 2);
  EXPECT_EQ(count_lines(broken.err), 1) << broken.err;
  EXPECT_NE(broken.err.find("broken.toml"), std::string::npos);
  EXPECT_EQ(ingot({"train", path("nowhere.toml")}).code, 1);
  EXPECT_EQ(ingot({"generate", path("nowhere")}).code, 1);
}

TEST_F(Cli, BadModelFilesAreRefusedWhole) {
  write("model.bin", std::string(5, '\0'));
  write("tokenizer.bin", std::string(3, '\0'));
  const Outcome outcome = ingot({"checkpoint", "import", path("model.bin"), "--tokenizer",
                                 path("tokenizer.bin"), "--out", path("imported")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(count_lines(outcome.err), 1) << outcome.err;
  EXPECT_FALSE(fs::exists(root_ / "imported"));
}

// Last loss recorded for every step; a step repeated after a kill supersedes the earlier record.
std::map<int64_t, double> losses_of(const fs::path& run) {
  std::map<int64_t, double> losses;
  for (const auto& record : read_ledger(*posix_storage(), (run / "ledger.jsonl").string()).records)
    if (record.at("kind") == "step") losses[record.at("step")] = record.at("loss");
  return losses;
}

TEST_F(Cli, KilledAtRandomMomentsAndResumedEqualsUndisturbed) {
  const std::vector<std::string> sets = {"train.steps=120", "checkpoint.every=7",
                                         "train.log_every=50"};
  ASSERT_EQ(ingot(train_args("whole", sets)).code, 0);
  auto args = train_args("killed", sets);
  args.push_back("--resume");

  const RandomStream random(20261115, Purpose::Test);
  int kills = 0;
  for (uint64_t attempt = 0; attempt < 50; ++attempt) {
    Process process(args, root_);
    if (attempt < 8) {
      // Kill when the ledger has grown by a random amount, so the moment does not depend on speed.
      const auto ledger = root_ / "killed" / "ledger.jsonl";
      auto size = [&] { return fs::exists(ledger) ? fs::file_size(ledger) : 0; };
      const uintmax_t target = size() + 4000 + random.bits(attempt) % 4000;
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (size() < target && std::chrono::steady_clock::now() < give_up)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      process.signal(SIGKILL);
    }
    const int code = process.wait();
    if (code == 0) break;
    ASSERT_EQ(code, -SIGKILL) << process.err();
    ++kills;
  }
  EXPECT_GE(kills, 4);
  EXPECT_EQ(losses_of(root_ / "killed"), losses_of(root_ / "whole"));
}

TEST_F(Cli, InterruptSavesAndStops) {
  auto args = train_args("run", {"train.steps=1000000"});
  Process process(args, root_);
  const auto ledger = root_ / "run" / "ledger.jsonl";
  while (!fs::exists(ledger) || fs::file_size(ledger) < 2000)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  process.signal(SIGINT);
  EXPECT_EQ(process.wait(), 3) << process.err();
  EXPECT_NE(process.out().find("--resume"), std::string::npos) << process.out();
  EXPECT_EQ(ingot({"generate", path("run"), "--tokens", "3"}).code, 0);
}

TEST_F(Cli, QuickstartTrainsOnTheUsersTextAndWritesSamples) {
  for (const std::string ranks : {"1", "2"}) {
    const std::string out = "quick" + ranks;
    const Outcome outcome = ingot({"quickstart", "--text", path("text.txt"), "--out", path(out),
                                   "--minutes", "0.001", "--set", "preset=llama_test", "--set",
                                   "batch.seq=64", "--set", "system.ranks=" + ranks, "--json"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.out.find("bits per byte"), std::string::npos);
    EXPECT_NE(outcome.out.find("What next"), std::string::npos);
    EXPECT_GT(fs::file_size(root_ / out / "samples.txt"), 100u);
  }
}

}  // namespace
}  // namespace ingot::test
