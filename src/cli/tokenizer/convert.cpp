// ingot tokenizer convert
#include <fmt/format.h>

#include "cli/frame/command.h"
#include "cli/frame/output_file.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/storage/storage.h"
#include "tokenizer/bpe/rank_settings.h"
#include "tokenizer/convert.h"

namespace ingot::cli {
namespace {

struct ConvertCommand {
  TokenizerOption tokenizer;
  OutputFile out;
  bool dummy_prefix = false;
  JsonOption json;

  void run() const {
    const auto loaded = tokenizer.load();
    const std::string& name = out.path();
    const bool has_settings = name.ends_with(".tiktoken");
    const std::string settings = has_settings ? rank_settings_path(name) : "";
    out.check_free(has_settings ? std::vector{name, settings} : std::vector{name});
    std::string other_ids;
    const std::string file = file_as(*loaded, name, dummy_prefix ? &other_ids : nullptr);
    out.write(name, file);
    if (!other_ids.empty()) fmt::print(stderr, "{}: {}\n", name, other_ids);
    fmt::print("{}: {} tokens\n", name, loaded->vocab_size());
    if (has_settings) {
      out.write(settings, to_rank_settings(parse_tokenizer_json(loaded->serialize(), name)));
      fmt::print("{}: how text is cut, and the special tokens; keep it beside the file\n",
                 settings);
    }
    for (const auto& [fact, value] : loaded->facts()) {
      if (fact == "model" && value == "unigram" && file != loaded->serialize()) {
        fmt::print(
            "a unigram model: the programs that read the two formats round differently, and treat "
            "combining marks differently where the normalizer replaces characters; rarely that "
            "gives other ids\n");
      }
    }
    json.print({{"file", name}, {"kind", loaded->kind()}, {"vocab_size", loaded->vocab_size()}});
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
  command->out.add_to(*convert, "--out", "NAME.json, NAME.tiktoken, NAME.model or NAME.bin")
      ->required();
  convert->add_flag("--dummy-prefix", command->dummy_prefix,
                    "as .model where tokenizer.json puts ▁ only before texts that do not begin "
                    "with it: SentencePiece's prefix, before every text");
  command->json.add_to(*convert);
  convert->callback([command] { command->run(); });
}

}  // namespace ingot::cli
