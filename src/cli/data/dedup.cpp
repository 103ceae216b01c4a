// ingot data dedup: of documents that are alike, one stays.
#include <fmt/format.h>

#include <memory>

#include "cli/data/stage.h"
#include "core/text/format.h"
#include "ingest/dedup/dedup_stage.h"

namespace ingot::cli {
namespace {

struct Options {
  StageOptions stage;
  std::string method = "minhash", hash = "xxh64", normal_form = "datatrove-0.10";
  DedupSettings dedup;
  bool keeps_removed = false;
  int64_t memory_bytes = int64_t{1} << 30;
};

DedupSettings settings_of(const Options& options) {
  DedupSettings settings = options.dedup;
  settings.method = options.method == "exact" ? DedupMethod::Exact : DedupMethod::MinHash;
  settings.minhash.hash = options.hash == "sha1" ? ShingleHash::Sha1 : ShingleHash::Xxh64;
  settings.minhash.form = options.normal_form == "fineweb-v1" ? text::NormalForm::FinewebV1
                                                              : text::NormalForm::Datatrove010;
  return settings;
}

void print_report(const nlohmann::json& report, const std::string& folder) {
  const int64_t documents = report["documents"], kept = report["kept"];
  const int64_t bytes_in = report["bytes_in"], bytes_kept = report["bytes_kept"];
  fmt::print("kept {} of {} documents ({}), {} of {} of text ({})\n", format_count(kept),
             format_count(documents), format_percent(kept, documents), format_bytes(bytes_kept),
             format_bytes(bytes_in), format_percent(bytes_kept, bytes_in));
  fmt::print("{} clusters of duplicates", format_count(report["clusters"].get<int64_t>()));
  for (const auto& row : report["clusters_by_size"]) {
    fmt::print("{} {} of {} to {}", &row == &report["clusters_by_size"].front() ? ":" : ",",
               format_count(row["clusters"].get<int64_t>()), row["from"].get<int64_t>(),
               row["to"].get<int64_t>());
  }
  fmt::print("\n");
  print_skipped(report);
  fmt::print("documents in {0}/documents, samples in {0}/report.html\n", folder);
}

void dedup(const Options& options) {
  DedupStage stage;
  stage.settings = settings_of(options);
  stage.inputs = options.stage.stage_inputs();
  stage.keeps_removed = options.keeps_removed;
  stage.memory_bytes = options.memory_bytes;
  finish_stage(
      options.stage, [&](const StageRun& run) { return run_dedup(stage, run); }, print_report);
}

}  // namespace

void add_data_dedup(Command& data) {
  auto options = std::make_shared<Options>();
  auto* command =
      data.add_subcommand("dedup", "remove documents that are equal or nearly equal to others");
  options->stage.add_to(*command);
  command->add_option("--method", options->method, "equal texts, or nearly equal ones")
      ->one_of({"exact", "minhash"})
      ->capture_default_str();
  command->add_flag("--normalize", options->dedup.normalizes,
                    "exact: without regard to case, numbers, punctuation and accents");
  MinHashSettings& minhash = options->dedup.minhash;
  command->add_option("--n-gram", minhash.n_gram, "minhash: words that are compared together")
      ->capture_default_str();
  command->add_option("--buckets", minhash.num_buckets, "minhash: chances to be found")
      ->capture_default_str();
  command
      ->add_option("--hashes", minhash.hashes_per_bucket,
                   "minhash: hashes of a bucket, all of which must agree")
      ->capture_default_str();
  command->add_option("--seed", minhash.seed, "minhash")->capture_default_str();
  command->add_option("--hash", options->hash, "minhash: of n-grams; FineWeb used sha1")
      ->one_of({"xxh64", "sha1"})
      ->capture_default_str();
  command
      ->add_option("--splitter", options->dedup.splitter,
                   "minhash: what words are; auto goes by the script")
      ->one_of({"auto", "spacy-en", "uax29", "whitespace"})
      ->capture_default_str();
  command->add_option("--normal-form", options->normal_form, "in which texts are compared")
      ->one_of({"datatrove-0.10", "fineweb-v1"})
      ->capture_default_str();
  command
      ->add_option("--memory", options->memory_bytes,
                   "bytes for sorting (512MB, 4GB, …), besides one document a thread")
      ->size_in_bytes()
      ->default_str("1GB");
  command->add_flag("--keep-removed", options->keeps_removed,
                    "write removed documents to OUT/removed, with the one that stays");
  command->footer(
      "Of documents that are alike the first stays: inputs in the order given, documents in that\n"
      "of their file. Writes OUT/documents/NAME.jsonl.zst for each input, report.json and\n"
      "report.html; run it again after an interruption. Example:\n"
      "  ingot data dedup cleaned/documents --out deduplicated");
  command->callback(
      [options] { run_as_process(options->stage.process, [&] { dedup(*options); }); });
}

}  // namespace ingot::cli
