// ingot checkpoint import | export
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "checkpoint/exchange/gguf_export.h"
#include "checkpoint/exchange/hf_export.h"
#include "checkpoint/exchange/hf_folder.h"
#include "checkpoint/exchange/hf_tensors.h"
#include "checkpoint/exchange/llama2c.h"
#include "checkpoint/exchange/open_weights.h"
#include "cli/checkpoint/facts.h"
#include "cli/checkpoint/model_progress.h"
#include "cli/remote.h"
#include "core/error.h"
#include "core/text/format.h"
#include "ingest/read/remote/hf_address.h"
#include "ingest/read/remote/web_stream.h"
#include "tokenizer/replace_all.h"

namespace ingot::cli {
namespace {

// Files of a model's repository that an import reads. Others hold the weights again, for other
// programs.
bool is_wanted(const std::string& name) {
  return is_kept_hf_file(name) || name == kHfIndexName ||
         (name.starts_with("model") && name.ends_with(".safetensors"));
}

// A folder of the cache with the model's files, which are fetched where they are not there yet.
std::string fetch_model(const HfAddress& model, const RemoteSettings& remote) {
  namespace fs = std::filesystem;
  check(!remote.cache_folder.empty(), ErrorCode::Usage,
        "{}: name a folder for its files as --cache", to_string(model));
  std::string name = model.repository + "@" + model.revision;
  replace_all(name, "/", "--");
  const fs::path folder = fs::path(remote.cache_folder) / "models" / name;
  fs::create_directories(folder);
  for (const InputFile& file : list_hf_folder(model, remote)) {
    if (!is_wanted(file.name)) continue;
    HfAddress address = model;
    address.path = file.name;
    const std::string fetched = fetch_to_cache(hf_file(address, remote), remote);
    std::error_code ignored;
    fs::remove(folder / file.name, ignored);
    fs::create_symlink(fs::absolute(fetched), folder / file.name);
  }
  return folder;
}

struct Import {
  std::string model, tokenizer, out;
  RemoteOptions remote;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    read_model(storage);
    const CheckpointInfo info = CheckpointReader(storage, out).info();
    fmt::print("{}: {}, {} parameters\n", out, family_of(info),
               format_count(parameter_count(info.model)));
    json.print(facts_of(info));
  }

  void read_model(const std::shared_ptr<Storage>& storage) const {
    ModelProgress progress("importing");
    if (model.starts_with("hf://")) {
      check_new_folder(*storage, out);
      import_hf(storage, fetch_model(parse_hf_model(model), remote.settings()), model, tokenizer,
                out, progress.watch());
    } else if (is_hf_folder(*storage, model)) {
      import_hf(storage, model, model, tokenizer, out, progress.watch());
    } else {
      check(
          model.ends_with(".bin"), ErrorCode::Usage,
          "{}: expected a Hugging Face folder (with a config.json), hf://OWNER/NAME or a llama2.c "
          "file (.bin)",
          model);
      check(!tokenizer.empty(), ErrorCode::Usage,
            "a llama2.c file has no tokenizer in it: add --tokenizer with its tokenizer.bin");
      import_llama2c(*storage, model, tokenizer, out);
    }
  }
};

struct Export {
  std::string checkpoint, to, out, dtype;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const CheckpointReader reader(storage, resolve_checkpoint(storage, checkpoint));
    write_model(*storage, reader);
    fmt::print("{}: {}, {} parameters\n", out, family_of(reader.info()),
               format_count(parameter_count(reader.info().model)));
    nlohmann::json facts = facts_of(reader.info());
    facts["out"] = out;
    json.print(facts);
  }

  void write_model(Storage& storage, const CheckpointReader& reader) const {
    ModelProgress progress("exporting");
    const auto stored = weights_of(reader);
    const auto weights = with_progress(*stored, progress.watch());
    const Companions companions = reader.companions();
    if (to == "hf")
      export_hf(storage, *weights, companions, out, {.dtype = wanted_dtype()});
    else if (to == "gguf")
      export_gguf(storage, *weights, companions, out, gguf_type());
    else
      export_llama2c(storage, *weights, companions, out);
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
          "Hugging Face folder, hf://OWNER/NAME[@REVISION], or llama2.c version-0 file (.bin)")
      ->required();
  command->add_option("--tokenizer", options->tokenizer,
                      "its tokenizer, where it is not in the folder; of llama2.c tokenizer.bin");
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
  command->add_option("checkpoint", options->checkpoint, "checkpoint or run folder")->required();
  command->add_option("--to", options->to, "format")->one_of({"hf", "gguf", "llama2c"})->required();
  command->add_option("--out", options->out, "folder to create, new or empty; of gguf a new file")
      ->required();
  command
      ->add_option("--dtype", options->dtype,
                   "of the weights; stored = as the checkpoint has them, in gguf f32")
      ->one_of({"stored", "f32", "bf16", "f16", "q8_0"})
      ->capture_default_str();
  options->json.add_to(*command);
  command->callback([options] { options->run(); });
}

}  // namespace ingot::cli
