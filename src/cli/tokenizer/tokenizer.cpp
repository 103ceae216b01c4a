// ingot tokenizer: its options, and info.
#include "cli/tokenizer/tokenizer.h"

#include <fmt/format.h>

#include "cli/frame/command.h"
#include "core/storage/storage.h"
#include "tokenizer/bpe/split.h"

namespace ingot::cli {
namespace {

struct InfoCommand {
  TokenizerOption tokenizer;
  JsonOption json;

  void run() const {
    const auto loaded = tokenizer.load();
    nlohmann::ordered_json result = {{"kind", loaded->kind()},
                                     {"vocab_size", loaded->vocab_size()},
                                     {"bos", loaded->bos()},
                                     {"eos", loaded->eos()}};
    for (const auto& [name, value] : loaded->facts()) result[name] = value;
    for (const auto& [name, value] : result.items()) {
      fmt::print("{:<16}{}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (loaded->eos() < 0) {
      fmt::print(
          "no EOS: nothing ends a document; of a .tiktoken file, NAME.toml beside it or "
          "--split says the special tokens\n");
    }
    json.print(result);
  }
};

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path, const std::string& split) {
  LoadOptions options;
  if (!split.empty()) options.split = split_named(split);
  return ingot::load_tokenizer(*posix_storage(), path, options);
}

void TokenizerOption::add_to(Command& command) {
  command
      .add_option("--tokenizer", path,
                  "tokenizer.json, .tiktoken, .model, vocab.json with merges.txt beside it, "
                  "llama2.c's tokenizer.bin, a folder with one of them, or «byte»")
      ->required();
  command
      .add_option("--split", split,
                  "pattern that splits text, with its special tokens, if the file "
                  "does not say it")
      ->one_of(split_names());
}

void add_tokenizer_info(Command& tokenizer) {
  auto command = std::make_shared<InfoCommand>();
  auto* info = tokenizer.add_subcommand("info", "what a tokenizer file holds");
  command->tokenizer.add_to(*info);
  command->json.add_to(*info);
  info->callback([command] { command->run(); });
}

}  // namespace ingot::cli
