// How fast documents are cleaned with the preset datatrove-0.10, one thread.
//
// clean_bench [FOLDER]: FOLDER, ../shared/data/text unless given, holds .txt files. They are cut at
// newlines into documents of about 4 KB, and once more into documents of about 64 KB. Prints MB/s
// of text, best of several runs in CPU time of the thread, for the whole and for the parts.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/ingest/clean/cleaner.h"

namespace {

using namespace ingot;

constexpr int kRuns = 5;

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<std::string> read_files(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    std::erase(texts.back(), '\r');
  }
  return texts;
}

// Pieces of at least `size` bytes that end at newlines.
std::vector<std::string> cut(const std::vector<std::string>& texts, size_t size) {
  std::vector<std::string> pieces;
  for (const std::string& text : texts) {
    for (size_t begin = 0; begin < text.size();) {
      const size_t newline = text.find('\n', std::min(begin + size, text.size() - 1));
      const size_t end = newline == std::string::npos ? text.size() : newline + 1;
      pieces.push_back(text.substr(begin, end - begin));
      begin = end;
    }
  }
  return pieces;
}

double best_mb_per_s(const std::vector<std::string>& texts,
                     const std::function<void(const std::string&)>& work) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  double best = 1e30;
  for (int run = 0; run < kRuns; ++run) {
    const double start = thread_seconds();
    for (const std::string& text : texts) work(text);
    best = std::min(best, thread_seconds() - start);
  }
  return static_cast<double>(bytes) / best * 1e-6;
}

void measure(const std::string& label, const std::vector<std::string>& texts) {
  const CleanSettings settings = clean_preset("datatrove-0.10");
  const Cleaner cleaner(settings);
  CleanWorker worker(cleaner);
  Document document;
  const double whole = best_mb_per_s(texts, [&](const std::string& text) {
    document.text = text;
    worker.clean(document);
  });
  const CleanCounts& counts = worker.counts();
  fmt::print("{:8}  whole {:.1f} MB/s, {} of {} documents kept\n", label, whole,
             counts.kept / kRuns, counts.documents / kRuns);

  const auto splitter = make_splitter(settings.splitter);
  CleanScratch scratch;
  const double split =
      best_mb_per_s(texts, [&](const std::string& text) { splitter->words(text, scratch.words); });
  // A filter's own time is that of splitter and filter less the splitter's.
  const auto with_words = [&](const std::function<void(const std::string&)>& filter) {
    const double both = best_mb_per_s(texts, [&](const std::string& text) {
      splitter->words(text, scratch.words);
      filter(text);
    });
    return 1 / (1 / both - 1 / split);
  };
  C4LineCounts lines{};
  fmt::print("          splitter {:.0f}", split);
  fmt::print(", Gopher repetition {:.0f}", with_words([&](const std::string& text) {
               gopher_repetition(settings.gopher_repetition, text, scratch.words, scratch);
             }));
  fmt::print(", Gopher quality {:.0f}", with_words([&](const std::string& text) {
               gopher_quality(settings.gopher_quality, settings.version, text, scratch.words);
             }));
  fmt::print(", C4 {:.0f}", best_mb_per_s(texts, [&](const std::string& text) {
               c4_quality(settings.c4, settings.version, text, *splitter, scratch, lines);
             }));
  fmt::print(", FineWeb {:.0f}", best_mb_per_s(texts, [&](const std::string& text) {
               fineweb_quality(settings.fineweb, settings.version, text, *splitter, scratch);
             }));
  std::vector<float> scores;
  const auto detector = make_script_detector();
  fmt::print(", script {:.0f}\n",
             best_mb_per_s(texts, [&](const std::string& text) { detector->score(text, scores); }));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto texts = read_files(argc > 1 ? argv[1] : "../shared/data/text");
    measure("4 KB", cut(texts, 4 << 10));
    measure("64 KB", cut(texts, 64 << 10));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "clean_bench: {}\n", error.what());
    return 1;
  }
}
