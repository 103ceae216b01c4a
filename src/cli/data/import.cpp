// ingot data import | export
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/frame/command.h"
#include "cli/frame/output_file.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/format.h"
#include "shards/foreign/import.h"

namespace ingot::cli {
namespace {

constexpr ForeignFormat kFormats[] = {ForeignFormat::Megatron, ForeignFormat::Datatrove,
                                      ForeignFormat::LlmC, ForeignFormat::NanoGpt};

// Of --format; nothing for an empty one.
std::optional<ForeignFormat> format_named(const std::string& name) {
  for (const ForeignFormat format : kFormats) {
    if (name_of(format) == name) return format;
  }
  return std::nullopt;
}

struct ImportCommand {
  std::vector<std::string> files;
  std::string folder, tokenizer, format;
  ImportSettings settings;
  JsonOption json;

  void run() {
    std::unique_ptr<Tokenizer> loaded;
    if (!tokenizer.empty()) loaded = load_tokenizer(*posix_storage(), tokenizer);
    check(loaded || settings.vocab_size > 0, ErrorCode::Usage,
          "expected --tokenizer FILE, or --vocab N where there is none");
    settings.tokenizer = loaded.get();
    settings.format = format_named(format);
    const ShardManifest manifest = import_tokens(posix_storage(), files, settings, folder);
    fmt::print("{}: {} tokens of {} documents, {} shards\n", folder,
               format_count(manifest.num_tokens()), format_count(manifest.num_documents()),
               manifest.shards.size());
    const auto say_found = [&](const char* what, int32_t given, int32_t found) {
      if (given < 0 && found >= 0)
        fmt::print("every document {} {}: the manifest says so\n", what, found);
    };
    say_found("begins with BOS", settings.marks.bos, manifest.bos);
    say_found("ends with EOS", settings.marks.eos, manifest.eos);
    for (const auto& [reason, count] : manifest.left_out) {
      fmt::print("left out: {} {}\n", format_count(count), reason);
    }
    if (manifest.equal_documents > 0)
      fmt::print("kept, but equal to an earlier document: {}\n",
                 format_count(manifest.equal_documents));
    if (const int32_t eos = loaded ? loaded->eos() : -1;
        manifest.num_documents() == static_cast<int64_t>(files.size()) && eos >= 0 &&
        manifest.bos < 0 && manifest.eos < 0)
      fmt::print("each file is one document: --eos {}, the tokenizer's EOS, tells those in it\n",
                 eos);
    json.print({{"tokens", manifest.num_tokens()},
                {"documents", manifest.num_documents()},
                {"bos", manifest.bos},
                {"eos", manifest.eos},
                {"shards", manifest.shards.size()},
                {"left_out", manifest.left_out},
                {"equal_documents", manifest.equal_documents}});
  }
};

struct ExportCommand {
  std::string folder, format;
  OutputFile out;
  JsonOption json;

  void run() const {
    const ShardFolder shards(folder);
    const ForeignFormat wanted = *format_named(format);
    out.check_free(exported_files(shards, wanted, out.path()));
    const auto files = export_tokens(*posix_storage(), shards, wanted, out.path());
    for (const std::string& file : files) fmt::print("{}\n", file);
    json.print({{"format", format}, {"files", files}});
  }
};

}  // namespace

void add_data_import(Command& data) {
  auto command = std::make_shared<ImportCommand>();
  auto* import =
      data.add_subcommand("import",
                          "token files of other programs to shards\n\n"
                          "Reads Megatron's .bin with .idx, datatrove's .ds with .ds.index and "
                          "llm.c's .bin, which name "
                          "and header tell, and with --format nanogpt nanoGPT's bare .bin. The "
                          "last two do not say where "
                          "documents are: --bos or --eos, the id that begins or ends each, does.");
  import->add_option("files", command->files, "token files, in order")->required();
  import->add_option("--out", command->folder, "folder for the shards")->required();
  import
      ->add_option("--format", command->format,
                   "which program's format, if name and header do not tell: bare ids are nanogpt")
      ->one_of({"megatron", "datatrove", "llmc", "nanogpt"});
  import->add_option("--tokenizer", command->tokenizer, "tokenizer that made the ids");
  ImportSettings& settings = command->settings;
  import->add_option("--vocab", settings.vocab_size, "number of ids, if there is no tokenizer");
  import->add_option("--bos", settings.marks.bos, "id that begins each document");
  import->add_option("--eos", settings.marks.eos, "id that ends each document");
  import->add_option("--source", settings.source, "name of the source")->capture_default_str();
  import->add_option("--shard-tokens", settings.shard_tokens, "tokens of a shard")
      ->capture_default_str()
      ->positive();
  command->json.add_to(*import);
  import->callback([command] { command->run();
});
}  // namespace ingot::cli

void add_data_export(Command& data) {
  auto command = std::make_shared<ExportCommand>();
  auto* exporting = data.add_subcommand("export", "shards to token files of other programs");
  exporting->add_option("folder", command->folder, "folder of shards")->required();
  exporting
      ->add_option("--format", command->format,
                   "megatron: PATH.bin and PATH.idx; nanogpt: PATH; llmc: PATH_000000.bin …")
      ->required()
      ->one_of({"megatron", "nanogpt", "llmc"});
  command->out.add_to(*exporting, "--out", "where to, without what the format adds")
      ->type_name("PATH")
      ->required();
  command->json.add_to(*exporting);
  exporting->callback([command] { command->run(); });
}

}  // namespace ingot::cli
