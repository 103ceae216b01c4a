#include "tokenizer/train/count_pieces.h"

#include <limits>
#include <mutex>
#include <utility>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr size_t kBatchBytes = size_t{1} << 20;  // a thread takes as much text at a time

// The stream of documents, shared by the threads.
class DocumentQueue {
 public:
  DocumentQueue(const NextDocument& next, CountedText& text,
                const std::function<void(int64_t)>& report)
      : next_(next), text_(text), report_(report) {}

  // The next few documents; false at the end.
  bool take(std::vector<std::string>& batch) {
    const std::lock_guard lock(mutex_);
    batch.clear();
    if (ended_) return false;
    ended_ = true;  // for the other threads, should next_ throw
    std::string document;
    bool more = true;
    for (size_t size = 0; size < kBatchBytes && (more = next_(document)); size += document.size()) {
      check(document.size() < std::numeric_limits<uint32_t>::max(), ErrorCode::Data,
            "document {}: expected less than 4 GiB, got {} bytes; split it", text_.documents,
            document.size());
      ++text_.documents;
      text_.bytes += static_cast<int64_t>(document.size());
      text_.characters += count_characters(document);
      batch.push_back(document);
    }
    ended_ = !more;
    report_(text_.characters);
    return !batch.empty();
  }

 private:
  std::mutex mutex_;
  const NextDocument& next_;
  CountedText& text_;
  const std::function<void(int64_t)>& report_;
  bool ended_ = false;
};

}  // namespace

std::vector<PieceCount> CountedText::distinct_pieces() const {
  std::vector<PieceCount> all;
  size_t size = 0;
  for (const PieceTable& table : tables) size += table.size();
  all.reserve(size);
  for (const PieceTable& table : tables) {
    table.for_each([&](std::string_view piece, int64_t count) { all.push_back({piece, count}); });
  }
  return all;
}

CountedText count_pieces(const NextDocument& next, const Splitter& split, ThreadPool& pool,
                         const std::function<void(int64_t characters)>& report) {
  CountedText text;
  DocumentQueue queue(next, text, report);
  const int num_parts = pool.num_threads();
  std::vector<PieceTable> counted(static_cast<size_t>(num_parts));
  std::vector<int64_t> num_pieces(counted.size(), 0);
  pool.run(num_parts, [&](int64_t task, int) {
    std::vector<std::string> batch;
    std::vector<uint32_t> ends;
    while (queue.take(batch)) {
      for (const std::string& document : batch) {
        ends.clear();
        split(document, ends);
        counted[task].count(document, ends);
        num_pieces[task] += static_cast<int64_t>(ends.size());
      }
    }
  });
  for (const int64_t n : num_pieces) text.pieces += n;
  if (num_parts == 1) {
    text.tables = std::move(counted);
    return text;
  }
  text.tables.resize(counted.size());
  pool.run(num_parts, [&](int64_t part, int) {
    for (const PieceTable& table : counted) {
      text.tables[part].add(table, static_cast<int>(part), num_parts);
    }
  });
  return text;
}

}  // namespace ingot
