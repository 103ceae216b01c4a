// The deduplication job over files. Its steps are resumable and shared by processes:
//   keys      per input: the keys of its documents, sorted (work/keys)
//   pairs     per partition of the keys: documents with equal keys (work/pairs)
//   clusters  once: clusters of duplicates (work/clusters)
//   filter    per input: FOLDER/documents/NAME.jsonl.zst without the duplicates
// Then it writes FOLDER/report.json and report.html; afterwards work is not needed any more.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "ingest/dedup/minhash.h"
#include "ingest/tasks/stage.h"

namespace ingot {

enum class DedupMethod { Exact, MinHash };

#include "spec/settings/fields.h"

struct DedupSettings {
#include "ingest/dedup/dedup.def"
  MinHashSettings minhash;        // its form is the normal form of both methods
  std::string splitter = "auto";  // minhash: defines words
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(DedupSettings& settings);
// Throws ErrorCode::Config for meaningless values, and for non-default values that the method does
// not use.
void validate(const DedupSettings& settings);

struct DedupStage {
  StageInputs inputs;
  DedupSettings settings;
  bool keeps_removed = false;               // FOLDER/removed, with the document kept instead
  int64_t memory_bytes = int64_t{1} << 30;  // for all threads, besides the documents in progress
};

// The first document of a cluster is kept, by the order of inputs and then within the file. As
// run_clean, but between steps a process helps the others and waits for them.
std::optional<nlohmann::json> run_dedup(const DedupStage& stage, const StageRun& run);

}  // namespace ingot
