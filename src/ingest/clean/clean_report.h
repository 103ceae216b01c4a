// Results of a cleaning job: per file as its work item's record, for all files as the report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "ingest/clean/clean_config.h"
#include "ingest/read/document_reader.h"
#include "ingest/tasks/samples.h"

namespace ingot {

struct CleanTotals {
  CleanCounts counts;
  ReadCounts read;
  Samples samples;
};

CleanRecord record_of(const CleanTotals& totals);
// Throws ErrorCode::Data for lines of other rules.
void add_record(CleanTotals& totals, const CleanRecord& record);

nlohmann::json clean_report(const CleanSettings& settings, int64_t num_files,
                            const CleanTotals& totals);
std::string clean_report_page(const CleanSettings& settings, const nlohmann::json& report,
                              const Samples& samples);

}  // namespace ingot
