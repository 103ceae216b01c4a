// A few sample documents per label. The choice depends only on the documents: those with the lowest
// hash of their position, so that samples of parts merge into samples of the whole.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/document.h"
#include "ledger/records/task_records.h"

namespace ingot {

struct Sample {
  uint64_t rank = 0;
  std::string id;
  std::string text;  // its beginning
  std::string note;  // why it was chosen, beyond the label; may be empty
};

class Samples {
 public:
  explicit Samples(size_t per_label = 4) : per_label_(per_label) {}

  // `file` and `number` identify the document.
  void add(const std::string& label, std::string_view file, int64_t number,
           const Document& document, const std::string& note = {});
  // Always kept in the samples of its label, before all others.
  void add_first(const std::string& label, const Document& document, const std::string& note);
  void merge(const SampleLists& samples);  // another one's lists()

  const std::map<std::string, std::vector<Sample>>& by_label() const { return samples_; }
  SampleLists lists() const;  // for a record
  nlohmann::json to_json() const;

 private:
  void add(const std::string& label, Sample sample);

  size_t per_label_;
  std::map<std::string, std::vector<Sample>> samples_;  // each in order of (rank, id)
};

// The first bytes of a text, cut between characters, with a mark if it was cut.
std::string beginning_of(std::string_view text, size_t max_bytes);

}  // namespace ingot
