// ingot data mix
#include <fmt/ranges.h>

#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/progress_line.h"
#include "core/device/thread_pool.h"
#include "core/storage/storage.h"
#include "core/text/format.h"
#include "shards/mix/mix.h"

namespace ingot::cli {
namespace {

struct MixCommand {
  std::string recipe, folder;
  JsonOption json;

  void run() const {
    const MixSettings settings = parse_mix(read_text(*posix_storage(), recipe), recipe);
    const int64_t total = settings.train_tokens + settings.valid_tokens + settings.test_tokens;
    ProgressLine line;
    const MixResult result =
        mix(posix_storage(), settings, folder, available_cores(), [&](int64_t tokens) {
          if (!line.is_due()) return;
          const double rate = static_cast<double>(tokens) / std::max(1e-3, line.seconds());
          line.show(fmt::format("{} of {} tokens, {:.0f} M tokens/s, {} left", format_count(tokens),
                                format_count(total), rate / 1e6,
                                format_duration(static_cast<double>(total - tokens) / rate)));
        });
    print(settings, result);
  }

 private:
  void print(const MixSettings& settings, const MixResult& result) const {
    auto results = nlohmann::json::array(), cut_off = nlohmann::json::array();
    auto left_out = nlohmann::json::array();
    fmt::print("{:<6} {:>18} {:>12} {:>8} {:>8}  source\n", "split", "tokens", "documents", "share",
               "epochs");
    for (const MixSplit& split : result.splits) {
      const int64_t tokens = split.manifest.num_tokens();
      for (size_t i = 0; i < split.shares.size(); ++i) {
        const MixShare& share = split.shares[i];
        fmt::print("{:<6} {:>18} {:>12} {:>8} {:>8.3f}  {}\n", split.name,
                   format_count(share.tokens), format_count(share.documents),
                   format_percent(share.tokens, tokens, 2), share.epochs, settings.sources[i].path);
        results.push_back({{"split", split.name},
                           {"source", settings.sources[i].path},
                           {"tokens", share.tokens},
                           {"documents", share.documents},
                           {"epochs", share.epochs}});
      }
      fmt::print("{:<6} {:>18} {:>12}                    {} ({} documents cut to make it exact)\n",
                 split.name, format_count(tokens), format_count(split.manifest.num_documents()),
                 join_path(folder, split.name), split.manifest.cut_documents.size());
      print_losses(split, cut_off, left_out);
    }
    const EqualDocuments& equal = result.equal;
    if (equal.documents > 0) {
      fmt::print("documents of the sources that say what an earlier one does: {} ({})\n",
                 format_count(equal.documents), fmt::join(equal.examples, ", "));
    }
    if (equal.ids > 0) {
      fmt::print("documents that have the id of an earlier one, but say something else: {}{}\n",
                 format_count(equal.ids),
                 equal.id_examples.empty()
                     ? ""
                     : fmt::format(" ({})", fmt::join(equal.id_examples, ", ")));
    }
    json.print({{"shares", results},
                {"cut_off", cut_off},
                {"left_out", left_out},
                {"equal_documents", equal.documents},
                {"equal_ids", equal.ids}});
  }

  // What a split costs, and what it does without.
  static void print_losses(const MixSplit& split, nlohmann::json& cut_off,
                           nlohmann::json& left_out) {
    if (split.cut_off_tokens > 0) {
      fmt::print(
          "{:<6} {:>18} tokens that train lacks: the rest of the cut documents, {} of the "
          "sources'\n",
          split.name, format_count(split.cut_off_tokens), format_percent(split.cut_off_share, 2));
      cut_off.push_back({{"split", split.name},
                         {"tokens", split.cut_off_tokens},
                         {"share", split.cut_off_share}});
    }
    for (const auto& [reason, count] : split.manifest.left_out) {
      fmt::print("{:<6} {:>18} documents left out: {}\n", split.name, format_count(count), reason);
      left_out.push_back({{"split", split.name}, {"reason", reason}, {"documents", count}});
    }
    if (split.left_out_tokens > 0) {
      fmt::print("{:<6} {:>18} tokens of these, which another split has\n", split.name,
                 format_count(split.left_out_tokens));
    }
  }
};

}  // namespace

void add_data_mix(Command& data) {
  auto command = std::make_shared<MixCommand>();
  auto* mix = data.add_subcommand(
      "mix",
      "mix folders of shards into train, valid and test with exact numbers of tokens\n\n"
      "MIX.toml: seed, train_tokens, valid_tokens, test_tokens, shard_tokens, when_short = "
      "\"error\" or \"renormalize\", and for each source a [[source]] with path, weight, "
      "max_epochs, max_tokens. No document is in two splits. The last document that a source gives "
      "to a split is cut to make the count exact; the tokens that train loses are printed, and "
      "refused beyond max_cut_share. If it is stopped and started again, it keeps finished "
      "splits.");
  mix->add_option("recipe", command->recipe, "MIX.toml")->required();
  mix->add_option("--out", command->folder, "folder for train, valid and test")->required();
  command->json.add_to(*mix);
  mix->callback([command] { command->run(); });
}

}  // namespace ingot::cli
