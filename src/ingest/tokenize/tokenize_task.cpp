#include "ingest/tokenize/tokenize_task.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/error/error.h"
#include "core/json/json_member.h"
#include "core/text/hex.h"
#include "ingest/tasks/input_records.h"
#include "ingest/tasks/stage.h"

namespace ingot {
namespace {

using nlohmann::json;

// Where a task stands between two shards.
struct Progress {
  InputPosition position;
  TokenizedFiles done;
};

void save(Storage& storage, const std::string& path, const InputPosition& position,
          const TokenizedFiles& done) {
  TokenizeRecord record = record_of(done);
  record.file = position.file;
  record.documents = position.documents;
  record.hash = hex(position.hash);
  write_file_atomically(storage, path, task_record(record).dump() + "\n");
}

Progress load(Storage& storage, const TokenizeTask& task) {
  if (!storage.exists(task.record_path)) return {{}, {task.manifest, {}, {}}};
  const auto expect = [&](bool good, const std::string& what) {
    check(good, ErrorCode::Data, "{}: expected {}: remove it to begin the task anew",
          task.record_path, what);
  };
  const json text = json::parse(read_text(storage, task.record_path), nullptr, false);
  expect(text.is_object(), "a record");
  TokenizeRecord record;
  try {
    record = read_task_record<TokenizeRecord>(text);
  } catch (const MemberError& error) {
    expect(false, fmt::format("a record of a task ({})", error.what()));
  }
  expect(record.file && record.documents, "the file and documents that it is at");
  Progress begun{{*record.file, *record.documents, 0}, {}};
  const auto num_files = static_cast<int64_t>(task.files.size());
  const auto& [file, documents, hash] = begun.position;
  expect(file >= 0 && documents >= 0 && (file < num_files || (file == num_files && documents == 0)),
         "a file of the task");
  begun.done = files_of(record, task.record_path);
  begun.position.hash = parse_hex(record.hash.value_or("")).value_or(0);
  // Of an older program's files nothing is known.
  begun.done.inputs.resize(static_cast<size_t>(begun.position.file));
  return begun;
}

// What was read before a kill must be there still.
void check_inputs(const TokenizeTask& task, const std::vector<InputContent>& read) {
  for (size_t i = 0; i < read.size(); ++i) {
    const InputFile& file = task.files[i].file;
    if (has_changed(file, read[i], task.read)) {
      throw changed_input(file.location, task.folder);
    }
  }
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
  Sink(std::shared_ptr<Storage> storage, const TokenizeTask& task, TokenizedFiles begun,
       const std::function<void(const TokenizeStep&)>& on_step)
      : storage_(std::move(storage)),
        task_(task),
        done_(std::move(begun)),
        writer_(storage_, task.folder, task.shards,
                {done_.manifest.shards, done_.manifest.sources}),
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
    add(batch.after);
    if (on_step_) on_step_(step);
  }

  TokenizedFiles finish() {
    writer_.finish();
    return done();
  }

 private:
  void end_document(const BatchDocument& document) {
    add(document.before);
    if (std::exchange(document_tokens_, 0) == 0) {  // spaces only, to some tokenizers
      done_.left_out.skip("no_tokens", document.place);
    } else if (writer_.end_document(document.id, document.num_bytes, document.source,
                                    document.name)) {
      save(*storage_, task_.record_path, document.after, done());
    }
  }
  void add(const Passed& passed) {
    done_.left_out += passed.counts;
    done_.inputs.insert(done_.inputs.end(), passed.files.begin(), passed.files.end());
  }
  const TokenizedFiles& done() {
    done_.manifest.shards = writer_.written().shards;
    done_.manifest.sources = writer_.written().sources;
    done_.manifest.left_out = done_.left_out.skipped;
    return done_;
  }

  std::shared_ptr<Storage> storage_;
  const TokenizeTask& task_;
  TokenizedFiles done_;
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

TokenizeRecord record_of(const TokenizedFiles& files) {
  return {.manifest = to_json(files.manifest),
          .inputs = records_of(files.inputs),
          .first_left_out = places_of(files.left_out.first_skipped)};
}

TokenizedFiles files_of(const TokenizeRecord& record, const std::string& origin) {
  TokenizedFiles files;
  files.manifest = parse_manifest(record.manifest, origin);
  files.inputs = contents_of(record.inputs);
  files.left_out.skipped = files.manifest.left_out;
  files.left_out.first_skipped = places_of(record.first_left_out);
  return files;
}

TokenizedFiles run_tokenize_task(const std::shared_ptr<Storage>& storage, const TokenizeTask& task,
                                 const Tokenizer& tokenizer, int64_t threads,
                                 const std::function<void(const TokenizeStep&)>& on_step) {
  Progress begun = load(*storage, task);
  check_inputs(task, begun.done.inputs);
  BatchReader reader(task.files, task.manifest.sources, task.read, tokenizer, begun.position,
                     task.folder);
  Sink sink(storage, task, std::move(begun.done), on_step);
  Pipeline(reader, sink, tokenizer, task.manifest).run(threads);
  return sink.finish();
}

}  // namespace ingot
