// What the benches of this folder share: texts, and the clock.
#pragma once

#include <time.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

namespace ingot::bench {

inline constexpr int kRuns = 5;

inline double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// The .txt files below the folder, in order of names, with \n for line ends.
inline std::vector<std::string> read_texts(const std::string& folder) {
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
inline std::vector<std::string> cut(const std::vector<std::string>& texts, size_t size) {
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

using Work = std::function<void(const std::string&)>;

// Of each work the best run in CPU time of this thread; runs of different works take turns.
inline std::vector<double> mb_per_s(const std::vector<std::string>& texts,
                                    const std::vector<Work>& works) {
  size_t bytes = 0;
  for (const std::string& text : texts) bytes += text.size();
  std::vector<double> best(works.size(), 0);
  for (int run = 0; run < kRuns; ++run) {
    for (size_t i = 0; i < works.size(); ++i) {
      const double start = thread_seconds();
      for (const std::string& text : texts) works[i](text);
      best[i] = std::max(best[i], static_cast<double>(bytes) / (thread_seconds() - start) * 1e-6);
    }
  }
  return best;
}

}  // namespace ingot::bench
