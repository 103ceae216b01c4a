#include "ingest/tasks/samples.h"

#include <xxhash.h>

#include <algorithm>
#include <tuple>

#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr size_t kShownBytes = 700;

bool comes_before(const Sample& a, const Sample& b) {
  return std::tie(a.rank, a.id) < std::tie(b.rank, b.id);
}

}  // namespace

std::string beginning_of(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return std::string(text);
  size_t end = max_bytes;
  while (end > 0 && text::is_continuation(text[end])) --end;
  return std::string(text.substr(0, end)) + "…";
}

void Samples::add(const std::string& label, std::string_view file, int64_t number,
                  const Document& document, const std::string& note) {
  const uint64_t rank =
      XXH3_64bits_withSeed(file.data(), file.size(), static_cast<uint64_t>(number));
  const auto found = samples_.find(label);
  const bool is_full = found != samples_.end() && found->second.size() == per_label_;
  if (is_full && found->second.back().rank < rank) return;  // before any text is copied
  add(label, {rank, document.id, beginning_of(document.text, kShownBytes), note});
}

void Samples::add_first(const std::string& label, const Document& document,
                        const std::string& note) {
  add(label, {0, document.id, beginning_of(document.text, kShownBytes), note});
}

void Samples::add(const std::string& label, Sample sample) {
  std::vector<Sample>& kept = samples_[label];
  kept.insert(std::upper_bound(kept.begin(), kept.end(), sample, comes_before), std::move(sample));
  if (kept.size() > per_label_) kept.pop_back();
}

void Samples::merge(const SampleLists& samples) {
  for (const auto& [label, list] : samples)
    for (const SampleRecord& s : list) add(label, {s.rank, s.id, s.text, s.note});
}

SampleLists Samples::lists() const {
  SampleLists lists;
  for (const auto& [label, list] : samples_)
    for (const Sample& s : list) lists[label].push_back({s.rank, s.id, s.text, s.note});
  return lists;
}

nlohmann::json Samples::to_json() const {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [label, list] : samples_) {
    for (const Sample& s : list) {
      all[label].push_back({{"rank", s.rank}, {"id", s.id}, {"text", s.text}, {"note", s.note}});
    }
  }
  return all;
}

}  // namespace ingot
