#include "spec/run/run_config.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "spec/error_text.h"
#include "spec/run/run_id.h"
#include "spec/run/run_length.h"
#include "support/source_path.h"

namespace ingot {
namespace {

std::string file_text(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

RunConfig parse(std::string_view toml, const Overrides& overrides = {}) {
  return parse_run_config(toml, "run.toml", overrides);
}

std::string parse_error(std::string_view toml, const Overrides& overrides = {}) {
  return error_text([&] { parse(toml, overrides); });
}

TEST(RunConfig, AnEmptyRecipeIsTheDefaults) {
  EXPECT_EQ(to_toml(parse("")), to_toml(RunConfig{}));
}

TEST(RunConfig, PrecisionsAndDevicesHaveOneNameEverywhere) {
  for (const Precision precision :
       {Precision::Auto, Precision::Fp64, Precision::Fp32, Precision::Tf32, Precision::Bf16,
        Precision::Fp16, Precision::Fp8}) {
    const std::string name(name_of(precision));
    const RunConfig config = parse("", {{"train.precision", name}});
    EXPECT_EQ(config.train.precision, precision);
    EXPECT_NE(to_toml(config).find("\nprecision = \"" + name + "\"\n"), std::string::npos);
  }
  for (const DeviceChoice device : {DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Cuda})
    EXPECT_EQ(parse("", {{"system.device", std::string(name_of(device))}}).system.device, device);
  EXPECT_NE(parse_error("", {{"train.precision", "fp12"}})
                .find("expected one of auto, fp64, fp32, tf32, bf16, fp16, fp8"),
            std::string::npos);
}

TEST(RunConfig, LaterSourcesWin) {
  const char* recipe =
      "preset = \"llama_tiny\"\noptim.lr = 0.5\n[model]\nffn = 400\nrope.theta = 2e4\n";
  const RunConfig from_recipe = parse(recipe);
  EXPECT_EQ(from_recipe.preset, "llama_tiny");
  EXPECT_EQ(from_recipe.model.dim, 128);
  EXPECT_EQ(from_recipe.model.ffn, 400);
  EXPECT_EQ(from_recipe.model.rope.theta, 2e4);
  EXPECT_EQ(from_recipe.optim.lr, 0.5);
  // The preset is the ground that recipe and overrides stand on, wherever it was named.
  const RunConfig overridden =
      parse(recipe, {{"optim.lr", "3e-4"}, {"model.window", "8"}, {"preset", "llama_7b"}});
  EXPECT_EQ(overridden.preset, "llama_7b");
  EXPECT_EQ(overridden.model.dim, 4096);
  EXPECT_EQ(overridden.model.ffn, 400);
  EXPECT_EQ(overridden.model.window, 8);
  EXPECT_EQ(overridden.optim.lr, 3e-4);
}

TEST(RunConfig, UnknownKeysNameTheNearestAndTheLine) {
  EXPECT_EQ(parse_error("[optim]\nlr = 1\nbeta3 = 0.9\n"),
            "run.toml:3: unknown setting \"optim.beta3\"; did you mean \"optim.beta1\"? "
            "`ingot config keys` lists them all");
  EXPECT_EQ(parse_error("\n\nlr = 1\n"),
            "run.toml:3: unknown setting \"lr\"; did you mean \"optim.lr\"? "
            "`ingot config keys` lists them all");
  EXPECT_EQ(parse_error("[wandb]\n"),
            "run.toml:1: unknown setting \"wandb\"; `ingot config keys` lists them all");
  EXPECT_EQ(parse_error("\"a\\nb\" = 1\n"),
            "run.toml:1: unknown setting \"a?b\"; `ingot config keys` lists them all");
  EXPECT_EQ(parse_error("", {{"optim.lrr", "1"}}),
            "--set: unknown setting \"optim.lrr\"; did you mean \"optim.lr\"? "
            "`ingot config keys` lists them all");
}

TEST(RunConfig, WrongValuesSayWhatIsExpectedAndWhere) {
  EXPECT_EQ(parse_error("[train]\nsteps = \"many\"\n"),
            "run.toml:2: train.steps: expected a whole number from 0 to 1e+12, got \"many\"");
  EXPECT_EQ(parse_error("[train]\nsteps = 1.5\n"),
            "run.toml:2: train.steps: expected a whole number from 0 to 1e+12, got 1.5");
  EXPECT_EQ(parse_error("optim.beta1 = 1\n"),
            "run.toml:1: optim.beta1: expected a number from 0 to 0.999999, got 1");
  EXPECT_EQ(parse_error("optim.lr = nan\n"),
            "run.toml:1: optim.lr: expected a number from 0 to 100, got nan");
  EXPECT_EQ(parse_error("optim.lr = [1]\n"),
            "run.toml:1: optim.lr: expected one value, got a list");
  EXPECT_EQ(parse_error("[optim.lr]\n"), "run.toml:1: optim.lr: expected one value, got a section");
  EXPECT_EQ(parse_error("train.steps = 1979-05-27\n"),
            "run.toml:1: train.steps: expected one value, got a date or time");
  EXPECT_NE(parse_error("[[optim]]\nlr = 1\n").find("run.toml:1: unknown setting \"optim\""),
            std::string::npos);
  EXPECT_NE(parse_error("preset = \"llama_10\"\n").find("; did you mean llama_10m?"),
            std::string::npos);
  EXPECT_EQ(parse_error("", {{"train.document_mask", "1"}}),
            "--set train.document_mask: expected true or false, got \"1\"");
}

TEST(RunConfig, WhichRunItIsStandsBesideTheSettingsAndIsNone) {
  const RunConfig config = parse("[optim]\nlr = 0.25\n");
  const std::string id = "0123456789abcdef0123456789abcdef", text = to_toml(config, id);
  EXPECT_EQ(run_id_of(text, "run.toml"), id);
  EXPECT_EQ(run_id_of(to_toml(config), "run.toml"), "");
  EXPECT_EQ(to_toml(parse(text)), to_toml(config));
  EXPECT_EQ(config_hash(parse(text)), config_hash(config));
  EXPECT_EQ(settings_reference().find("run.id"), std::string::npos);
  EXPECT_EQ(parse_error("[run]\nid = \"mine\"\n"),
            "run.toml:2: run.id: expected 32 hexadecimal digits, got \"mine\": remove it, a new "
            "one is then drawn");
  EXPECT_EQ(parse_error("", {{"run.id", id}}), "--set run.id: a run draws it itself");
}

TEST(RunConfig, WhatIsNoTomlIsRefusedWithTheLine) {
  EXPECT_EQ(parse_error("a = 1\nb =\n").find("run.toml:2: not valid TOML: "), 0u);
  EXPECT_EQ(parse_error("a = 1\na = 2\n").find("run.toml:2: not valid TOML: "), 0u);
  EXPECT_EQ(parse_error("\n[=]\n").find("run.toml:2: not valid TOML: "), 0u);
  EXPECT_EQ(parse_error("größe = 1\n").find("run.toml:1: not valid TOML: "), 0u);
  EXPECT_EQ(parse_error("a = \"\xff\"\n").find("run.toml:1: not valid TOML: "), 0u);
  EXPECT_EQ(parse_error(std::string(100, '\0')).find("run.toml:1: not valid TOML: "), 0u);
}

TEST(RunConfig, DeepAndLargeInputIsRefusedBeforeItOverflowsTheStack) {
  auto repeat = [](std::string_view text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  EXPECT_EQ(parse_error(repeat("a.", 200'000) + "a = 1"),
            "run.toml: expected at most 2000 dots and opening brackets, got 200000: is this a TOML "
            "file?");
  EXPECT_EQ(parse_error(std::string(2'000'000, '#')),
            "run.toml: expected settings of at most 1048576 bytes, got 2000000: is this a TOML "
            "file?");
  EXPECT_NE(parse_error(repeat("a.", 2000) + "a = 1"), "");
  EXPECT_NE(parse_error("a = " + repeat("[", 2000)), "");
  EXPECT_NE(parse_error("[" + repeat("a.", 900) + "a]\n" + repeat("b.", 900) + "b = 1"), "");
}

TEST(RunConfig, ResolvedTomlReadsBackToTheSameRun) {
  const RunConfig config = parse(
      "preset = \"llama3_8b\"\n[optim]\nlr = 0.30000000000000004\n[data]\ntrain = 'a \"b\" \\c "
      "é'\n",
      {{"train.seed", "9000000000000000000"}, {"optim.eps", "1e-12"}, {"train.steps", "20M"}});
  const std::string text = to_toml(config);
  const RunConfig again = parse(text);
  EXPECT_EQ(to_toml(again), text);
  EXPECT_EQ(again.optim.lr, 0.30000000000000004);
  EXPECT_EQ(again.optim.eps, 1e-12);
  EXPECT_EQ(again.train.seed, 9000000000000000000);
  EXPECT_EQ(again.train.steps, 20'000'000);
  EXPECT_EQ(again.data.train, config.data.train);
  EXPECT_EQ(again.model, config.model);
}

TEST(RunConfig, EverySettingIsDeclaredOnceSetsItsOwnFieldAndIsPrinted) {
  RunConfig config;
  const std::vector<Setting> settings = settings_of(config);
  std::set<std::string> names;
  for (const Setting& setting : settings) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_EQ(setting.get(), setting.default_value) << setting.name;
    EXPECT_TRUE(setting.doc.ends_with('.')) << setting.name;
    if (setting.name == "preset") continue;  // sets many fields; see LaterSourcesWin

    const std::string before = to_toml(config);
    SettingValue other;
    switch (setting.type) {
      case SettingType::Flag:
        other = !std::get<bool>(setting.get());
        break;
      case SettingType::Integer:
        other = std::get<int64_t>(setting.get()) + 1;
        break;
      case SettingType::Number:
        other = std::get<double>(setting.get()) == 0.5 ? 0.25 : 0.5;
        break;
      case SettingType::Text:
        other = std::string("other");
        break;
      case SettingType::Choice:
        other = setting.choices.back() == std::get<std::string>(setting.get())
                    ? setting.choices.front()
                    : setting.choices.back();
        break;
    }
    setting.set(other);
    EXPECT_EQ(setting.get(), other) << setting.name;
    for (const Setting& rest : settings) {
      if (rest.name == setting.name) continue;
      EXPECT_EQ(rest.get(), rest.default_value) << setting.name << " changed " << rest.name;
    }
    EXPECT_NE(to_toml(config), before) << setting.name;
    setting.set(setting.default_value);
    EXPECT_EQ(to_toml(config), before) << setting.name;
  }
}

TEST(RunConfig, HashCoversWhatChangesTheRunAndNothingElse) {
  const uint64_t base = config_hash(RunConfig{});
  EXPECT_EQ(config_hash(parse("")), base);
  auto hash = [](const char* key, const char* value) {
    return config_hash(parse("", {{key, value}}));
  };
  EXPECT_NE(hash("optim.lr", "2e-3"), base);
  EXPECT_NE(hash("train.seed", "1"), base);
  EXPECT_NE(hash("data.train", "x"), base);
  EXPECT_EQ(hash("checkpoint.dir", "elsewhere"), base);
  EXPECT_EQ(hash("system.threads", "3"), base);
  EXPECT_EQ(hash("system.ranks", "2"), base);
  EXPECT_EQ(hash("system.data_parallel", "fully_sharded"), base);
  EXPECT_EQ(hash("train.log_every", "10"), base);
}

TEST(RunConfig, TheReferencePageHasARowForEverySettingAndPreset) {
  const std::string page = settings_reference();
  RunConfig config;
  for (const Setting& setting : settings_of(config)) {
    const std::string row = "\n| `" + setting.name + "` | ";
    ASSERT_NE(page.find(row), std::string::npos) << setting.name;
    EXPECT_NE(page.find(setting.doc + " |\n", page.find(row)), std::string::npos) << setting.name;
  }
  for (const std::string& preset : model_preset_names())
    EXPECT_NE(page.find("\n| `" + preset + "` | "), std::string::npos) << preset;
}

TEST(RunConfig, HeadDimFollowsFromDimAndHeadsUnlessItIsSet) {
  EXPECT_EQ(parse("", {{"model.heads", "16"}, {"model.kv_heads", "16"}}).model.head_dim, 16);
  EXPECT_EQ(parse("preset = \"llama_tiny\"\n[model]\ndim = 256\n").model.head_dim, 64);
  EXPECT_EQ(parse("model.head_dim = 8\n").model.head_dim, 8);  // which validate() refuses
  EXPECT_EQ(parse("model.head_dim = 8\n", {{"model.head_dim", "0"}}).model.head_dim, 32);
  for (const std::string& preset : model_preset_names())
    EXPECT_EQ(parse("", {{"preset", preset}}).model, model_preset(preset)) << preset;
}

TEST(RunConfig, OfTwoWaysToSayOneThingAnOverrideWinsOverTheRecipe) {
  const char* recipe = "train.total_tokens = 1000\n[optim.schedule]\nwarmup = 7\n";
  const RunConfig shortened = parse(recipe, {{"train.steps", "20"}});
  EXPECT_EQ(shortened.train.steps, 20);
  EXPECT_EQ(shortened.train.total_tokens, 0);
  EXPECT_EQ(shortened.optim.schedule.warmup, 7);
  EXPECT_EQ(parse("train.steps = 3\n", {{"train.total_tokens", "50"}}).train.steps, 0);
  const RunConfig fraction = parse(recipe, {{"optim.schedule.warmup_fraction", "0.1"}});
  EXPECT_EQ(fraction.optim.schedule.warmup, 0);
  EXPECT_EQ(fraction.train.total_tokens, 1000);
  EXPECT_EQ(parse(recipe, {{"train.steps", "0"}}).train.total_tokens, 1000);
}

// Before GPT-2 had its preset, that name was the Llama's of its size; checkpoints have kept it.
TEST(RunConfig, ADumpFromBeforeGpt2HadItsPresetIsALlama) {
  RunConfig old = parse_run_config("", "", {{"preset", "llama_124m"}, {"train.steps", "5"}});
  std::string text;
  std::istringstream lines(to_toml(old));
  for (std::string line; std::getline(lines, line);) {
    const auto is = [&](const char* name) { return line.starts_with(std::string(name) + " ="); };
    if (is("preset")) line = "preset = \"gpt2_124m\"";
    // What there was then.
    if (is("positions") || is("embedding_scale") || is("norm") || is("norm_place") ||
        is("qk_norm_span") || is("qkv_bias") || is("out_bias") || is("mlp_bias") ||
        is("window_layers") || is("attn_scale") || is("attn_softcap") || is("beta_slow") ||
        is("beta_fast") || is("attention_factor"))
      continue;
    text += line + "\n";
  }
  const RunConfig read = parse_run_config(text, "dump", {});
  EXPECT_EQ(read.preset, "llama_124m");
  EXPECT_EQ(read.model, old.model);
  EXPECT_EQ(to_toml(read), to_toml(old));
  const RunConfig recipe = parse_run_config("preset = \"gpt2_124m\"", "recipe", {});
  EXPECT_EQ(recipe.model, model_preset("gpt2_124m"));
  EXPECT_EQ(parse_run_config(to_toml(recipe), "dump", {}).model, recipe.model);
}

TEST(RunConfig, AHeadMayBeOtherThanDimByHeads) {
  EXPECT_EQ(parse_run_config("", "", {{"preset", "qwen3_0.6b"}}).model.head_dim, 128);
  EXPECT_EQ(
      parse_run_config("", "", {{"preset", "qwen3_0.6b"}, {"model.heads", "8"}}).model.head_dim,
      128);
  EXPECT_EQ(
      parse_run_config("", "", {{"preset", "llama_7b"}, {"model.heads", "64"}}).model.head_dim, 64);
  EXPECT_EQ(parse_run_config("", "", {{"model.head_dim", "48"}}).model.head_dim, 48);
}

TEST(RunConfig, ShakespeareRecipeIsTheBaselinesShape) {
  const RunConfig c = parse(file_text(testing_support::source_path("recipes/shakespeare.toml")));
  EXPECT_EQ(c.model, model_preset("llama_tiny"));
  EXPECT_EQ(c.batch.micro_batch, 12);
  EXPECT_EQ(c.batch.seq, 64);
  EXPECT_EQ(c.optim.schedule.unit, ScheduleUnit::Steps);
  EXPECT_EQ(c.data.valid_fraction, 0.1);
  EXPECT_EQ(resolved_schedule(c).warmup, 30);
}

}  // namespace
}  // namespace ingot
