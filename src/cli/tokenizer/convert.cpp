// ingot tokenizer convert
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/storage.h"
#include "tokenizer/bpe/rank_settings.h"
#include "tokenizer/convert.h"

namespace ingot::cli {
namespace {

struct ConvertCommand {
  TokenizerOption tokenizer;
  std::string out;
  bool dummy_prefix = false;
  JsonOption json;

  void run() const {
    const auto loaded = tokenizer.load();
    std::string other_ids;
    const std::string file = file_as(*loaded, out, dummy_prefix ? &other_ids : nullptr);
    write_file_atomically(*posix_storage(), out, file);
    if (!other_ids.empty()) fmt::print(stderr, "{}: {}\n", out, other_ids);
    fmt::print("{}: {} tokens\n", out, loaded->vocab_size());
    if (out.ends_with(".tiktoken")) {
      const std::string settings = rank_settings_path(out);
      write_file_atomically(*posix_storage(), settings,
                            to_rank_settings(parse_tokenizer_json(loaded->serialize(), out)));
      fmt::print("{}: how text is cut, and the special tokens; keep it beside the file\n",
                 settings);
    }
    for (const auto& [name, value] : loaded->facts()) {
      if (name == "model" && value == "unigram" && file != loaded->serialize()) {
        fmt::print(
            "a unigram model: the programs that read the two formats round differently, and treat "
            "combining marks differently where the normalizer replaces characters; rarely that "
            "gives other ids\n");
      }
    }
    json.print({{"file", out}, {"kind", loaded->kind()}, {"vocab_size", loaded->vocab_size()}});
  }
};

}  // namespace

void add_tokenizer_convert(Command& tokenizer) {
  auto command = std::make_shared<ConvertCommand>();
  auto* convert = tokenizer.add_subcommand(
      "convert",
      "write a tokenizer in another format, where the ids stay the same: byte-level BPE as "
      "tokenizer.json or .tiktoken, SentencePiece models as .model or tokenizer.json");
  command->tokenizer.add_to(*convert);
  convert->add_option("--out", command->out, "NAME.json, NAME.tiktoken, NAME.model or NAME.bin")
      ->required();
  convert->add_flag("--dummy-prefix", command->dummy_prefix,
                    "as .model where tokenizer.json puts ▁ only before texts that do not begin "
                    "with it: SentencePiece's prefix, before every text");
  command->json.add_to(*convert);
  convert->callback([command] { command->run(); });
}

}  // namespace ingot::cli
