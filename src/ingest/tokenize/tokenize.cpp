#include "ingest/tokenize/tokenize.h"

#include <xxhash.h>

#include <algorithm>
#include <mutex>

#include "core/error/error.h"
#include "ingest/tokenize/tokenize_task.h"
#include "shards/duplicates.h"

namespace ingot {
namespace {

using nlohmann::json;

std::vector<SourceFile> all_files(const std::vector<TokenizeSource>& sources) {
  std::vector<SourceFile> files;
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const InputFile& file : sources[i].files) {
      files.push_back({file, static_cast<int64_t>(i)});
    }
  }
  return files;
}

// Files of unknown size come alone: they may be of any.
std::vector<std::vector<SourceFile>> group_into_tasks(std::vector<SourceFile> files,
                                                      int64_t task_bytes) {
  std::vector<std::vector<SourceFile>> tasks;
  int64_t bytes = task_bytes;
  for (SourceFile& file : files) {
    const int64_t size = file.file.bytes < 0 ? task_bytes : file.file.bytes;
    if (tasks.empty() || bytes + size > task_bytes) {
      tasks.emplace_back();
      bytes = 0;
    }
    bytes += size;
    tasks.back().push_back(std::move(file));
  }
  return tasks;
}

std::string hash_of(const std::vector<SourceFile>& files) {
  std::string list;
  for (const SourceFile& file : files) {
    list += fmt::format("{}\t{}\t{}\n", file.source, file.file.bytes, file.file.name);
  }
  return fmt::format("{:016x}", XXH3_64bits(list.data(), list.size()));
}

json describe(const ShardManifest& manifest, const std::vector<SourceFile>& files,
              const TokenizeSettings& settings) {
  json sources = json::array();
  for (const ShardSource& source : manifest.sources) sources.push_back(source.name);
  return {{"stage", "tokenize"},
          {"tokenizer", fmt::format("{:016x}", manifest.tokenizer_hash)},
          {"bos", manifest.bos},
          {"eos", manifest.eos},
          {"shard_tokens", settings.shard_tokens},
          {"task_bytes", settings.task_bytes},
          {"text_field", settings.read.text_field},
          {"id_field", settings.read.id_field},
          {"keeps_crlf", settings.read.keep_crlf},
          {"max_document_bytes", settings.read.max_document_bytes},
          {"sources", sources},
          {"num_files", files.size()},
          {"files_hash", hash_of(files)}};
}

// Adds the parts of a later one.
void join(ShardManifest& manifest, const ShardManifest& later) {
  manifest.shards.insert(manifest.shards.end(), later.shards.begin(), later.shards.end());
  for (size_t i = 0; i < manifest.sources.size(); ++i) {
    manifest.sources[i].num_documents += later.sources.at(i).num_documents;
    manifest.sources[i].num_tokens += later.sources[i].num_tokens;
    manifest.sources[i].num_bytes += later.sources[i].num_bytes;
  }
  for (const auto& [reason, count] : later.left_out) manifest.left_out[reason] += count;
}

std::string text_of(const ReadCounts& left_out) {
  const json first = to_json(left_out.first_skipped);
  std::string text;
  for (const auto& [reason, count] : left_out.skipped) {
    text += fmt::format("{}{} {}{}", text.empty() ? "; left out: " : ", ", count, reason,
                        first_place(first, reason));
  }
  return text;
}

// Tells the observer of every batch that is written.
class BatchReport {
 public:
  BatchReport(int64_t bytes_total, StageObserver& observer)
      : bytes_total_(bytes_total), observer_(observer) {}
  void add(const TokenizeStep& step) {
    const std::lock_guard lock(mutex_);
    bytes_read_ += step.bytes_read;
    text_bytes_ += step.text_bytes;
    observer_.on_input(bytes_read_, bytes_total_);
    observer_.on_tokens(step.tokens);
    observer_.on_documents(step.documents, step.text_bytes);
  }
  int64_t text_bytes() const { return text_bytes_; }

 private:
  int64_t bytes_total_;
  StageObserver& observer_;
  std::mutex mutex_;
  int64_t bytes_read_ = 0, text_bytes_ = 0;
};

std::vector<std::vector<InputFile>> files_of(const std::vector<std::vector<SourceFile>>& tasks) {
  std::vector<std::vector<InputFile>> files;
  for (const auto& task : tasks) {
    files.emplace_back();
    for (const SourceFile& file : task) files.back().push_back(file.file);
  }
  return files;
}

// Of a folder that has a manifest.
TokenizeResult finished(Storage& storage, const std::string& folder, const TaskFolder& stage) {
  TokenizeResult result{.finished = true, .manifest = read_manifest(storage, folder)};
  for_each_task_record<TokenizeRecord>(stage, [&](int64_t, const TokenizeRecord& record) {
    result.first_left_out.merge(places_of(record.first_left_out));
  });
  return result;
}

// Of the tasks that are still to be done by this process; -1 where a file's size is not known.
int64_t bytes_to_do(const std::vector<std::vector<SourceFile>>& tasks, ProcessShare share) {
  int64_t bytes = 0;
  for (auto task = static_cast<size_t>(share.index); task < tasks.size();
       task += static_cast<size_t>(share.count)) {
    for (const SourceFile& file : tasks[task]) {
      if (file.file.bytes < 0) return -1;
      bytes += file.file.bytes;
    }
  }
  return bytes;
}

}  // namespace

#include "spec/settings/rows.h"

std::vector<Setting> settings_of(TokenizeSettings& section) {
  const std::string prefix = "tokenize.";
  std::vector<Setting> rows;
#include "ingest/tokenize/tokenize.def"
  return rows;
}

#include "spec/settings/end.h"

TokenizeResult tokenize(const StageRun& run, const Tokenizer& tokenizer,
                        const std::vector<TokenizeSource>& sources,
                        const TokenizeSettings& settings) {
  const std::shared_ptr<Storage>& storage = run.storage;
  const std::string& folder = run.folder;
  ShardManifest manifest;
  manifest.vocab_size = tokenizer.vocab_size();
  manifest.token_bytes = token_bytes_for(manifest.vocab_size);
  manifest.bos = settings.bos;
  manifest.eos = settings.eos;
  manifest.tokenizer_hash = tokenizer_hash(tokenizer);
  manifest.tokenizer_kind = tokenizer.kind();
  for (const TokenizeSource& source : sources) manifest.sources.push_back({source.name, 0, 0, 0});

  const std::vector<SourceFile> files = all_files(sources);
  const auto tasks = group_into_tasks(files, settings.task_bytes);
  const auto num_tasks = static_cast<int64_t>(tasks.size());
  ReadSettings read = settings.read;
  read.storage = storage;
  TaskFolder stage(storage, folder, describe(manifest, files, settings), num_tasks);
  const InputRecords inputs(storage, folder, files_of(tasks), read);
  inputs.check(stage, run.share, run.threads);
  if (storage->exists(join_path(folder, kShardManifestName)))
    return finished(*storage, folder, stage);
  publish_file(*storage, join_path(folder, kShardTokenizerName), tokenizer.serialize());

  // Tasks side by side as far as they go: they need not wait for each other.
  const int64_t at_once = std::clamp<int64_t>((num_tasks + run.share.count - 1) / run.share.count,
                                              1, std::max<int64_t>(1, run.threads));
  const int64_t threads_each = std::max<int64_t>(1, run.threads / at_once);
  BatchReport report(bytes_to_do(tasks, run.share), *run.observer);
  const auto work = [&](int64_t number) -> json {
    TokenizeTask task;
    task.files = tasks[static_cast<size_t>(number)];
    task.read = read;
    task.manifest = manifest;
    task.shards = {manifest.token_bytes, settings.shard_tokens,
                   num_tasks == 1 ? "" : fmt::format("{:05}-", number), manifest.bos, manifest.eos};
    task.folder = folder;
    task.record_path = join_path(folder, fmt::format("tasks/{:05}.partial", number));
    return task_record(
        record_of(run_tokenize_task(storage, task, tokenizer, threads_each,
                                    [&](const TokenizeStep& step) { report.add(step); })));
  };
  StageRun side_by_side = run;
  side_by_side.threads = at_once;
  run_tasks(stage, side_by_side, "tokenize", inputs.stamped(work));
  if (!stage.finished()) return {};
  const auto lock = stage.lock_end();  // two processes may end at the same time
  if (storage->exists(join_path(folder, kShardManifestName)))
    return finished(*storage, folder, stage);

  ReadCounts left_out;
  for_each_task_record<TokenizeRecord>(stage, [&](int64_t, const TokenizeRecord& record) {
    const TokenizedFiles files_of_task = files_of(record, folder);
    join(manifest, files_of_task.manifest);
    left_out += files_of_task.left_out;
  });
  check(manifest.num_documents() > 0, ErrorCode::Data,
        "{}: no documents in the {} files of the input{}", folder, files.size(), text_of(left_out));
  const std::vector<ShardsIn> shards = {{folder, &manifest}};
  const auto find = [&](DocumentKey key) {
    return find_duplicate_documents(*storage, shards, key, settings.sort_bytes,
                                    join_path(folder, "duplicates.tmp"));
  };
  const DuplicateDocuments ids = find(DocumentKey::Id), contents = find(DocumentKey::Content);
  manifest.duplicate_ids = ids.count;
  manifest.equal_documents = contents.count;
  write_manifest(*storage, folder, manifest);
  return {.finished = true,
          .manifest = std::move(manifest),
          .duplicate_examples = ids.examples,
          .equal_examples = contents.examples,
          .first_left_out = left_out.first_skipped,
          .text_bytes = report.text_bytes()};
}

}  // namespace ingot
