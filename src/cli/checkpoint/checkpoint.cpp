// ingot checkpoint import | ls | show | verify
#include <fmt/format.h>

#include <memory>

#include "checkpoint/checkpoint.h"
#include "checkpoint/import_llama2c.h"
#include "cli/command.h"
#include "core/error.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

void add_import(Command& checkpoint) {
  struct Import {
    std::string model, tokenizer, out;
  };
  auto options = std::make_shared<Import>();
  auto* import =
      checkpoint.add_subcommand("import", "turn a llama2.c model file into a checkpoint");
  import->add_option("model", options->model, "llama2.c version-0 file (.bin)")->required();
  import->add_option("--tokenizer", options->tokenizer, "its tokenizer.bin")->required();
  import->add_option("--out", options->out, "folder to create; must be new or empty")->required();
  import->callback([options] {
    const auto storage = posix_storage();
  import_llama2c(*storage, options->model, options->tokenizer, options->out);
  const CheckpointReader reader(storage, options->out);
  fmt::print("{}: {} parameters\n", options->out,
             format_count(parameter_count(reader.info().model)));
});
}  // namespace

void add_ls(Command& checkpoint) {
  auto run_dir = std::make_shared<std::string>();
  auto* ls = checkpoint.add_subcommand("ls", "list the checkpoints of a run");
  ls->add_option("run", *run_dir, "run folder")->required();
  ls->callback([run_dir] {
    const auto storage = posix_storage();
    check(storage->exists(*run_dir), ErrorCode::Data, "{} does not exist", *run_dir);
    for (const std::string& dir : list_checkpoints(*storage, *run_dir)) {
      const CheckpointInfo info = CheckpointReader(storage, dir).info();
      fmt::print("{}  step {}  {} tokens  loss {:.4f}  {}\n", dir, info.state.step,
                 format_count(info.state.tokens), info.state.last_loss, format_bytes(info.bytes));
    }
  });
}

void add_show(Command& checkpoint) {
  auto dir = std::make_shared<std::string>();
  auto* show = checkpoint.add_subcommand("show", "print a checkpoint's state and config");
  show->add_option("checkpoint", *dir, "checkpoint or run folder")->required();
  show->callback([dir] {
    const auto storage = posix_storage();
    const CheckpointInfo info = CheckpointReader(storage, resolve_checkpoint(storage, *dir)).info();
    fmt::print(
        "# {}\n# step {}, {} tokens, {} samples, loss {:.4f}\n# {} parameters, {} on disk, {}\n{}",
        info.dir, info.state.step, format_count(info.state.tokens),
        format_count(info.state.samples), info.state.last_loss,
        format_count(parameter_count(info.model)), format_bytes(info.bytes),
        info.has_optimizer ? "with optimizer state" : "weights only", info.config_toml);
  });
}

void add_verify(Command& checkpoint) {
  auto dir = std::make_shared<std::string>();
  auto* verify = checkpoint.add_subcommand("verify", "check sizes and checksums of every file");
  verify->add_option("checkpoint", *dir, "checkpoint folder")->required();
  verify->callback([dir] {
    const CheckpointReader reader(posix_storage(), *dir);
    reader.verify();
    fmt::print("{}: good, {}\n", *dir, format_bytes(reader.info().bytes));
  });
}

}  // namespace ingot::cli

void add_checkpoint(Command& app) {
  auto* checkpoint = app.add_subcommand("checkpoint", "look at, verify and import checkpoints");
  add_ls(*checkpoint);
  add_show(*checkpoint);
  add_verify(*checkpoint);
  add_import(*checkpoint);
}

}  // namespace ingot::cli
