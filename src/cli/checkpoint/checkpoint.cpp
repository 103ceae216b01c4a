// ingot checkpoint import | ls | show | verify
#include <fmt/format.h>

#include <memory>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/llama2c.h"
#include "cli/command.h"
#include "core/error.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

nlohmann::json facts_of(const CheckpointInfo& info) {
  return {{"checkpoint", info.dir},       {"step", info.state.step},
          {"tokens", info.state.tokens},  {"samples", info.state.samples},
          {"loss", info.state.last_loss}, {"parameters", parameter_count(info.model)},
          {"bytes", info.bytes},          {"has_optimizer", info.has_optimizer}};
}

// A folder and --json.
struct Target {
  std::string folder;
  JsonOption json;
};

}  // namespace

void add_checkpoint_import(Command& checkpoint) {
  struct Import {
    std::string model, tokenizer, out;
    JsonOption json;
  };
  auto options = std::make_shared<Import>();
  auto* import =
      checkpoint.add_subcommand("import", "turn a llama2.c model file into a checkpoint");
  import->add_option("model", options->model, "llama2.c version-0 file (.bin)")->required();
  import->add_option("--tokenizer", options->tokenizer, "its tokenizer.bin")->required();
  import->add_option("--out", options->out, "folder to create; must be new or empty")->required();
  options->json.add_to(*import);
  import->callback([options] {
    const auto storage = posix_storage();
  import_llama2c(*storage, options->model, options->tokenizer, options->out);
  const CheckpointInfo info = CheckpointReader(storage, options->out).info();
  fmt::print("{}: {} parameters\n", options->out, format_count(parameter_count(info.model)));
  options->json.print(facts_of(info));
});
}  // namespace ingot::cli

void add_checkpoint_ls(Command& checkpoint) {
  auto options = std::make_shared<Target>();
  auto* ls = checkpoint.add_subcommand("ls", "list the checkpoints of a run");
  ls->add_option("run", options->folder, "run folder")->required();
  options->json.add_to(*ls);
  ls->callback([options] {
    const auto storage = posix_storage();
    check(storage->exists(options->folder), ErrorCode::Data, "{} does not exist", options->folder);
    auto all = nlohmann::json::array();
    for (const std::string& dir : list_checkpoints(*storage, options->folder)) {
      const CheckpointInfo info = CheckpointReader(storage, dir).info();
      fmt::print("{}  step {}  {} tokens  loss {:.4f}  {}\n", dir, info.state.step,
                 format_count(info.state.tokens), info.state.last_loss, format_bytes(info.bytes));
      all.push_back(facts_of(info));
    }
    options->json.print({{"checkpoints", all}});
  });
}

void add_checkpoint_show(Command& checkpoint) {
  auto options = std::make_shared<Target>();
  auto* show = checkpoint.add_subcommand("show", "print a checkpoint's state and config");
  show->add_option("checkpoint", options->folder, "checkpoint or run folder")->required();
  options->json.add_to(*show);
  show->callback([options] {
    const auto storage = posix_storage();
    const CheckpointInfo info =
        CheckpointReader(storage, resolve_checkpoint(storage, options->folder)).info();
    fmt::print(
        "# {}\n# step {}, {} tokens, {} samples, loss {:.4f}\n# {} parameters, {} on disk, {}\n{}",
        info.dir, info.state.step, format_count(info.state.tokens),
        format_count(info.state.samples), info.state.last_loss,
        format_count(parameter_count(info.model)), format_bytes(info.bytes),
        info.has_optimizer ? "with optimizer state" : "weights only", info.config_toml);
    nlohmann::json line = facts_of(info);
    line["config"] = info.config_toml;
    options->json.print(line);
  });
}

void add_checkpoint_verify(Command& checkpoint) {
  auto options = std::make_shared<Target>();
  auto* verify = checkpoint.add_subcommand("verify", "check sizes and checksums of every file");
  verify->add_option("checkpoint", options->folder, "checkpoint folder")->required();
  options->json.add_to(*verify);
  verify->callback([options] {
    const CheckpointReader reader(posix_storage(), options->folder);
    reader.verify();
    fmt::print("{}: good, {}\n", options->folder, format_bytes(reader.info().bytes));
    options->json.print(facts_of(reader.info()));
  });
}

}  // namespace ingot::cli
