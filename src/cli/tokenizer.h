// What the commands below `ingot tokenizer` share.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace ingot::cli {

// One per file of this folder.
void add_tokenizer_chat(CLI::App& tokenizer);
void add_tokenizer_compare(CLI::App& tokenizer);
void add_tokenizer_convert(CLI::App& tokenizer);
void add_tokenizer_encode(CLI::App& tokenizer);
void add_tokenizer_decode(CLI::App& tokenizer);
void add_tokenizer_train(CLI::App& tokenizer);

// Of the patterns that cut text, for the help and the check of an option.
std::vector<std::string> names_of_splits();

// `split` is empty where the file says how text is cut.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path, const std::string& split);

// --tokenizer and --split.
struct TokenizerOption {
  std::string path;
  std::string split;

  void add_to(CLI::App& command);
  std::unique_ptr<Tokenizer> load() const { return load_tokenizer(path, split); }
};

}  // namespace ingot::cli
