// Tokenizers in every format that is read, made by the program.
#pragma once

#include <cctype>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/process.h"
#include "support/files.h"
#include "tokenizer/llama2c_file.h"

namespace ingot::test {

// Those of which one file does not hold everything, then the others.
const std::vector<std::string> kTokenizersOfSeveralFiles = {"folder", "r50k_base.tiktoken", "gpt2",
                                                            "gpt2/vocab.json"};
const std::vector<std::string> kTokenizersOfOneFile = {
    "bpe.json", "unigram.model", "sp-bpe.model", "unigram.json", "sp-bpe.json", "llama2c.bin"};

// As a part of a test's name.
inline std::string format_name(const ::testing::TestParamInfo<std::string>& test) {
  std::string name = test.param;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

// Makes `name`, one of the above, in `folder` from the text there.
inline void make_tokenizer(const std::string& name, const std::filesystem::path& folder,
                           const std::string& text) {
  const auto write = [&](const std::string& file, const std::string& contents) {
    std::filesystem::create_directories((folder / file).parent_path());
    std::ofstream(folder / file, std::ios::binary) << contents;
  };
  const auto learn = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> args = {"tokenizer",   "train", "--input",
                                     folder / text, "--out", folder / out};
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = run_ingot(args, folder);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  };
  if (name == "llama2c.bin") return write(name, testing_support::small_llama2c_file());
  if (name == "r50k_base.tiktoken")
    return learn(name, {"--vocab", "290", "--split", "gpt2", "--ties", "raw"});
  const std::string type = name.substr(0, name.find('.'));
  if (type == "unigram" || type == "sp-bpe") {
    learn(type + ".model", {"--type", type, "--vocab", "300"});
    if (name == type + ".model") return;
    const Outcome converted = run_ingot(
        {"tokenizer", "convert", "--tokenizer", folder / (type + ".model"), "--out", folder / name},
        folder);
    ASSERT_EQ(converted.code, 0) << converted.err;
    return;
  }
  learn("bpe.json", {"--vocab", "300", "--split", "gpt2"});
  const std::string json = slurp(folder / "bpe.json");
  if (name == "folder") {
    write("folder/tokenizer.json", json);
    write("folder/tokenizer_config.json", "{\"bos_token\": \"<|endoftext|>\"}");
  } else if (name.starts_with("gpt2")) {
    const auto model = nlohmann::json::parse(json).at("model");
    std::string merges = "#version: 0.2\n";
    for (const auto& merge : model.at("merges"))
      merges += merge.at(0).get<std::string>() + " " + merge.at(1).get<std::string>() + "\n";
    write("gpt2/vocab.json", model.at("vocab").dump());
    write("gpt2/merges.txt", merges);
  }
}

// Trains two steps into `folder`/run by `train` (the arguments of a run of any length), resuming
// after the first; writes text; and expects that what the checkpoint holds encodes as `name` does.
inline void expect_tokenizer_travels(const std::string& name, const std::filesystem::path& folder,
                                     const std::string& text, std::vector<std::string> train) {
  const auto run = [&](std::vector<std::string> args, const std::vector<std::string>& more) {
    args.insert(args.end(), more.begin(), more.end());
    const Outcome outcome = run_ingot(args, folder);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  make_tokenizer(name, folder, text);
  train.insert(train.end(),
               {"--set", "optim.schedule.kind=constant", "--set",
                "data.tokenizer=" + (folder / name).string(), "--set",
                name.ends_with(".tiktoken") ? "model.vocab=50304" : "model.vocab=320"});
  run(train, {"--set", "train.steps=1"});
  run(train, {"--set", "train.steps=2", "--resume"});
  run({"generate", folder / "run"}, {"--prompt", "Line", "--tokens", "5"});
  const auto encoded = [&](const std::filesystem::path& tokenizer) {
    return run({"tokenizer", "encode", "--tokenizer", tokenizer}, {"--input", folder / text});
  };
  EXPECT_EQ(encoded(folder / "run/step_00000002/tokenizer.bin"), encoded(folder / name));
}

}  // namespace ingot::test
