// Deduplication as stages over files, each resumable and shared by processes:
//   keys      per input: the keys of its documents, sorted (work/keys)
//   pairs     per partition of the keys: documents with equal ones (work/pairs)
//   clusters  once: which documents belong together (work/clusters)
//   filter    per input: FOLDER/documents/NAME.jsonl.zst without the duplicates
// then FOLDER/report.json and report.html; what is left of work is not needed any more.
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
  MinHashSettings minhash;        // its form is the normal form of either method
  std::string splitter = "auto";  // minhash: what words are
};

#include "spec/settings/end.h"

std::vector<Setting> settings_of(DedupSettings& settings);
// Throws ErrorCode::Config for values that make no sense, and for others than the default that the
// method makes nothing of.
void validate(const DedupSettings& settings);

struct DedupStage {
  StageInputs inputs;
  DedupSettings settings;
  bool keeps_removed = false;  // FOLDER/removed, with the document that stays
  int64_t memory_bytes = int64_t{1}
                         << 30;  // of all threads, apart from the documents in their hands
};

// Of a cluster the first document survives: inputs in their order, documents in that of their file.
// As run_clean, but between stages a process helps the others and waits for them.
std::optional<nlohmann::json> run_dedup(const DedupStage& stage, const StageRun& run);

}  // namespace ingot
