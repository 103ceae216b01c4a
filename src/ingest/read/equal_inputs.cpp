#include "ingest/read/equal_inputs.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/device/thread_pool.h"
#include "core/text/format.h"
#include "ingest/read/input_content.h"
#include "ingest/read/remote/remote.h"

namespace ingot {
namespace {

constexpr const char* kAdvice =
    "leave one of them out; training repeats documents by data.max_epochs";

constexpr size_t kMostExamples = 3;

// The files of an input by their sizes.
struct Input {
  std::string name;
  std::map<int64_t, std::vector<const InputFile*>> files;
};

// Those whose content may be compared; a file that is empty has none.
std::vector<Input> inputs_of(const std::vector<InputFile>& files) {
  std::vector<Input> inputs;
  std::map<std::string, size_t> numbers;
  for (const InputFile& file : files) {
    const auto [found, is_new] = numbers.emplace(file.input, inputs.size());
    if (is_new) inputs.push_back({file.input, {}});
    const bool is_local = file.bytes >= 0 && !is_remote(file.location);
    inputs[found->second].files[is_local ? file.bytes : -1].push_back(&file);
  }
  std::erase_if(inputs, [](Input& input) {
    input.files.erase(0);
    return input.files.empty() || input.files.contains(-1);
  });
  return inputs;
}

std::vector<std::string> hashes_of(const std::vector<const InputFile*>& files, int64_t threads) {
  std::vector<std::string> hashes(files.size());
  const auto count = static_cast<int64_t>(files.size());
  ThreadPool pool(static_cast<int>(std::clamp<int64_t>(threads, 1, count)));
  pool.run(count, [&](int64_t i, int) {
    const auto at = static_cast<size_t>(i);
    hashes[at] = content_of_file(*posix_storage(), files[at]->location).hash;
  });
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

// Of inputs whose files have the same sizes, those that hold the same: the smallest files are
// compared first, and the larger ones where these are equal.
std::vector<std::vector<size_t>> equal_ones(const std::vector<Input>& inputs,
                                            std::vector<size_t> candidates, int64_t threads) {
  std::vector<std::vector<size_t>> groups = {std::move(candidates)};
  for (const auto& [bytes, unused] : inputs[groups[0][0]].files) {
    std::vector<std::vector<size_t>> finer;
    for (const std::vector<size_t>& group : groups) {
      std::map<std::vector<std::string>, std::vector<size_t>> by_content;
      for (const size_t input : group) {
        by_content[hashes_of(inputs[input].files.at(bytes), threads)].push_back(input);
      }
      for (auto& [content, same] : by_content) {
        if (same.size() > 1) finer.push_back(std::move(same));
      }
    }
    groups = std::move(finer);
  }
  return groups;
}

}  // namespace

std::string same_file_twice(const std::vector<InputFile>& files) {
  std::map<std::pair<uint64_t, uint64_t>, const InputFile*> by_place;
  std::map<std::string, const InputFile*> by_address;
  for (const InputFile& file : files) {
    const InputFile* first = nullptr;
    struct stat status {};
    if (is_remote(file.location)) {
      first = by_address.emplace(file.location, &file).first->second;
    } else if (stat(file.location.c_str(), &status) == 0) {
      first = by_place.emplace(std::pair(status.st_dev, status.st_ino), &file).first->second;
    }
    if (first == nullptr || first == &file) continue;
    return fmt::format("{} and {} are the same file, whose documents would be taken twice: {}",
                       first->location, file.location, kAdvice);
  }
  return "";
}

std::string equal_inputs(const std::vector<InputFile>& files, int64_t threads) {
  const std::vector<Input> inputs = inputs_of(files);
  std::map<std::vector<std::pair<int64_t, size_t>>, std::vector<size_t>> by_sizes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::vector<std::pair<int64_t, size_t>> sizes;
    for (const auto& [bytes, its] : inputs[i].files) sizes.emplace_back(bytes, its.size());
    by_sizes[sizes].push_back(i);
  }
  for (const auto& [sizes, candidates] : by_sizes) {
    if (candidates.size() == 1) continue;
    for (const std::vector<size_t>& same : equal_ones(inputs, candidates, threads)) {
      return fmt::format("{} and {} hold the same, so that documents would be taken twice: {}",
                         inputs[same[0]].name, inputs[same[1]].name, kAdvice);
    }
  }
  return "";
}

void EqualFiles::add(const InputFile& file, const InputContent& content) {
  if (content.hash.empty() || file.bytes == 0) return;
  const auto [first, is_new] = name_of_.emplace(content.hash, file.name);
  if (is_new) return;
  ++count_;
  if (examples_.size() < kMostExamples)
    examples_.push_back(fmt::format("{} = {}", file.name, first->second));
}

std::string text_of_equal_files(int64_t count, const std::vector<std::string>& examples) {
  return fmt::format(
      "read, but they hold the same as an earlier file: {} ({}); ingot data dedup --method exact "
      "removes such documents",
      format_count(count), fmt::join(examples, ", "));
}

}  // namespace ingot
