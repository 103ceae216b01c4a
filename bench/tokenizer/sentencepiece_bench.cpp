// Our SentencePiece encoder against libsentencepiece's, one thread each, line by line.
//
// sentencepiece_bench MODEL TEXT…: prints MB/s of both (best of interleaved runs, in CPU time of
// the thread, so that other load on the machine disturbs little) and fails where the ids differ.
// Our cache is cold in the first run of ours, warm in the best.
#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <time.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "tokenizer/sentencepiece/sentencepiece.h"

namespace {

constexpr int kRounds = 5;

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

template <class Work>
double seconds(const Work& work) {
  const double start = thread_seconds();
  work();
  return thread_seconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: sentencepiece_bench MODEL TEXT…\n");
    return 2;
  }
  const std::string model = read_file(argv[1]);
  const auto ours = ingot::parse_sentencepiece(model, argv[1]);
  sentencepiece::SentencePieceProcessor theirs;
  if (!theirs.LoadFromSerializedProto(model).ok()) return 2;

  std::vector<std::string> lines;
  size_t bytes = 0;
  for (int i = 2; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    for (std::string line; std::getline(file, line);) {
      bytes += line.size();
      lines.push_back(line);
    }
  }

  std::vector<int32_t> ids;
  std::vector<int> expected;
  double cold = 0, best_ours = std::numeric_limits<double>::max(), best_theirs = best_ours;
  for (int round = 0; round < kRounds; ++round) {
    const double time = seconds([&] {
      for (const std::string& line : lines) {
        ids.clear();
        ours->encode(line, ids);
      }
    });
    if (round == 0) cold = time;
    best_ours = std::min(best_ours, time);
    best_theirs = std::min(best_theirs, seconds([&] {
                             for (const std::string& line : lines) {
                               theirs.Encode(line, &expected).IgnoreError();
                             }
                           }));
  }
  const double megabytes = static_cast<double>(bytes) * 1e-6;
  fmt::print(
      "{:.1f} MB: libsentencepiece {:.1f} MB/s, ours {:.1f} MB/s ({:.1f} cold): {:.1f} times\n",
      megabytes, megabytes / best_theirs, megabytes / best_ours, megabytes / cold,
      best_theirs / best_ours);
  size_t different = 0;
  for (const std::string& line : lines) {
    ids.clear();
    ours->encode(line, ids);
    theirs.Encode(line, &expected).IgnoreError();
    different += std::equal(ids.begin(), ids.end(), expected.begin(), expected.end()) ? 0 : 1;
  }
  fmt::print("{} of {} lines have other ids\n", different, lines.size());
  return different * 20 < lines.size() ? 0 : 1;
}
