// ingot tokenizer convert
#include <fmt/format.h>

#include "cli/tokenizer.h"
#include "core/storage.h"
#include "tokenizer/convert.h"

namespace ingot::cli {
namespace {

struct ConvertCommand {
  TokenizerOption tokenizer;
  std::string out;

  void run() const {
    const auto loaded = tokenizer.load();
    write_file_atomically(*posix_storage(), out, file_as(*loaded, out));
    fmt::print("{}: {} tokens\n", out, loaded->vocab_size());
    if (!out.ends_with(".tiktoken")) return;
    for (const auto& [name, value] : loaded->facts()) {
      if (name != "split") continue;
      fmt::print("the file does not say how text is cut (--split {}) nor its special tokens\n",
                 value);
    }
  }
};

}  // namespace

void add_tokenizer_convert(Command& tokenizer) {
  auto command = std::make_shared<ConvertCommand>();
  auto* convert = tokenizer.add_subcommand(
      "convert",
      "write a tokenizer in another format, where the ids stay the same: byte-level BPE as "
      "tokenizer.json or .tiktoken");
  command->tokenizer.add_to(*convert);
  convert->add_option("--out", command->out, "NAME.json, NAME.tiktoken, NAME.model or NAME.bin")
      ->required();
  convert->callback([command] { command->run(); });
}

}  // namespace ingot::cli
