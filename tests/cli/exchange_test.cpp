// Models in and out of other programs' formats, as a user does it. Golden folders were written by
// transformers: tools/goldens/make_exchange_goldens.py.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "checkpoint/elements.h"
#include "checkpoint/safetensors.h"
#include "cli/process.h"
#include "ingest/web_server.h"
#include "support/own_folder.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
const fs::path kGolden = testing_support::source_path("tests/golden/hf");

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
  ExchangeCli() : root_(testing_support::own_folder()) { fs::create_directories(root_); }
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
  // Of these two, another order of sums in F32 moves transformers' own logits nearly as far or
  // further (tools/exchange_check/rounding.py).
  const bool is_further = GetParam() == "llama_dynamic" || GetParam() == "llama_yarn_factor";
  EXPECT_LE(apart, (is_further ? 1.2e-5f : 1e-5f) * largest);

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

TEST_F(ExchangeCli, AGivenTokenizerThatIsTheModelsOwnLeavesWhatCameWithIt) {
  const fs::path folder = kGolden / "smollm2";
  const Outcome imported = checkpoint(
      {"import", folder, "--tokenizer", folder / "tokenizer.json", "--out", path("model")});
  EXPECT_EQ(imported.code, 0);
  EXPECT_EQ(imported.err, "");
  expect_done({"export", path("model"), "--to", "hf", "--out", path("back")});
  EXPECT_EQ(slurp(root_ / "back/tokenizer_config.json"), slurp(folder / "tokenizer_config.json"));
}

TEST_F(ExchangeCli, AnImportedModelIsShownAsAModelAndNotAsARun) {
  expect_done({"import", kGolden / "smollm2", "--out", path("model")});
  const Outcome shown = checkpoint({"show", path("model"), "--json"});
  for (const char* said :
       {"[model]", "imported from", "parameters, bf16", "tokenizer", "chat template"})
    EXPECT_NE(shown.out.find(said), std::string::npos) << said << "\n" << shown.out;
  for (const char* untrue : {"preset", "[optim", "[train]", "[data]", "loss", "step"})
    EXPECT_EQ(shown.out.find(untrue), std::string::npos) << untrue << "\n" << shown.out;
  for (const char* command : {"ls", "verify"}) {
    const Outcome one = checkpoint({command, path("model")});
    EXPECT_EQ(one.code, 0) << one.err;
    EXPECT_NE(one.out.find(path("model")), std::string::npos) << command;
    EXPECT_EQ(one.out.find("loss"), std::string::npos) << one.out;
  }
  const Outcome text = run_ingot({"generate", path("model"), "--prompt", "a"}, root_);
  EXPECT_EQ(text.code, 0) << text.err;  // as much as its context has room for
}

TEST_F(ExchangeCli, AModelThatIsNoCheckpointYetIsToldHowToBecomeOne) {
  const std::string folder = kGolden / "llama";
  const std::vector<std::vector<std::string>> ways = {
      {"checkpoint", "ls", folder},
      {"checkpoint", "verify", folder},
      {"config", "show", "--set", "train.init=" + folder}};
  for (const auto& words : ways) {
    const Outcome outcome = run_ingot(words, root_);
    EXPECT_NE(outcome.code, 0) << words[1];
    EXPECT_NE(outcome.err.find("ingot checkpoint import " + folder), std::string::npos)
        << words[1] << ": " << outcome.err;
  }
  expect_done({"import", folder, "--out", path("model")});
  const Outcome again = checkpoint({"import", path("model"), "--out", path("other")});
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.err.find("already"), std::string::npos) << again.err;
}

TEST_F(ExchangeCli, AnEmptyFolderIsFilledHoweverItIsNamed) {
  const std::string folder = kGolden / "llama";
  for (const char* name : {"plain", "with ü and spaces", "elsewhere"})
    fs::create_directory(root_ / name);
  fs::create_symlink("elsewhere", root_ / "link");
  expect_done({"import", folder, "--out", path("plain/")});
  expect_done({"import", folder, "--out", path("with ü and spaces") + "//"});
  expect_done({"import", folder, "--out", path("link")});
  EXPECT_TRUE(fs::is_symlink(path("link")));
  expect_done({"verify", path("elsewhere")});
  expect_done({"export", path("plain"), "--to", "hf", "--out", path("new/below/")});
  expect_done({"diff", path("new/below"), path("link")});
  fs::create_directory(root_ / "here");
  const fs::path before = fs::current_path();
  fs::current_path(root_ / "here");
  const Outcome current = checkpoint({"import", folder, "--out", "."});
  fs::current_path(before);
  EXPECT_EQ(current.code, 2) << current.err;
  EXPECT_NE(current.err.find("name a new folder in it"), std::string::npos) << current.err;
}

TEST_F(ExchangeCli, AnExportSaysTheDtypeThatItWrote) {
  expect_done({"import", kGolden / "llama_linear", "--out", path("model")});
  const Outcome half = checkpoint(
      {"export", path("model"), "--to", "hf", "--out", path("half"), "--dtype", "f16", "--json"});
  EXPECT_NE(half.out.find("parameters, f16"), std::string::npos) << half.out;
  const Outcome llama2c = checkpoint(
      {"export", path("model"), "--to", "llama2c", "--out", path("file"), "--dtype", "bf16"});
  EXPECT_EQ(llama2c.code, 2);
  EXPECT_NE(llama2c.err.find("f32"), std::string::npos) << llama2c.err;
  EXPECT_FALSE(fs::exists(path("file")));
}

TEST_F(ExchangeCli, ARecipesPresetGivesWayToTheModelThatARunBeginsFrom) {
  expect_done({"import", kGolden / "qwen3", "--out", path("model")});
  const auto show = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "config", "show", "--set", "train.init=" + path("model"), "--set", "batch.seq=16"};
    words.insert(words.end(), more.begin(), more.end());
    return run_ingot(words, root_);
  };
  EXPECT_NE(show({}).out.find("preset = \"none\""), std::string::npos) << show({}).out;
  EXPECT_EQ(show({}).out, show({"--set", "preset=none"}).out);
  EXPECT_EQ(run_ingot({"config", "show", "--set", "preset=none"}, root_).code, 2);
  std::ofstream(path("recipe.toml"))
      << "preset = \"llama_tiny\"\n[train]\ninit = \"" << path("model") << "\"\nsteps = 1\n"
      << "[data]\ntrain = \"" << path("text.txt") << "\"\n[batch]\nseq = 8\nmicro_batch = 1\n"
      << "[checkpoint]\ndir = \"" << path("run") << "\"\n";
  std::ofstream(path("text.txt")) << std::string(400, 'a');
  const Outcome refused = run_ingot({"train", path("recipe.toml")}, root_);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("preset=none"), std::string::npos) << refused.err;
  const std::vector<std::string> train = {"train", path("recipe.toml"),   "--set", "preset=none",
                                          "--set", "model.rope.theta=500"};
  const Outcome trained = run_ingot(train, root_);
  EXPECT_EQ(trained.code, 0) << trained.err;
  // The shapes are the same, the model is another: meant or not, it is said.
  EXPECT_NE(trained.err.find("model.rope.theta"), std::string::npos) << trained.err;
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

// How often a command opens files of this name, by what -v says.
int openings(const Outcome& outcome, const std::string& name) {
  int found = 0;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);)
    if (line.find("open") != std::string::npos && line.find(name) != std::string::npos) ++found;
  return found;
}

TEST_F(ExchangeCli, AnImportReadsConfigJsonOnce) {
  const Outcome local = checkpoint({"import", kGolden / "llama", "--out", path("local"), "-v"});
  EXPECT_EQ(local.code, 0) << local.err;
  EXPECT_EQ(openings(local, "llama/config.json"), 1) << local.err;

  testing_support::WebServer server((kGolden / "llama").string());
  setenv("HF_ENDPOINT", server.root().c_str(), 1);
  const Outcome fetched = checkpoint(
      {"import", "hf://owner/name", "--cache", path("cache"), "--out", path("fetched"), "-v"});
  unsetenv("HF_ENDPOINT");
  EXPECT_EQ(fetched.code, 0) << fetched.err;
  EXPECT_EQ(openings(fetched, "/config.json"), 1) << fetched.err;
  expect_done({"diff", path("local"), path("fetched")});
}

// A repository of the hub: a golden model's files, and what a test does to them.
class HubModel : public ExchangeCli {
 protected:
  HubModel() {
    fs::copy(kGolden / "llama", root_ / "hub");
    server_.emplace(path("hub"));
    setenv("HF_ENDPOINT", server_->root().c_str(), 1);
  }
  ~HubModel() override { unsetenv("HF_ENDPOINT"); }

  Outcome import(const std::string& address, const std::string& out) const {
    return checkpoint({"import", address, "--cache", path("cache"), "--out", path(out)});
  }
  // One line that says all of it; no weights were fetched.
  void expect_refused(const std::string& address, const std::vector<std::string>& said) const {
    const Outcome outcome = import(address, "model");
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    for (const std::string& what : said)
      EXPECT_NE(outcome.err.find(what), std::string::npos) << outcome.err;
    EXPECT_FALSE(fs::exists(path("model")));
    if (!fs::exists(path("cache"))) return;
    for (const auto& entry : fs::recursive_directory_iterator(path("cache")))
      EXPECT_FALSE(entry.path().string().ends_with(".safetensors")) << entry.path();
  }

  std::optional<testing_support::WebServer> server_;
};

TEST_F(HubModel, OfABranchThatMovedIsItsNewCommitAndTheImportSaysWhich) {
  EXPECT_EQ(import("hf://owner/name", "first").code, 0);
  const Outcome shown = checkpoint({"show", path("first"), "--json"});
  const std::string origin =
      nlohmann::json::parse(shown.out.substr(shown.out.rfind("\n{"))).at("origin").at("path");
  EXPECT_TRUE(origin.starts_with("hf://owner/name@")) << origin;
  EXPECT_EQ(origin.size(), std::string("hf://owner/name@").size() + 40) << origin;
  EXPECT_EQ(import(origin, "same").code, 0);

  expect_done({"import", kGolden / "llama", "--out", path("bf16")});
  fs::remove(root_ / "hub/model.safetensors");
  expect_done({"export", path("bf16"), "--to", "hf", "--out", path("wide"), "--dtype", "f32"});
  fs::copy(root_ / "wide/model.safetensors", root_ / "hub/model.safetensors");
  EXPECT_EQ(import("hf://owner/name", "second").code, 0);
  EXPECT_NE(checkpoint({"show", path("second")}).out.find("parameters, f32"), std::string::npos);
}

TEST_F(HubModel, ThatNeedsATokenSaysHowToGiveIt) {
  expect_refused("hf://owner/name@no-such-tag", {"404", "no-such-tag"});
  for (const char* address : {"hf://private/name", "hf://gated/name"})
    expect_refused(address, {"401", "HF_TOKEN", address});
  setenv("HF_TOKEN", "secret", 1);
  EXPECT_EQ(import("hf://private/name", "one").code, 0);
  EXPECT_EQ(import("hf://gated/name", "other").code, 0);
  unsetenv("HF_TOKEN");
}

TEST_F(HubModel, ThatCannotBeImportedIsRefusedBeforeItsWeightsAreFetched) {
  std::ofstream(root_ / "hub/config.json") << R"({"architectures": ["MambaForCausalLM"]})";
  expect_refused("hf://owner/name", {"MambaForCausalLM"});
  fs::copy_file(kGolden / "llama/config.json", root_ / "hub/config.json",
                fs::copy_options::overwrite_existing);
  fs::rename(root_ / "hub/model.safetensors", root_ / "hub/pytorch_model.bin");
  expect_refused("hf://owner/name", {"pytorch_model.bin", "tools/pt_to_safetensors.py"});
  fs::rename(root_ / "hub/pytorch_model.bin", root_ / "hub/model.q4.gguf");
  expect_refused("hf://owner/name", {"no weights as safetensors"});
  fs::remove(root_ / "hub/config.json");
  expect_refused("hf://owner/name", {"config.json"});
}

TEST_F(HubModel, WithWeightsInSeveralFormsIsFetchedOnceOverABadLine) {
  for (const char* folder : {"original", "onnx", "model_onnx"}) {
    fs::create_directory(root_ / "hub" / folder);
    fs::copy(kGolden / "llama/model.safetensors", root_ / "hub" / folder / "model.safetensors");
  }
  fs::copy(kGolden / "llama/model.safetensors", root_ / "hub/model.fp16.safetensors");
  std::ofstream(root_ / "hub/model.safetensors.index.json") << "of another export";
  EXPECT_EQ(import("hf://flaky/name", "model").code, 0);
  expect_done({"diff", path("model"), kGolden / "llama"});
  int weights = 0;
  for (const auto& entry : fs::directory_iterator(path("cache")))
    weights += entry.path().string().ends_with(".safetensors") ? 1 : 0;
  EXPECT_EQ(weights, 1);
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
      {"no index",
       [&] {
         fs::rename(folder / "model.safetensors", folder / "model-00001-of-00001.safetensors");
         text("model.safetensors.index.json", "{}");
       }},
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
    EXPECT_FALSE(fs::exists(path("logits.part")));
  }
}

}  // namespace
}  // namespace ingot::test
