// ingot checkpoint ls | show | verify
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <memory>
#include <optional>

#include "checkpoint/auxiliary_files.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/models/open_model.h"
#include "cli/checkpoint/facts.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"
#include "train/start/run_folder.h"

namespace ingot::cli {
namespace {

// A folder and --json.
struct Target {
  std::string folder;
  JsonOption json;
};

// Those of a run, sound or not, or the one that the folder is itself. None: of a run that has saved
// none yet.
std::vector<std::string> checkpoints_in(Storage& storage, const std::string& folder) {
  std::vector<std::string> found = list_step_folders(storage, folder);
  if (!found.empty()) return found;
  if (storage.exists(join_path(folder, kManifestName))) return {folder};
  if (!storage.exists(join_path(folder, kRunConfigName)))
    throw Error(ErrorCode::Data, why_no_checkpoint(storage, folder));
  return {};
}

// A line of `ls`.
std::string line_of(const CheckpointInfo& info, const Weights& weights) {
  const std::string what = info.has_optimizer
                               ? fmt::format("step {}  {} tokens  loss {:.4f}", info.state.step,
                                             format_count(info.state.tokens), info.state.last_loss)
                               : model_line(info, dtypes_of(weights));
  return fmt::format("{}  {}  {}", info.dir, what, format_bytes(info.bytes));
}

struct AllFacts {
  nlohmann::json facts = nlohmann::json::array();
  int64_t num_damaged = 0;
};

// Prints a line for each checkpoint, of one that `line` throws for why.
AllFacts print_each(const std::shared_ptr<Storage>& storage, const std::vector<std::string>& dirs,
                    const std::function<std::string(const CheckpointReader&)>& line) {
  AllFacts all;
  for (const std::string& dir : dirs) {
    try {
      const CheckpointReader reader(storage, dir);
      const std::string text = line(reader);
      all.facts.push_back(facts_of(reader.info(), *weights_of(reader)));
      fmt::print("{}\n", text);
    } catch (const Error& error) {
      const std::string why = on_one_line(error.what());
      fmt::print("{}  damaged: {}\n", dir, why);
      all.facts.push_back({{"checkpoint", dir}, {"damaged", why}});
      ++all.num_damaged;
    }
  }
  return all;
}

// Of what is damaged, after all lines and JSON.
Exit end_of(const Target& target, const AllFacts& all) {
  if (all.facts.empty()) fmt::print("{}: the run has saved none yet\n", target.folder);
  if (all.num_damaged == 0) return Exit::Done;
  fmt::print(stderr, "ingot: {}: {} of {} checkpoints damaged\n", target.folder, all.num_damaged,
             all.facts.size());
  return Exit::Failed;
}

Exit list(const Target& target) {
  const auto storage = posix_storage();
  const AllFacts all = print_each(
      storage, checkpoints_in(*storage, target.folder),
      [](const CheckpointReader& reader) { return line_of(reader.info(), *weights_of(reader)); });
  const Exit exit = end_of(target, all);
  target.json.print({{"checkpoints", all.facts}});
  return exit;
}

Exit verify(const Target& target) {
  const auto storage = posix_storage();
  const std::vector<std::string> dirs = checkpoints_in(*storage, target.folder);
  const AllFacts all = print_each(storage, dirs, [](const CheckpointReader& reader) {
    reader.verify();
    return fmt::format("{}: good, {}", reader.info().dir, format_bytes(reader.info().bytes));
  });
  const Exit exit = end_of(target, all);
  const bool is_one = dirs == std::vector{target.folder};
  target.json.print(is_one ? all.facts[0] : nlohmann::json{{"checkpoints", all.facts}});
  return exit;
}

// What the head of a page says of text.
struct TextFacts {
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<int32_t> stop_ids;
  bool has_chat_template = false;
};

// Where no tokenizer came with the model, or none that can be used, `why` says so.
std::optional<TextFacts> text_facts_of(const OpenModel& model, std::string& why) {
  try {
    const AuxiliaryFiles auxiliary_files = model.auxiliary_files();
    TextFacts facts{
        tokenizer_of(auxiliary_files), {}, !chat_files_of(auxiliary_files).templates.empty()};
    facts.stop_ids = stop_ids_of(auxiliary_files, *facts.tokenizer);
    return facts;
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

std::string line_of(const TextFacts& text) {
  const std::string stops = text.stop_ids.empty()
                                ? "no stop id"
                                : fmt::format("stop {} {}", text.stop_ids.size() > 1 ? "ids" : "id",
                                              fmt::join(text.stop_ids, ", "));
  return fmt::format("# tokenizer {} of {} ids, {}, {}\n", text.tokenizer->kind(),
                     format_count(text.tokenizer->vocab_size()), stops,
                     text.has_chat_template ? "a chat template" : "no chat template");
}

// What a page of settings begins with, as comments.
std::string head_of(const OpenModel& model, const std::optional<TextFacts>& text,
                    const std::string& why_no_text) {
  const CheckpointInfo& info = model.info();
  std::string head = fmt::format("# {}\n", info.dir);
  if (info.has_optimizer)
    head += fmt::format("# step {}, {} tokens, {} samples, loss {:.4f}\n", info.state.step,
                        format_count(info.state.tokens), format_count(info.state.samples),
                        info.state.last_loss);
  head += fmt::format("# {}, {} on disk, {}\n", model_line(info, dtypes_of(model.weights())),
                      format_bytes(info.bytes),
                      info.has_optimizer ? "with optimizer state" : "weights only");
  if (info.origin.path == info.dir)
    head += fmt::format("# a folder of {}, not imported yet\n", info.origin.format);
  else if (info.origin != Origin{})
    head += fmt::format("# {} {} ({})\n",
                        info.has_optimizer ? "its weights began as those of" : "imported from",
                        on_one_line(info.origin.path), info.origin.format);
  return head +
         (text ? line_of(*text)
               : fmt::format("# no tokenizer that can be used: {}\n", on_one_line(why_no_text)));
}

Exit show(const Target& target) {
  const auto model = open_model(posix_storage(), target.folder);
  std::string why_no_text;
  const std::optional<TextFacts> text = text_facts_of(*model, why_no_text);
  fmt::print("{}{}", head_of(*model, text, why_no_text), model->info().config_toml);
  nlohmann::json line = facts_of(model->info(), model->weights());
  if (text) {
    line["tokenizer"] = {{"kind", text->tokenizer->kind()}, {"ids", text->tokenizer->vocab_size()}};
    line["stop_ids"] = text->stop_ids;
    line["chat_template"] = text->has_chat_template;
  } else {
    line["no_tokenizer"] = why_no_text;
  }
  line["config"] = model->info().config_toml;
  target.json.print(line);
  return Exit::Done;
}

struct About {
  const char *name, *help;
  std::string target;
};

void add(Command& checkpoint, const About& about, Exit (*run)(const Target&)) {
  auto target = std::make_shared<Target>();
  auto* command = checkpoint.add_subcommand(about.name, about.help);
  command->add_option("checkpoint", target->folder, about.target)->required();
  target->json.add_to(*command);
  command->callback([target, run] { return run(*target); });
}

}  // namespace

void add_checkpoint_ls(Command& checkpoint) {
  add(checkpoint,
      {"ls", "list the checkpoints of a run; damaged ones with why, exit code 1 then",
       "checkpoint or run folder"},
      list);
}

void add_checkpoint_show(Command& checkpoint) {
  add(checkpoint,
      {"show", "print what a checkpoint is, and the settings of its run or model",
       model_path_forms()},
      show);
}

void add_checkpoint_verify(Command& checkpoint) {
  add(checkpoint,
      {"verify", "check sizes and checksums of every file, of a run those of all its checkpoints",
       "checkpoint or run folder"},
      verify);
}

}  // namespace ingot::cli
