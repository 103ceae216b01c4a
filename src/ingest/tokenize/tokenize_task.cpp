#include "ingest/tokenize/tokenize_task.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/error.h"

namespace ingot {
namespace {

using nlohmann::json;

// Where a task stands between two shards.
struct Progress {
  InputPosition position;
  ShardManifest manifest;
};

void save(Storage& storage, const std::string& path, const Progress& progress) {
  const json record = {{"file", progress.position.file},
                       {"documents", progress.position.documents},
                       {"manifest", to_json(progress.manifest)}};
  write_file_atomically(storage, path, record.dump() + "\n");
}

Progress load(Storage& storage, const TokenizeTask& task) {
  if (!storage.exists(task.record_path)) return {{}, task.manifest};
  const json record = json::parse(read_text(storage, task.record_path), nullptr, false);
  const auto number = [&](const char* key) {
    const bool good =
        record.is_object() && record.contains(key) && record[key].is_number_unsigned();
    check(good, ErrorCode::Data, "{}: expected a record with {}: remove it to begin the task anew",
          task.record_path, key);
    return record[key].get<int64_t>();
  };
  const InputPosition position{number("file"), number("documents")};
  const auto text = record.find("manifest");
  check(position.file <= static_cast<int64_t>(task.files.size()) && text != record.end() &&
            text->is_string(),
        ErrorCode::Data, "{}: expected a file and a manifest: remove it to begin the task anew",
        task.record_path);
  return {position, parse_manifest(text->get<std::string>(), task.record_path)};
}

void encode(const Tokenizer& tokenizer, const ShardManifest& manifest, TextBatch& batch,
            std::vector<int32_t>& ids, std::vector<size_t>& ends) {
  ids.clear();
  ends.clear();
  for (const BatchDocument& document : batch.documents) {
    if (document.first && manifest.bos >= 0) ids.push_back(manifest.bos);
    tokenizer.encode(batch.view().substr(document.begin, document.size), ids);
    if (document.last && manifest.eos >= 0) ids.push_back(manifest.eos);
    ends.push_back(ids.size());
  }
}

// Takes encoded batches in order.
class Sink {
 public:
  Sink(std::shared_ptr<Storage> storage, const TokenizeTask& task, ShardManifest begun,
       const std::function<void(const TokenizeStep&)>& on_step)
      : storage_(std::move(storage)),
        task_(task),
        manifest_(std::move(begun)),
        writer_(storage_, task.folder, task.shards, {manifest_.shards, manifest_.sources}),
        on_step_(on_step) {}

  void write(const TextBatch& batch, std::span<const int32_t> ids, std::span<const size_t> ends) {
    TokenizeStep step;
    step.bytes_read = batch.bytes_read;
    size_t begin = 0;
    for (size_t i = 0; i < ends.size(); ++i) {
      const BatchDocument& document = batch.documents[i];
      const auto its_ids = ids.subspan(begin, ends[i] - begin);
      begin = ends[i];
      writer_.append(its_ids);
      document_tokens_ += static_cast<int64_t>(its_ids.size());
      step.tokens += static_cast<int64_t>(its_ids.size());
      step.text_bytes += static_cast<int64_t>(document.size);
      if (!document.last) continue;
      step.documents += 1;
      end_document(document);
    }
    count(batch.left_out);
    if (on_step_) on_step_(step);
  }

  ShardManifest finish() {
    writer_.finish();
    return manifest();
  }

 private:
  void end_document(const BatchDocument& document) {
    count(document.left_out);
    if (std::exchange(document_tokens_, 0) == 0) {  // spaces only, to some tokenizers
      ++manifest_.left_out["no_tokens"];
    } else if (writer_.end_document(document.id, document.num_bytes, document.source,
                                    document.name)) {
      save(*storage_, task_.record_path, {document.after, manifest()});
    }
  }
  void count(const LeftOut& left_out) {
    for (const auto& [reason, number] : left_out) manifest_.left_out[reason] += number;
  }
  ShardManifest manifest() {
    manifest_.shards = writer_.written().shards;
    manifest_.sources = writer_.written().sources;
    return manifest_;
  }

  std::shared_ptr<Storage> storage_;
  const TokenizeTask& task_;
  ShardManifest manifest_;
  ShardWriter writer_;
  const std::function<void(const TokenizeStep&)>& on_step_;
  int64_t document_tokens_ = 0;
};

// Threads take batches in turn, encode them side by side and hand them on in the same order; each
// has one batch at a time, which bounds the memory.
class Pipeline {
 public:
  Pipeline(BatchReader& reader, Sink& sink, const Tokenizer& tokenizer,
           const ShardManifest& manifest)
      : reader_(reader), sink_(sink), tokenizer_(tokenizer), manifest_(manifest) {}

  void run(int64_t threads) {
    {
      std::vector<std::jthread> others;
      for (int64_t i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
      work();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    try {
      TextBatch batch;
      std::vector<int32_t> ids;
      std::vector<size_t> ends;
      while (const std::optional<int64_t> turn = read(batch)) {
        encode(tokenizer_, manifest_, batch, ids, ends);
        std::unique_lock lock(write_mutex_);
        my_turn_.wait(lock, [&] { return error_ || next_write_ == *turn; });
        if (error_) return;
        sink_.write(batch, ids, ends);
        ++next_write_;
        my_turn_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(write_mutex_);
      if (!error_) error_ = std::current_exception();
      my_turn_.notify_all();
    }
  }

  // Nothing: the input has ended. The last batch may have no documents.
  std::optional<int64_t> read(TextBatch& batch) {
    const std::lock_guard lock(read_mutex_);
    if (ended_) return std::nullopt;
    ended_ = !reader_.fill(batch);
    return next_read_++;
  }

  BatchReader& reader_;
  Sink& sink_;
  const Tokenizer& tokenizer_;
  const ShardManifest& manifest_;

  std::mutex read_mutex_;
  int64_t next_read_ = 0;
  bool ended_ = false;

  std::mutex write_mutex_;
  std::condition_variable my_turn_;
  int64_t next_write_ = 0;
  std::exception_ptr error_;
};

}  // namespace

ShardManifest run_tokenize_task(const std::shared_ptr<Storage>& storage, const TokenizeTask& task,
                                const Tokenizer& tokenizer, int64_t threads,
                                const std::function<void(const TokenizeStep&)>& on_step) {
  Progress begun = load(*storage, task);
  BatchReader reader(task.files, task.manifest.sources, task.read, tokenizer, begun.position);
  Sink sink(storage, task, std::move(begun.manifest), on_step);
  Pipeline(reader, sink, tokenizer, task.manifest).run(threads);
  return sink.finish();
}

}  // namespace ingot
