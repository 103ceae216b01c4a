// ingot checkpoint ls | show | verify
#include <fmt/format.h>

#include <memory>

#include "checkpoint/exchange/open_weights.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "cli/checkpoint/facts.h"
#include "core/error.h"
#include "core/text/format.h"
#include "train/run_folder.h"

namespace ingot::cli {
namespace {

// A folder and --json.
struct Target {
  std::string folder;
  JsonOption json;
};

// Those of a run, or the one that the folder is itself. None: of a run that has saved none yet.
std::vector<std::string> checkpoints_in(Storage& storage, const std::string& folder) {
  std::vector<std::string> found = list_checkpoints(storage, folder);
  if (!found.empty()) return found;
  if (storage.exists(join_path(folder, kManifestName))) return {folder};
  if (!storage.exists(join_path(folder, kRunConfigName)))
    throw Error(ErrorCode::Data, why_no_checkpoint(storage, folder));
  return {};
}

// A line of `ls`.
std::string line_of(const CheckpointReader& reader) {
  const CheckpointInfo& info = reader.info();
  const std::string what = info.has_optimizer
                               ? fmt::format("step {}  {} tokens  loss {:.4f}", info.state.step,
                                             format_count(info.state.tokens), info.state.last_loss)
                               : model_line(info, dtypes_of(reader));
  return fmt::format("{}  {}  {}", info.dir, what, format_bytes(info.bytes));
}

void list(const Target& target) {
  const auto storage = posix_storage();
  const std::vector<std::string> found = checkpoints_in(*storage, target.folder);
  auto all = nlohmann::json::array();
  for (const std::string& dir : found) {
    const CheckpointReader reader(storage, dir);
    fmt::print("{}\n", line_of(reader));
    all.push_back(facts_of(reader));
  }
  if (found.empty()) fmt::print("{}: the run has saved none yet\n", target.folder);
  target.json.print({{"checkpoints", all}});
}

// What a page of settings begins with, as comments.
std::string head_of(const CheckpointReader& reader, const Tokenizer& tokenizer,
                    bool has_chat_template) {
  const CheckpointInfo& info = reader.info();
  std::string head = fmt::format("# {}\n", info.dir);
  if (info.has_optimizer)
    head += fmt::format("# step {}, {} tokens, {} samples, loss {:.4f}\n", info.state.step,
                        format_count(info.state.tokens), format_count(info.state.samples),
                        info.state.last_loss);
  head += fmt::format("# {}, {} on disk, {}\n", model_line(info, dtypes_of(reader)),
                      format_bytes(info.bytes),
                      info.has_optimizer ? "with optimizer state" : "weights only");
  if (info.origin != Origin{})
    head += fmt::format("# {} {} ({})\n",
                        info.has_optimizer ? "its weights began as those of" : "imported from",
                        on_one_line(info.origin.path), info.origin.format);
  return head + fmt::format("# tokenizer {} of {} ids, {}\n", tokenizer.kind(),
                            format_count(tokenizer.vocab_size()),
                            has_chat_template ? "a chat template" : "no chat template");
}

void show(const Target& target) {
  const auto storage = posix_storage();
  const CheckpointReader reader(storage, resolve_checkpoint(storage, target.folder));
  const Companions companions = reader.companions();
  const auto tokenizer = tokenizer_of(companions);
  const bool has_chat_template = !chat_template_of(companions).empty();
  fmt::print("{}{}", head_of(reader, *tokenizer, has_chat_template), reader.info().config_toml);
  nlohmann::json line = facts_of(reader);
  line["tokenizer"] = {{"kind", tokenizer->kind()}, {"ids", tokenizer->vocab_size()}};
  line["chat_template"] = has_chat_template;
  line["config"] = reader.info().config_toml;
  target.json.print(line);
}

void verify(const Target& target) {
  const auto storage = posix_storage();
  auto all = nlohmann::json::array();
  for (const std::string& dir : checkpoints_in(*storage, target.folder)) {
    const CheckpointReader reader(storage, dir);
    reader.verify();
    fmt::print("{}: good, {}\n", dir, format_bytes(reader.info().bytes));
    all.push_back(facts_of(reader));
  }
  if (all.empty()) fmt::print("{}: the run has saved none yet\n", target.folder);
  const bool is_one = storage->exists(join_path(target.folder, kManifestName));
  target.json.print(is_one ? all[0] : nlohmann::json{{"checkpoints", all}});
}

void add(Command& checkpoint, const char* name, const char* help, void (*run)(const Target&)) {
  auto target = std::make_shared<Target>();
  auto* command = checkpoint.add_subcommand(name, help);
  command->add_option("checkpoint", target->folder, "checkpoint or run folder")->required();
  target->json.add_to(*command);
  command->callback([target, run] { run(*target); });
}

}  // namespace

void add_checkpoint_ls(Command& checkpoint) {
  add(checkpoint, "ls", "list the checkpoints of a run", list);
}

void add_checkpoint_show(Command& checkpoint) {
  add(checkpoint, "show", "print what a checkpoint is, and the settings of its run or model", show);
}

void add_checkpoint_verify(Command& checkpoint) {
  add(checkpoint, "verify",
      "check sizes and checksums of every file, of a run those of all its checkpoints", verify);
}

}  // namespace ingot::cli
