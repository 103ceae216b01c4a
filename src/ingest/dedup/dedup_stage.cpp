#include "ingest/dedup/dedup_stage.h"

#include <fmt/format.h>

#include <numeric>
#include <span>

#include "core/error/error.h"
#include "ingest/clean/splitters/splitter_setting.h"
#include "ingest/dedup/clusters.h"
#include "ingest/dedup/dedup_report.h"
#include "ingest/dedup/document_keys.h"
#include "ingest/write/document_writer.h"

namespace ingot {
namespace {

using nlohmann::json;

constexpr size_t kSampledClusters = 10;  // of the largest, and as many at random

json description_of(const DedupStage& stage) {
  const DedupSettings& s = stage.settings;
  json settings;
  if (s.method == DedupMethod::Exact) {
    settings = {{"method", "exact"}, {"normalize", s.normalize}};
  } else {
    settings = {{"method", "minhash"},
                {"splitter", s.splitter},
                {"n_gram", s.minhash.n_gram},
                {"buckets", s.minhash.buckets},
                {"hashes_per_bucket", s.minhash.hashes},
                {"seed", s.minhash.seed},
                {"hash", s.minhash.hash == ShingleHash::Sha1 ? "sha1" : "xxh64"}};
  }
  settings["normal_form"] =
      s.minhash.normal_form == text::NormalForm::FinewebV1 ? "fineweb-v1" : "datatrove-0.10";
  return {{"stage", "dedup"},
          {"settings", std::move(settings)},
          {"inputs", describe(stage.inputs)},
          {"keeps_removed", stage.keeps_removed}};
}

// A document on disk, little-endian.
struct Place {
  uint32_t file, document;
};
struct Pair {
  Place first, other;
};
static_assert(sizeof(Pair) == 16);

class Dedup {
 public:
  Dedup(const DedupStage& stage, const StageRun& run)
      : stage_(stage),
        run_(run),
        storage_(*run.storage),
        num_files_(static_cast<int64_t>(stage.inputs.files.size())),
        description_(description_of(stage)),
        filter_(run.storage, run.folder, description_, num_files_) {
    if (stage.settings.method == DedupMethod::MinHash) {
      splitter_ = make_splitter(stage.settings.splitter);
    }
  }

  std::optional<json> run() {
    const InputRecords inputs = input_records(stage_.inputs, run_, run_.folder);
    inputs.check(filter_, run_.share, run_.threads);
    if (!filter_.finished() && !prepare()) return std::nullopt;  // others have finished meanwhile
    run_tasks(filter_, run_, "filter",
              inputs.stamped([this](int64_t task) { return filter(task); }));
    if (!filter_.finished()) return std::nullopt;
    const json report =
        write_dedup_report(storage_, run_.folder, description_["settings"], filter_);
    clean_up();
    return report;
  }

 private:
  // The stages before the filter; false where there is nothing left to filter.
  bool prepare() {
    TaskFolder keys = substage("keys", num_files_);
    const InputRecords inputs = input_records(stage_.inputs, run_, join_path(work_, "keys"));
    inputs.check(keys, run_.share, run_.threads);
    const auto write = inputs.stamped([this](int64_t task) { return write_keys(task); });
    if (!run_all(keys, "keys", write)) return false;
    first_documents_ = {0};
    for_each_task_record<DedupKeysRecord>(keys, [this](int64_t, const DedupKeysRecord& record) {
      const auto contents = contents_of(record.inputs);
      contents_.push_back(contents.empty() ? InputContent() : contents.front());
      const int64_t documents = record.documents;
      check(documents >= 0 && documents <= UINT32_MAX, ErrorCode::Data,
            "{}: the keys there are damaged: remove it and run again", work_);
      first_documents_.push_back(first_documents_.back() + documents);
    });

    TaskFolder pairs = substage("pairs", num_partitions(stage_.settings));
    if (!run_all(pairs, "pairs", [&](int64_t task) { return find_pairs(keys, task); }))
      return false;

    TaskFolder clusters = substage("clusters", 1);
    if (!run_all(clusters, "clusters", [&](int64_t) { return find_clusters(pairs); })) return false;
    clusters_ = task_record_of<DedupClustersRecord>(clusters, 0);
    samples_.emplace(clusters_, [this](uint32_t root) { return place_of(root); });
    return true;
  }

  // Alone, a process removes all that the stages before the filter left. Where there are others,
  // one may still be looking for work: records stay, so that it finds none, and so do the roots.
  void clean_up() {
    if (run_.share.count == 1) {
      return remove_if_there(work_);
    }
    for (int64_t file = 0; file < num_files_; ++file) remove_if_there(keys_path(file));
    for (int64_t p = 0; p < num_partitions(stage_.settings); ++p) remove_if_there(pairs_path(p));
  }
  void remove_if_there(const std::string& path) {
    try {
      if (storage_.exists(path)) storage_.remove(path);
    } catch (const Error&) {
      if (storage_.exists(path)) throw;  // else another process was faster
    }
  }

  TaskFolder substage(const std::string& name, int64_t num_tasks) {
    return {run_.storage, join_path(work_, name), description_, num_tasks};
  }
  bool run_all(TaskFolder& tasks, std::string_view step, const TaskFolder::Work& work) {
    return run_all_tasks(tasks, run_, step, work, [this] { return filter_.finished(); });
  }
  int64_t memory_of_thread() const { return stage_.memory_bytes / run_.threads; }
  std::string keys_path(int64_t file) const {
    return join_path(work_, fmt::format("keys/{:05}.keys", file));
  }
  std::string pairs_path(int64_t partition) const {
    return join_path(work_, fmt::format("pairs/{:05}.pairs", partition));
  }
  std::string roots_path() const { return join_path(work_, "clusters/roots"); }
  const InputFile& input(int64_t file) const {
    return stage_.inputs.files[static_cast<size_t>(file)];
  }

  json write_keys(int64_t task) {
    DocumentKeys keys(stage_.settings, splitter_.get());
    KeyRunWriter writer(storage_, keys_path(task), num_partitions(stage_.settings),
                        memory_of_thread());
    ObservedReader reader(input(task), stage_.inputs.read, *run_.observer);
    Document document;
    int64_t number = 0, without_key = 0;
    for (; reader.next(document); ++number) {
      check(number < int64_t{0xFFFFFFFF}, ErrorCode::Data, "{}: more than 2^32 - 1 documents",
            input(task).location);
      const auto& found = keys.keys_of(document.text);
      without_key += found.empty();
      for (const auto& key : found) {
        writer.add(key.partition,
                   {key.high, key.low, static_cast<uint32_t>(task), static_cast<uint32_t>(number)});
      }
    }
    writer.finish();
    storage_.sync_directory(parent_path(keys_path(task)));
    return task_record(DedupKeysRecord{.documents = number,
                                       .without_key = without_key,
                                       .runs = writer.counts(),
                                       .inputs = records_of({reader.content()})});
  }

  json find_pairs(const TaskFolder& keys, int64_t partition) {
    std::vector<KeyRun> runs;
    for_each_task_record<DedupKeysRecord>(keys, [&](int64_t task, const DedupKeysRecord& record) {
      for (KeyRun& run : runs_of_partition(keys_path(task), record.runs, partition))
        runs.push_back(std::move(run));
    });
    const auto out = storage_.create(pairs_path(partition));
    std::vector<Pair> buffer;
    int64_t count = 0;
    const auto flush = [&] {
      out->append(std::as_bytes(std::span(std::as_const(buffer))));
      count += static_cast<int64_t>(buffer.size());
      buffer.clear();
    };
    std::optional<KeyRecord> first;  // of those with the key at hand
    merge_runs(storage_, std::move(runs), memory_of_thread(), pairs_path(partition) + ".merge",
               [&](const KeyRecord& record) {
                 if (!first || first->high != record.high || first->low != record.low) {
                   first = record;
                   return;
                 }
                 buffer.push_back({{first->file, first->document}, {record.file, record.document}});
                 if (buffer.size() == kBufferPairs) flush();
               });
    flush();
    out->sync();
    out->close();
    storage_.sync_directory(parent_path(pairs_path(partition)));
    return task_record(DedupPairsRecord{.pairs = count});
  }

  json find_clusters(const TaskFolder& pairs) {
    const int64_t num_documents = first_documents_.back();
    const int64_t needed = num_documents * Clusters::kBytesPerDocument;
    check(needed <= stage_.memory_bytes, ErrorCode::Config,
          "--memory: {} documents need {} MiB to be put into clusters, got {} MiB", num_documents,
          (needed >> 20) + 1, stage_.memory_bytes >> 20);
    Clusters clusters(num_documents);
    for_each_task_record<DedupPairsRecord>(
        pairs, [&](int64_t task, const DedupPairsRecord& record) {
          const auto file = storage_.open(pairs_path(task));
          const int64_t count = record.pairs;
          std::vector<Pair> buffer;
          for (int64_t done = 0; done < count; done += static_cast<int64_t>(buffer.size())) {
            buffer.resize(std::min(kBufferPairs, static_cast<size_t>(count - done)));
            file->read(done * static_cast<int64_t>(sizeof(Pair)),
                       std::as_writable_bytes(std::span(buffer)));
            for (const Pair& pair : buffer)
              clusters.join(number_of(pair.first), number_of(pair.other));
          }
        });
    const Clusters::Summary summary = clusters.summarize(kSampledClusters, kSampledClusters);
    const auto out = storage_.create(roots_path());
    out->append(std::as_bytes(clusters.roots()));
    out->sync();
    out->close();
    storage_.sync_directory(parent_path(roots_path()));
    const auto wide = [](const std::vector<uint32_t>& values) {
      return std::vector<int64_t>(values.begin(), values.end());
    };
    return task_record(DedupClustersRecord{.clusters = summary.clusters,
                                           .removed = summary.removed,
                                           .by_size = summary.by_size,
                                           .largest = wide(summary.largest),
                                           .size_of_largest = wide(summary.size_of_largest),
                                           .random = wide(summary.random),
                                           .size_of_random = wide(summary.size_of_random)});
  }

  uint32_t number_of(Place place) const {
    const bool is_there =
        place.file < num_files_ &&
        place.document < first_documents_[place.file + size_t{1}] - first_documents_[place.file];
    check(is_there, ErrorCode::Data, "{}: the keys there are damaged: remove it and run again",
          work_);
    return static_cast<uint32_t>(first_documents_[place.file] + place.document);
  }
  std::string place_of(uint32_t number) const {
    check(number < first_documents_.back(), ErrorCode::Data,
          "{}: the clusters there are damaged: remove it and run again", work_);
    const auto after = std::upper_bound(first_documents_.begin(), first_documents_.end(), number);
    const auto file = after - first_documents_.begin() - 1;
    return fmt::format("{}:{}", input(file).name,
                       number - first_documents_[static_cast<size_t>(file)]);
  }

  std::vector<uint32_t> roots_of(int64_t file) {
    const int64_t first = first_documents_[static_cast<size_t>(file)];
    const int64_t count = first_documents_[static_cast<size_t>(file) + 1] - first;
    std::vector<uint32_t> roots(static_cast<size_t>(count));
    storage_.open(roots_path())
        ->read(first * static_cast<int64_t>(sizeof(uint32_t)),
               std::as_writable_bytes(std::span(roots)));
    return roots;
  }

  json filter(int64_t task) {
    const std::vector<uint32_t> roots = roots_of(task);
    const auto first = static_cast<uint32_t>(first_documents_[static_cast<size_t>(task)]);
    const std::string name = output_names(stage_.inputs.files)[static_cast<size_t>(task)];
    DedupTotals totals;
    const auto kept = create_documents(
        run_.storage, output_path(storage_, join_path(run_.folder, "documents"), name));
    std::unique_ptr<DocumentWriter> removed;
    if (stage_.keeps_removed) {
      removed = create_documents(run_.storage,
                                 output_path(storage_, join_path(run_.folder, "removed"), name));
    }
    ObservedReader reader(input(task), stage_.inputs.read, *run_.observer);
    Document document;
    size_t number = 0;
    for (; reader.next(document); ++number) {
      check(number < roots.size(), ErrorCode::Data, "{}: has more documents than before: {}",
            input(task).location, roots.size());
      const uint32_t own = first + static_cast<uint32_t>(number), root = roots[number];
      samples_->add(totals.samples, root, own, input(task).name, document);
      totals.add(document, root == own);
      if (root == own) {
        kept->write(document);
      } else if (removed != nullptr) {
        removed->write(document, {{"duplicate_of", place_of(root)}});
      }
    }
    check(number == roots.size(), ErrorCode::Data,
          "{}: has fewer documents than before: expected {}, got {}", input(task).location,
          roots.size(), number);
    const InputContent content = reader.content();
    if (differ(content, contents_[static_cast<size_t>(task)])) {
      throw changed_input(input(task).location, run_.folder);
    }
    if (removed != nullptr) removed->commit();
    kept->commit();
    totals.read = reader.counts();
    DedupRecord record = record_of(totals);
    record.inputs = records_of({content});
    if (task == 0) record.clusters = clusters_;  // for the report, when work is removed
    return task_record(record);
  }

  static constexpr size_t kBufferPairs = 4096;

  const DedupStage& stage_;
  const StageRun& run_;
  Storage& storage_;
  const int64_t num_files_;
  const json description_;
  const std::string work_ = join_path(run_.folder, "work");
  TaskFolder filter_;
  std::unique_ptr<const Splitter> splitter_;
  std::vector<int64_t> first_documents_;  // of each file; the last is how many there are
  std::vector<InputContent> contents_;    // of each file, as its keys were made
  DedupClustersRecord clusters_;
  std::optional<ClusterSamples> samples_;
};

}  // namespace

#include "spec/settings/rows.h"

std::vector<Setting> settings_of(DedupSettings& section) {
  const std::string prefix = "dedup.";
  std::vector<Setting> rows;
#include "ingest/dedup/dedup.def"
  append_settings(section.minhash, rows);
  rows.push_back(splitter_setting(prefix + "splitter", section.splitter));
  return rows;
}

#include "spec/settings/end.h"

void validate(const DedupSettings& settings) {
  validate(settings.minhash);
  DedupSettings copy = settings, plain;
  const std::vector<Setting> given = settings_of(copy), by_default = settings_of(plain);
  const bool is_exact = settings.method == DedupMethod::Exact;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string& name = given[i].name;
    const bool is_of_both = name == "dedup.method" || name == "dedup.normal_form";
    const bool is_used = is_of_both || (name == "dedup.normalize") == is_exact;
    check(is_used || given[i].get() == by_default[i].get(), ErrorCode::Config,
          "{}: does nothing with the method {}: choose the method {}, or leave it out", name,
          is_exact ? "exact" : "minhash", is_exact ? "minhash" : "exact");
  }
}

std::optional<json> run_dedup(const DedupStage& stage, const StageRun& run) {
  validate(stage.settings);
  return Dedup(stage, run).run();
}

}  // namespace ingot
