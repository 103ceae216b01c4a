// Models in and out of other programs' formats, as a user does it. Golden folders were written by
// transformers: tools/goldens/make_exchange_goldens.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>

#include "checkpoint/elements.h"
#include "checkpoint/safetensors.h"
#include "cli/process.h"
#include "ingest/web_server.h"
#include "support/own_folder.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
const fs::path kGolden = INGOT_SOURCE_DIR "/tests/golden/hf";

std::vector<std::string> golden_models() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGolden))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<float> logits_in(const fs::path& path) {
  const auto file = posix_storage()->open(path);
  const SafetensorsEntry entry = read_safetensors_header(*file, path).at("logits");
  std::vector<float> values(static_cast<size_t>(entry.numel));
  read_elements(*file, entry.offset, entry.dtype,
                Tensor::contiguous(values.data(), DType::F32, {entry.numel}));
  return values;
}

class ExchangeCli : public ::testing::Test {
 protected:
  ExchangeCli() : root_(testing_support::own_folder()) {}
  ~ExchangeCli() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  Outcome checkpoint(std::vector<std::string> args) const {
    args.insert(args.begin(), "checkpoint");
    return run_ingot(args, root_);
  }
  void expect_done(const std::vector<std::string>& args) const {
    const Outcome outcome = checkpoint(args);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }

  fs::path root_;
};

class GoldenModel : public ExchangeCli, public ::testing::WithParamInterface<std::string> {};

TEST_P(GoldenModel, HasTheLogitsOfTransformersAndGoesBackAsItCame) {
  const fs::path folder = kGolden / GetParam();
  expect_done({"import", folder, "--out", path("model")});
  expect_done({"logits", path("model"), "--ids", folder / "ids.txt", "--out", path("logits")});
  const std::vector<float> ours = logits_in(path("logits"));
  const std::vector<float> theirs = logits_in(folder / "logits.safetensors");
  ASSERT_EQ(ours.size(), theirs.size());
  float largest = 0.0f, apart = 0.0f;
  for (size_t i = 0; i < ours.size(); ++i) {
    largest = std::max(largest, std::abs(theirs[i]));
    apart = std::max(apart, std::abs(ours[i] - theirs[i]));
  }
  EXPECT_GT(largest, 1.0f);
  EXPECT_LE(apart, 1e-5f * largest);

  expect_done({"export", path("model"), "--to", "hf", "--out", path("back")});
  expect_done({"diff", path("back"), folder});
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "generation_config.json"})
    EXPECT_EQ(slurp(root_ / "back" / name), slurp(folder / name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenModel, ::testing::ValuesIn(golden_models()),
                         [](const auto& test) { return test.param; });

TEST_F(ExchangeCli, DiffNamesWhatDiffersAndFails) {
  const fs::path folder = kGolden / "llama";
  expect_done({"import", folder, "--out", path("a")});
  expect_done({"export", path("a"), "--to", "hf", "--out", path("b"), "--dtype", "f16"});
  expect_done({"export", path("a"), "--to", "hf", "--out", path("c"), "--dtype", "f32"});
  expect_done({"diff", path("a"), path("c")});
  const Outcome other = checkpoint({"diff", path("a"), kGolden / "llama_llama3", "--json"});
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.out.find("model.rope.scaling"), std::string::npos) << other.out;
  EXPECT_NE(other.out.find("layers.2.down.weight"), std::string::npos) << other.out;
}

TEST_F(ExchangeCli, ShowSaysTheFamilyAndWhereItCameFrom) {
  expect_done({"import", kGolden / "mistral", "--out", path("model")});
  const Outcome shown = checkpoint({"show", path("model")});
  EXPECT_NE(shown.out.find("MistralForCausalLM"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find((kGolden / "mistral").string()), std::string::npos) << shown.out;
}

TEST_F(ExchangeCli, TrainingGoesOnFromAnImportedModelAndKeepsWhatCameWithIt) {
  expect_done({"import", kGolden / "llama", "--out", path("model")});
  std::ofstream text(root_ / "text.txt");
  for (int i = 0; i < 400; ++i) text << "a cat and a dog ";
  text.close();
  std::vector<std::string> train = {"train", "--json"};
  const std::string recipe = path("recipe.toml");
  std::ofstream(recipe) << "[train]\ninit = \"" << path("model") << "\"\nsteps = 3\n"
                        << "[data]\ntrain = \"" << path("text.txt") << "\"\n"
                        << "[batch]\nseq = 16\nmicro_batch = 2\ntokens = 32\n"
                        << "[optim]\nlr = 1e-30\n[optim.schedule]\nkind = \"constant\"\n"
                        << "[checkpoint]\ndir = \"" << path("run") << "\"\n";
  const Outcome run = run_ingot({"train", recipe, "--json"}, root_);
  ASSERT_EQ(run.code, 0) << run.err;
  // A rate of nothing: the weights are those that were imported, the steps the run's own.
  const Outcome shown = checkpoint({"show", path("run"), "--json"});
  EXPECT_NE(shown.out.find("step 3"), std::string::npos) << shown.out;
  expect_done({"export", path("run"), "--to", "hf", "--out", path("back"), "--dtype", "bf16"});
  expect_done({"diff", path("back"), kGolden / "llama"});
  EXPECT_EQ(slurp(root_ / "back/tokenizer_config.json"),
            slurp(kGolden / "llama/tokenizer_config.json"));
  const Outcome resumed =
      run_ingot({"train", "--resume", path("run"), "--set", "train.steps=4"}, root_);
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  const Outcome wrong = run_ingot(
      {"train", recipe, "--set", "model.ffn=64", "--set", "checkpoint.dir=" + path("other")},
      root_);
  EXPECT_NE(wrong.code, 0);
  EXPECT_NE(wrong.err.find("train.init"), std::string::npos) << wrong.err;
  EXPECT_FALSE(fs::exists(path("other")));
}

TEST_F(ExchangeCli, AModelOfTheHubIsFetchedOnceAndImported) {
  testing_support::WebServer server((kGolden / "qwen3").string());
  setenv("HF_ENDPOINT", server.root().c_str(), 1);
  for (const char* out : {"first", "second"})
    expect_done({"import", "hf://owner/name", "--cache", path("cache"), "--out", path(out)});
  expect_done({"diff", path("first"), kGolden / "qwen3"});
  const Outcome shown = checkpoint({"show", path("second")});
  EXPECT_NE(shown.out.find("hf://owner/name"), std::string::npos) << shown.out;
  for (const char* wrong : {"hf://owner", "hf://datasets/owner/name", "hf://owner/name/file"}) {
    const Outcome refused =
        checkpoint({"import", wrong, "--cache", path("cache"), "--out", path("third")});
    EXPECT_EQ(refused.code, 2) << refused.err;
    EXPECT_NE(refused.err.find("hf://OWNER/NAME"), std::string::npos) << refused.err;
  }
  unsetenv("HF_ENDPOINT");
}

TEST_F(ExchangeCli, AFolderAsTheHubsCacheKeepsItIsImported) {
  const fs::path blobs = root_ / "models--owner--name/blobs",
                 snapshot = root_ / "models--owner--name/snapshots/0a1b";
  fs::create_directories(blobs);
  fs::create_directories(snapshot);
  for (const auto& entry : fs::directory_iterator(kGolden / "qwen3")) {
    const fs::path name = entry.path().filename();
    fs::copy_file(entry.path(), blobs / ("blob of " + name.string()));
    fs::create_symlink("../../blobs/blob of " + name.string(), snapshot / name);
  }
  expect_done({"import", snapshot, "--out", path("model")});
  expect_done({"diff", path("model"), kGolden / "qwen3"});
}

TEST_F(ExchangeCli, ABadFolderIsOneLineAndLeavesNothing) {
  const fs::path work = root_ / "work", folder = work / "folder", out = work / "model";
  const auto text = [&](const char* name, const std::string& contents) {
    std::ofstream(folder / name) << contents;
  };
  const std::vector<std::pair<std::string, std::function<void()>>> ways = {
      {"MambaForCausalLM",
       [&] { text("config.json", R"({"architectures": ["MambaForCausalLM"]})"); }},
      {"not JSON", [&] { text("config.json", std::string(100'000, '[')); }},
      {"config.json", [&] { fs::remove(folder / "config.json"); }},
      {"header", [&] { fs::resize_file(folder / "model.safetensors", 100); }},
      {"outside the file", [&] { fs::resize_file(folder / "model.safetensors", 10'000); }},
      {"git lfs pull",
       [&] { text("model.safetensors", "version https://git-lfs.github.com/spec/v1"); }},
      {"holds no weights", [&] { fs::remove(folder / "model.safetensors"); }},
      {"pt_to_safetensors",
       [&] { fs::rename(folder / "model.safetensors", folder / "pytorch_model.bin"); }},
      {"no index", [&] { text("model.safetensors.index.json", "{}"); }},
      {"tokenizer", [&] { fs::remove(folder / "tokenizer.json"); }},
      {"Not a directory", [&] { std::ofstream(out) << "somebody's file"; }},
      {"already holds something",
       [&] {
         fs::create_directory(out);
         std::ofstream(out / "notes.txt") << "somebody's file";
       }},
  };
  for (const auto& [what, spoil] : ways) {
    fs::remove_all(work);
    fs::create_directories(work);
    fs::copy(kGolden / "llama", folder);
    spoil();
    const auto files = [&] {
      std::vector<std::string> found;
      for (const auto& entry : fs::recursive_directory_iterator(work))
        found.push_back(entry.path());
      std::sort(found.begin(), found.end());
      return found;
    };
    const std::vector<std::string> before = files();
    const Outcome outcome = checkpoint({"import", folder, "--out", out});
    EXPECT_NE(outcome.code, 0) << what;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(what), std::string::npos) << what << ": " << outcome.err;
    EXPECT_EQ(files(), before) << what;
  }
}

TEST_F(ExchangeCli, IdsThatAreNoneAreRefused) {
  expect_done({"import", kGolden / "llama", "--out", path("model")});
  for (const char* ids : {"", "1 2 x", "48", "-1", "99999999999"}) {
    std::ofstream(path("ids.txt")) << ids;
    const Outcome outcome =
        checkpoint({"logits", path("model"), "--ids", path("ids.txt"), "--out", path("logits")});
    EXPECT_NE(outcome.code, 0) << ids;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_FALSE(fs::exists(path("logits")));
  }
}

}  // namespace
}  // namespace ingot::test
