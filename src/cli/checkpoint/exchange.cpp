// ingot checkpoint import | export
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "checkpoint/exchange/gguf_export.h"
#include "checkpoint/exchange/gguf_header.h"
#include "checkpoint/exchange/gguf_weights.h"
#include "checkpoint/exchange/hf_export.h"
#include "checkpoint/exchange/hf_folder.h"
#include "checkpoint/exchange/llama2c.h"
#include "checkpoint/exchange/open_weights.h"
#include "checkpoint/manifest.h"
#include "checkpoint/new_output.h"
#include "cli/checkpoint/facts.h"
#include "cli/checkpoint/hub_model.h"
#include "cli/checkpoint/model_progress.h"
#include "cli/checkpoint/out_folder.h"
#include "cli/frame/output_file.h"
#include "cli/remote.h"
#include "core/error/error.h"

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
    if (model.starts_with("hf://")) {
      const FetchedModel fetched = fetch_model(parse_hf_model(model), remote.settings());
      ModelProgress progress("importing");
      import_hf(storage, fetched.folder, fetched.address, tokenizer, folder, progress.watch());
      return;
    }
    ModelProgress progress("importing");
    if (is_hf_folder(*storage, model))
      import_hf(storage, model, model, tokenizer, folder, progress.watch());
    else if (is_gguf_file(*storage, model))
      import_gguf(storage, model, tokenizer, folder, progress.watch());
    else
      import_file(*storage, folder, progress.watch());
  }

  void import_file(Storage& storage, const std::string& folder, WeightsProgress progress) const {
    check(storage.exists(model), ErrorCode::Data,
          "'{}' does not exist; check the path, or name a model of the hub as hf://OWNER/NAME",
          model);
    const bool is_ours = storage.exists(join_path(model, kManifestName)) ||
                         !list_checkpoints(storage, model).empty();
    check(!is_ours, ErrorCode::Usage,
          "'{}' is a checkpoint of this program already: use it as it is, or write it for other "
          "programs with ingot checkpoint export",
          model);
    check(model.ends_with(".bin"), ErrorCode::Usage,
          "'{}': expected a Hugging Face folder (with a config.json), hf://OWNER/NAME, a GGUF file "
          "or a llama2.c file (.bin)",
          model);
    check(!tokenizer.empty(), ErrorCode::Usage,
          "a llama2.c file has no tokenizer in it: add --tokenizer with its tokenizer.bin");
    import_llama2c(storage, model, tokenizer, folder, std::move(progress));
  }
};

struct Export {
  std::string checkpoint, to, dtype;
  OutputFile out;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const std::string path = checked_out();
    const auto model = open_model(storage, checkpoint);
    write_model(*storage, *model, path);
    const std::string written = written_dtype(model->weights());
    fmt::print("{}: {}\n", path, model_line(model->info(), written));
    nlohmann::json facts = facts_of(model->info(), model->weights());
    facts.update({{"out", path}, {"dtype", written}});
    json.print(facts);
  }

  void write_model(Storage& storage, const OpenModel& model, const std::string& path) const {
    ModelProgress progress("exporting");
    const auto weights = with_progress(model.weights(), progress.watch());
    const AuxiliaryFiles auxiliary_files = model.auxiliary_files();
    if (to == "hf")
      return export_hf(storage, *weights, auxiliary_files, path, {.dtype = wanted_dtype()});
    if (to == "gguf") {
      return export_gguf(storage, *weights, auxiliary_files, path, gguf_type(), out.existing());
    }
    check(dtype == "stored" || dtype == "f32", ErrorCode::Usage,
          "--dtype {}: a llama2.c file holds f32; leave --dtype out", dtype);
    export_llama2c(storage, *weights, auxiliary_files, path);
  }

  std::string checked_out() const {
    if (to == "gguf") return out.check_free(), out.path();
    check(out.existing() == NewFile::Existing::Refused, ErrorCode::Usage,
          "--force replaces a file, but --to {} writes a folder: name a new or empty one", to);
    return out_folder(out.path());
  }

  std::string written_dtype(const Weights& weights) const {
    if (dtype != "stored") return dtype;
    return to == "hf" ? dtypes_of(weights) : "f32";
  }

  std::optional<DType> wanted_dtype() const {
    check(dtype != "q8_0", ErrorCode::Usage, "--dtype q8_0 belongs to --to gguf");
    return dtype == "stored" ? std::nullopt : parse_dtype(dtype);
  }
  GgufType gguf_type() const {
    if (dtype == "q8_0") return GgufType::Q8_0;
    if (dtype == "f16") return GgufType::F16;
    return dtype == "bf16" ? GgufType::BF16 : GgufType::F32;
  }
};

}  // namespace

void add_checkpoint_import(Command& checkpoint) {
  auto options = std::make_shared<Import>();
  auto* command =
      checkpoint.add_subcommand("import", "turn another program's model into a checkpoint");
  command
      ->add_option(
          "model", options->model,
          "Hugging Face folder, hf://OWNER/NAME[@REVISION], GGUF file, or llama2.c version-0 file "
          "(.bin)")
      ->required();
  command->add_option("--tokenizer", options->tokenizer,
                      "its tokenizer, in place of one in the folder; byte where its tokens are "
                      "bytes; of llama2.c tokenizer.bin");
  command->add_option("--out", options->out, "folder to create; must be new or empty")->required();
  options->remote.add_to(*command);
  options->json.add_to(*command);
  command->callback([options] { options->run(); });
}

void add_checkpoint_export(Command& checkpoint) {
  auto options = std::make_shared<Export>();
  options->dtype = "stored";
  auto* command =
      checkpoint.add_subcommand("export", "write a checkpoint's model for other programs");
  command
      ->add_option("checkpoint", options->checkpoint,
                   "checkpoint, run folder, Hugging Face folder or GGUF file")
      ->required();
  command->add_option("--to", options->to, "format")->one_of({"hf", "gguf", "llama2c"})->required();
  options->out.add_to(*command, "--out", "folder to create, new or empty; of gguf a file")
      ->required();
  command
      ->add_option("--dtype", options->dtype,
                   "dtype of the weights; stored: the checkpoint's, or f32 in gguf")
      ->one_of({"stored", "f32", "bf16", "f16", "q8_0"})
      ->capture_default_str();
  options->json.add_to(*command);
  command->callback([options] { options->run(); });
}

}  // namespace ingot::cli
