// Traps of files that commands write where there is one already: docs/traps.md.
#include <sys/stat.h>

#include "traps/trap.h"

namespace ingot::test {
namespace {

class OverwriteTrap : public Trap {
 protected:
  static constexpr const char* kKept = "what nobody asked to lose";

  // Refused with exit code 2 over each of `files`, which stay; with --force they are replaced.
  void expect_refused_unless_forced(const Args& args, const Args& files) const {
    for (const std::string& file : files) {
      write(file, kKept);
      const Outcome refused = ingot(args);
      EXPECT_EQ(refused.code, 2) << args[0] << " " << args[1] << ": " << refused.err;
      EXPECT_TRUE(contains(refused.err, fs::path(file).filename().string())) << refused.err;
      EXPECT_TRUE(contains(refused.err, "--force")) << refused.err;
      EXPECT_EQ(slurp(root_ / file), kKept);
      for (const std::string& other : files)
        EXPECT_FALSE(other != file && fs::exists(root_ / other));
      fs::remove(root_ / file);
    }
    for (const std::string& file : files) write(file, kKept);
    const Outcome forced = ingot(with(args, {"--force"}));
    EXPECT_EQ(forced.code, 0) << forced.err;
    for (const std::string& file : files) EXPECT_NE(slurp(root_ / file), kKept) << file;
  }
  void make_shards() const {
    const Outcome outcome = ingot(
        {"data", "tokenize", path("text.txt"), "--tokenizer", "byte", "--out", path("shards")});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  void make_run() const {
    const Outcome outcome = ingot(train_args("run", {"train.steps=1"}));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
};

TEST_F(OverwriteTrap, TokenizersReplaceNoFileUnlessForced) {
  const Args train = {"tokenizer", "train", "--input", path("text.txt"), "--vocab", "270", "--out"};
  expect_refused_unless_forced(with(train, {path("a.json")}), {"a.json"});
  expect_refused_unless_forced(with(train, {path("b.tiktoken")}), {"b.tiktoken", "b.toml"});
  const Args convert = {"tokenizer", "convert", "--tokenizer", path("a.json"), "--out"};
  expect_refused_unless_forced(with(convert, {path("c.tiktoken")}), {"c.tiktoken", "c.toml"});
  expect_refused_unless_forced(with(convert, {path("d.json")}), {"d.json"});
}

TEST_F(OverwriteTrap, ExportedTokensReplaceNoFileUnlessForced) {
  make_shards();
  const auto args = [&](const std::string& format) {
    return Args{"data", "export", path("shards"), "--format", format, "--out", path(format)};
  };
  expect_refused_unless_forced(args("megatron"), {"megatron.bin", "megatron.idx"});
  expect_refused_unless_forced(args("nanogpt"), {"nanogpt"});
  expect_refused_unless_forced(args("llmc"), {"llmc_000000.bin"});
}

TEST_F(OverwriteTrap, LogitsAndExportedModelsReplaceNoFileUnlessForced) {
  make_run();
  write("ids.txt", "1 2 3");
  expect_refused_unless_forced({"checkpoint", "logits", path("run"), "--ids", path("ids.txt"),
                                "--out", path("logits.safetensors")},
                               {"logits.safetensors"});
  expect_refused_unless_forced(
      {"checkpoint", "export", path("run"), "--to", "gguf", "--out", path("model.gguf")},
      {"model.gguf"});
}

TEST_F(OverwriteTrap, AProfileOfAMachineReplacesNoFileUnlessForced) {
  expect_refused_unless_forced({"probe", "--seconds", "1", "--save", path("machine.toml")},
                               {"machine.toml"});
}

// A file that takes the place of the pipe would be what the reader waits for in vain.
TEST_F(OverwriteTrap, APipeIsWrittenAndNotReplaced) {
  make_run();
  write("ids.txt", "1 2 3");
  const Outcome outcome = shell(
      "mkfifo pipe.safetensors && { cat pipe.safetensors >got & } && "
      "\"$INGOT\" checkpoint logits run --ids ids.txt --out pipe.safetensors; code=$?; "
      "[ -p pipe.safetensors ] || kill $!; wait; exit $code");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(fs::is_fifo(root_ / "pipe.safetensors"));
  EXPECT_GT(fs::exists(root_ / "got") ? fs::file_size(root_ / "got") : 0, 0u);
}

}  // namespace
}  // namespace ingot::test
