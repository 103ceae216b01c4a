// Results of deduplication: per file as its work item's record, for all files as the report.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ingest/tasks/samples.h"
#include "ingest/tasks/stage.h"

namespace ingot {

struct DedupTotals {
  int64_t documents = 0, kept = 0, bytes_in = 0, bytes_kept = 0;
  ReadCounts read;
  Samples samples;  // by cluster

  void add(const Document& document, bool stays);
};
DedupRecord record_of(const DedupTotals& totals);

// Collects documents of the clusters that were selected for inspection.
class ClusterSamples {
 public:
  // `clusters` is the record of the step of that name; `place_of` names a document.
  ClusterSamples(const DedupClustersRecord& clusters,
                 const std::function<std::string(uint32_t)>& place_of);
  void add(Samples& samples, uint32_t root, uint32_t number, const std::string& file,
           const Document& document) const;

 private:
  std::map<uint32_t, std::string> labels_;  // by root
};

// Merges the records of a finished filter step and writes report.json and report.html.
nlohmann::json write_dedup_report(Storage& storage, const std::string& folder,
                                  const nlohmann::json& settings, const TaskFolder& filter);

}  // namespace ingot
