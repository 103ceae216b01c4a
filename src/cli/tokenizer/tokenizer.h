// What the subcommands of `ingot tokenizer` share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/frame/command_line.h"
#include "tokenizer/tokenizer.h"

namespace ingot::cli {

// `split`: empty if the file says how text is split.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path, const std::string& split);

// --tokenizer and --split.
struct TokenizerOption {
  std::string path;
  std::string split;

  void add_to(Command& command);
  std::unique_ptr<Tokenizer> load() const { return load_tokenizer(path, split); }
};

}  // namespace ingot::cli
