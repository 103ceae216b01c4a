// ingot data seen RUN
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/frame/command.h"
#include "cli/frame/progress_line.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "feed/run_steps.h"
#include "feed/seen.h"
#include "ledger/records/run_ledger.h"
#include "train/start/run_data.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::json;

// The data a run was trained on, opened again; `why_not` says why it cannot be.
struct Reopened {
  std::optional<RunData> data;
  std::string why_not;
};

Reopened reopen(Storage& storage, const RunSteps& run, const std::string& origin) {
  try {
    RunData data = reopen_run_data(storage, parse_run_config(run.config, origin, {}), *run.data);
    check(data.identity.hash() == run.data->hash(), ErrorCode::Data,
          "it changed since the run (hash {:016x}, now {:016x}): {}", run.data->hash(),
          data.identity.hash(), difference(*run.data, data.identity));
    return {std::move(data), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

// As recorded, or counted again where the records are of a program that did not tell.
std::optional<TokenCounts> counts_of(const RunSteps& run, const Reopened& reopened) {
  if (run.counts || !reopened.data) return run.counts;
  return count_tokens(*reopened.data->train, 0, run.num_samples());
}

struct SeenCommand {
  std::string run_dir, document;
  bool list = false;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const std::string ledger = join_path(run_dir, kRunLedgerName);
    check(storage->exists(ledger), ErrorCode::Data, "{}: no run here: there is no {}", run_dir,
          kRunLedgerName);
    const RunSteps run = read_run_steps(*storage, ledger);
    check(run.data.has_value(), ErrorCode::Data, "{}: it does not say what data was used", ledger);
    const Reopened reopened = reopen(*storage, run, ledger);
    check(reopened.data.has_value() || (document.empty() && !list), ErrorCode::Data,
          "the data of {} cannot be read, which documents were seen is therefore not known: {}",
          run_dir, reopened.why_not);
    if (!document.empty())
      show_document(run, *reopened.data);
    else
      show_run(run, reopened);
  }

 private:
  void show_run(const RunSteps& run, const Reopened& reopened) const {
    Json result = {{"steps", run.held.empty() ? 0 : run.held.back().end_step() - 1},
                   {"starts", run.num_starts},
                   {"samples", run.num_samples()},
                   {"data_hash", fmt::format("{:016x}", run.data->hash())},
                   {"lost_samples", run.num_lost_samples()},
                   {"missing_samples", run.num_missing},
                   {"twice_recorded_samples", run.num_repeated},
                   {"sources", Json::array()}};
    if (!run.id.empty()) result["run"] = run.id;
    fmt::print("{}: {} steps, {} start{}, {} samples of {} tokens, data hash {}\n", run_dir,
               format_count(result["steps"].get<int64_t>()), run.num_starts,
               run.num_starts == 1 ? "" : "s", format_count(run.num_samples()), run.data->seq,
               result["data_hash"].get<std::string>());
    if (const auto counts = counts_of(run, reopened)) {
      result.update(to_json(*counts));
      fmt::print("tokens {}\n", text_of(*counts));
    }
    const std::vector<SourceSeen> seen = sources_seen(*run.data, run.num_samples());
    for (size_t i = 0; i < seen.size(); ++i)
      result["sources"].push_back(show_source(run, reopened, i, seen[i]));
    show_equal_sources(run, result);
    const int64_t repeated = run.num_repeated + samples_repeated(*run.data, run.num_samples());
    show_lost(run, result);
    if (run.num_missing > 0)
      fmt::print("{} samples before the last are in no step's record\n",
                 format_count(run.num_missing));
    result["repeated_samples"] = repeated;
    fmt::print("{}\n", repeated == 0
                           ? "no sample was used twice"
                           : format_count(repeated) + " samples were used more than once");
    if (!reopened.data)
      fmt::print("documents are not known, the data cannot be read: {}\n", reopened.why_not);
    json.print(result);
  }

  // They have the same samples, which each source counts as its own.
  static void show_equal_sources(const RunSteps& run, Json& result) {
    const std::vector<size_t> firsts = first_of_equal_content(*run.data);
    for (size_t i = 0; i < firsts.size(); ++i) {
      if (firsts[i] == i) continue;
      const std::string& first = run.data->sources[firsts[i]].path;
      result["sources"][i]["same_content_as"] = first;
      fmt::print("  {} has the content of {}\n", run.data->sources[i].path, first);
    }
  }

  Json show_source(const RunSteps& run, const Reopened& reopened, size_t i,
                   const SourceSeen& seen) const {
    const DataIdentity::Source& source = run.data->sources[i];
    Json result = {{"path", source.path},       {"weight", source.weight},
                   {"samples", seen.samples},   {"epochs", seen.epochs},
                   {"repeated", seen.repeated}, {"total_documents", source.documents}};
    if (run.data->packing == "concat") result["tokens"] = seen.samples * run.data->seq;
    std::string documents;
    std::optional<DocumentsSeen> found;
    if (reopened.data) {
      ProgressLine progress;
      found.emplace(
          *reopened.data->train, static_cast<int64_t>(i), seen.samples, [&](double share) {
            if (progress.is_due())
              progress.show(
                  fmt::format("{}: looking up documents, {}", source.path, format_percent(share)));
          });
      result["documents"] = found->num_documents();
      result["tokens"] = found->num_tokens();
      documents = fmt::format(", {} of {} documents", format_count(found->num_documents()),
                              format_count(source.documents));
    }
    const std::string tokens = result.contains("tokens")
                                   ? format_count(result["tokens"].get<int64_t>()) + " tokens"
                                   : format_count(seen.samples) + " samples";
    fmt::print("  {}: {}, {:.4g} epochs{}{}\n", source.path, tokens, seen.epochs, documents,
               seen.repeated == 0
                   ? ""
                   : fmt::format(", {} samples more than once", format_count(seen.repeated)));
    if (found && found->origins().size() > 1)
      for (const auto& [name, count] : found->origins()) {
        result["origins"].push_back({{"name", name}, {"tokens", count}});
        fmt::print("    {}: {} tokens\n", name, format_count(count));
      }
    if (list) print_documents(*reopened.data->train->parts()[i].source, *found);
    return result;
  }

  static void print_documents(const TokenSource& source, const DocumentsSeen& found) {
    for (int64_t document = 0; document < source.num_documents(); ++document)
      if (found.contains(document)) fmt::print("    {}\n", source.document_name(document));
  }

  static void show_lost(const RunSteps& run, Json& result) {
    result["lost_steps"] = Json::array();
    for (const StepRange& range : run.lost) {
      result["lost_steps"].push_back({range.first_step, range.end_step() - 1});
      fmt::print(
          "  steps {} to {} ({} samples) were trained, then discarded by a resume from an earlier "
          "checkpoint, and {}\n",
          range.first_step, range.end_step() - 1,
          format_count(range.num_steps * range.samples_per_step),
          range.end_sample() <= run.num_samples() ? "trained again"
                                                  : "not all of it trained again yet");
    }
  }

  void show_document(const RunSteps& run, const RunData& data) const {
    Json result = {{"document", document}, {"found", Json::array()}};
    for (size_t i = 0; i < data.mixture.size(); ++i) {
      const TokenSource& source = *data.train->parts()[i].source;
      const auto number = source.find_document(document);
      if (!number) continue;
      const int64_t begin = source.document_begin(*number),
                    end = source.document_begin(*number + 1);
      fmt::print("{} in {}: {} tokens\n", source.document_name(*number), data.mixture[i].path,
                 format_count(end - begin));
      Json uses = Json::array();
      for (const Use& use : uses_of(run, *data.train, static_cast<int64_t>(i), begin, end)) {
        fmt::print("  step {}, epoch {}{}\n", use.step, use.epoch + 1,
                   use.lost ? " (discarded afterwards)" : "");
        uses.push_back({{"step", use.step},
                        {"epoch", use.epoch + 1},
                        {"sample", use.sample},
                        {"lost", use.lost}});
      }
      if (uses.empty()) fmt::print("  not seen\n");
      result["found"].push_back({{"source", data.mixture[i].path},
                                 {"name", source.document_name(*number)},
                                 {"tokens", end - begin},
                                 {"uses", uses}});
    }
    check(!result["found"].empty(), ErrorCode::Data,
          "no document \"{}\" in the training data of {}; it may be among what was held out",
          document, run_dir);
    json.print(result);
  }
};

}  // namespace

void add_data_seen(Command& data) {
  auto command = std::make_shared<SeenCommand>();
  auto* seen = data.add_subcommand("seen", "what a run was trained on, from its records");
  seen->add_option("run", command->run_dir, "run folder (checkpoint.dir)")->required();
  seen->add_option("--doc", command->document,
                   "say at which steps this document was seen: its name, or its id of 32 digits");
  seen->add_flag("--list", command->list, "name every document that was seen");
  command->json.add_to(*seen);
  seen->footer(
      "Tokens, epochs and repetitions come from RUN/ledger.jsonl alone, over any number of "
      "resumes\n"
      "and ranks; documents are looked up in the data, if it is still there and unchanged.");
  seen->callback([command] { command->run(); });
}

}  // namespace ingot::cli
