// ingot checkpoint ls | show | verify
#include <fmt/format.h>

#include <memory>

#include "checkpoint/exchange/hf_config.h"
#include "cli/checkpoint/facts.h"
#include "core/error.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

std::string origin_line(const CheckpointInfo& info) {
  if (info.origin == Origin{}) return "";
  return fmt::format("# its weights began as those of {} ({})\n", on_one_line(info.origin.path),
                     info.origin.format);
}

// A folder and --json.
struct Target {
  std::string folder;
  JsonOption json;
};

}  // namespace

nlohmann::json facts_of(const CheckpointInfo& info) {
  nlohmann::json facts = {
      {"checkpoint", info.dir},       {"step", info.state.step},
      {"tokens", info.state.tokens},  {"samples", info.state.samples},
      {"loss", info.state.last_loss}, {"parameters", parameter_count(info.model)},
      {"bytes", info.bytes},          {"has_optimizer", info.has_optimizer},
      {"family", family_of(info)}};
  if (info.origin != Origin{})
    facts["origin"] = {{"format", info.origin.format}, {"path", info.origin.path}};
  return facts;
}

std::string family_of(const CheckpointInfo& info) {
  try {
    return architecture_of(info.model, info.origin.architecture).name;
  } catch (const Error&) {
    return "no family that other programs know";
  }
}

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
        "# {}\n# step {}, {} tokens, {} samples, loss {:.4f}\n# {}, {} parameters, {} on disk, "
        "{}\n{}{}",
        info.dir, info.state.step, format_count(info.state.tokens),
        format_count(info.state.samples), info.state.last_loss, family_of(info),
        format_count(parameter_count(info.model)), format_bytes(info.bytes),
        info.has_optimizer ? "with optimizer state" : "weights only", origin_line(info),
        info.config_toml);
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
