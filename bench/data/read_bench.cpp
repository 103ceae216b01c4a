// How fast documents are read and written, one thread.
//
// read_bench LOCATION…: files, folders or patterns. For each kind of file, and for the same
// documents written as .jsonl, .jsonl.gz and .jsonl.zst below the folder for temporary files,
// prints MB/s of the file as stored and of text, best of several runs in CPU time of the thread.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/storage/storage.h"
#include "ingest/read/document_reader.h"
#include "ingest/write/document_writer.h"

namespace {

using namespace ingot;

constexpr int kRuns = 5;

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void print(const std::string& what, int64_t stored, int64_t text, double seconds) {
  const double mb = 1e-6 / seconds;
  fmt::print("{:24} {:8.1f} MB stored {:8.1f} MB text {:8.0f} MB/s stored {:8.0f} MB/s text\n",
             what, 1e-6 * static_cast<double>(stored), 1e-6 * static_cast<double>(text),
             mb * static_cast<double>(stored), mb * static_cast<double>(text));
}

void bench_reading(const std::string& what, const std::vector<InputFile>& files) {
  double best = 1e30;
  int64_t stored = 0;
  ReadCounts counts;
  for (int run = 0; run < kRuns; ++run) {
    const double start = thread_seconds();
    stored = 0;
    counts = {};
    for (const auto& file : files) {
      const auto reader = open_documents(file, {});
      for (Document document; reader->next(document);) {
      }
      stored += reader->bytes_read();
      counts += reader->counts();
    }
    best = std::min(best, thread_seconds() - start);
  }
  print("read " + what, stored, counts.bytes, best);
}

}  // namespace

int main(int argc, char** argv) {
  const auto files = list_input_files({argv + 1, argv + argc});
  std::map<std::string, std::vector<InputFile>> kinds;
  for (const auto& file : files) kinds[file.name.substr(file.name.find('.'))].push_back(file);
  for (const auto& [kind, those] : kinds) bench_reading(kind, those);

  const std::string folder = (std::filesystem::temp_directory_path() / "ingot_read_bench").string();
  std::filesystem::create_directories(folder);
  for (const char* name : {"a.jsonl", "a.jsonl.gz", "a.jsonl.zst"}) {
    const std::string path = folder + "/" + name;
    int64_t bytes = 0;
    double seconds = 0;
    const auto writer = create_documents(posix_storage(), path);
    for (const auto& file : files) {
      const auto reader = open_documents(file, {});
      for (Document document; reader->next(document);) {
        const double start = thread_seconds();
        writer->write(document);
        seconds += thread_seconds() - start;
      }
      bytes += reader->counts().bytes;
    }
    const double start = thread_seconds();
    writer->commit();
    seconds += thread_seconds() - start;
    const auto written = list_input_files({path});
    print("write " + std::string(name).substr(1), written[0].bytes, bytes, seconds);
    bench_reading(std::string(name).substr(1), written);
  }
  std::filesystem::remove_all(folder);
}
