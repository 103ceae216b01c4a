// ingot checkpoint import | export
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "checkpoint/models/import_model.h"
#include "checkpoint/models/model_formats.h"
#include "checkpoint/new_output.h"
#include "cli/checkpoint/facts.h"
#include "cli/checkpoint/model_progress.h"
#include "cli/checkpoint/out_folder.h"
#include "cli/frame/output_file.h"
#include "cli/frame/progress_line.h"
#include "cli/remote.h"
#include "core/error/error.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

struct Import {
  std::string model, tokenizer, out;
  RemoteOptions remote;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const std::string folder = out_folder(out);
    read_model(storage, folder);
    const CheckpointReader reader(storage, folder);
    fmt::print(
        "{0}: {1}\n"
        "text from it:   ingot generate {0} --prompt TEXT\n"
        "train it more:  ingot train RECIPE --set train.init={0} --set preset=none\n",
        folder, model_line(reader.info(), dtypes_of(*weights_of(reader))));
    json.print(facts_of(reader.info(), *weights_of(reader)));
  }

  void read_model(const std::shared_ptr<Storage>& storage, const std::string& folder) const {
    check_new_folder(*storage, folder);
    const auto from = open(storage);
    ModelProgress progress("importing");
    import_model(*storage, *from, tokenizer, folder, progress.watch());
  }

  std::unique_ptr<ForeignModel> open(const std::shared_ptr<Storage>& storage) const {
    ProgressLine line;
    return open_for_import(
        storage, model, remote.settings(), [&](const std::string& file, int64_t bytes, int64_t of) {
          if (line.is_due())
            line.show(fmt::format("fetching {}: {} of {}", file, format_bytes(bytes),
                                  format_bytes(std::max(bytes, of))));
        });
  }
};

struct Export {
  std::string checkpoint, to, dtype;
  OutputFile out;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const ModelFormat& format = model_format(to);
    const std::string path = checked_out(format);
    const auto model = open_model(storage, checkpoint);
    write_model(*storage, *model, format, path);
    const std::string written = written_dtype(format, model->weights());
    fmt::print("{}: {}\n", path, model_line(model->info(), written));
    nlohmann::json facts = facts_of(model->info(), model->weights());
    facts.update({{"out", path}, {"dtype", written}});
    json.print(facts);
  }

  void write_model(Storage& storage, const OpenModel& model, const ModelFormat& format,
                   const std::string& path) const {
    ModelProgress progress("exporting");
    const auto weights = with_progress(model.weights(), progress.watch());
    export_model(storage, format, *weights, model.auxiliary_files(),
                 {.path = path, .dtype = dtype, .existing = out.existing()});
  }

  std::string checked_out(const ModelFormat& format) const {
    if (format.writes_file) return out.check_free(), out.path();
    check(out.existing() == NewFile::Existing::Refused, ErrorCode::Usage,
          "--force replaces a file, but --to {} writes a folder: name a new or empty one", to);
    return out_folder(out.path());
  }

  std::string written_dtype(const ModelFormat& format, const Weights& weights) const {
    if (dtype != kStoredDType) return dtype;
    return format.stored_as.empty() ? dtypes_of(weights) : std::string(format.stored_as);
  }
};

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const ModelFormat& format : model_formats()) names.emplace_back(format.name);
  return names;
}

// "dtype of the weights; stored: the checkpoint's, or f32 in gguf".
std::string dtype_help() {
  std::string help = "dtype of the weights; stored: the checkpoint's";
  for (const ModelFormat& format : model_formats())
    if (!format.stored_as.empty() && format.writes.size() > 1)
      help += fmt::format(", or {} in {}", format.stored_as, format.name);
  return help;
}

}  // namespace

void add_checkpoint_import(Command& checkpoint) {
  auto options = std::make_shared<Import>();
  auto* command =
      checkpoint.add_subcommand("import", "turn another program's model into a checkpoint");
  command
      ->add_option("model", options->model,
                   fmt::format("{}, or {}", foreign_format_titles(), kHubModelForm))
      ->required();
  command->add_option("--tokenizer", options->tokenizer,
                      "tokenizer to use instead of the model's own; byte if tokens are bytes; "
                      "for a llama2.c file its tokenizer.bin");
  command->add_option("--out", options->out, "folder to create; must be new or empty")->required();
  options->remote.add_to(*command);
  options->json.add_to(*command);
  command->callback([options] { options->run(); });
}

void add_checkpoint_export(Command& checkpoint) {
  auto options = std::make_shared<Export>();
  options->dtype = kStoredDType;
  auto* command =
      checkpoint.add_subcommand("export", "write a checkpoint's model for other programs");
  command->add_option("checkpoint", options->checkpoint, model_path_forms())->required();
  command->add_option("--to", options->to, "format")->one_of(format_names())->required();
  options->out.add_to(*command, "--out", "folder to create, new or empty; for gguf a file")
      ->required();
  command->add_option("--dtype", options->dtype, dtype_help())
      ->one_of(export_dtypes())
      ->capture_default_str();
  options->json.add_to(*command);
  command->callback([options] { options->run(); });
}

}  // namespace ingot::cli
