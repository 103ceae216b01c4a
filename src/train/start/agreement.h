// Checks before the first step that ranks which are processes agree: same program, same run, same
// data, same folder. Every rank makes the same calls. A difference is ErrorCode::Config on all of
// them, naming which ranks have what.
#pragma once

#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "feed/data_identity.h"
#include "ledger/records/run_records.h"
#include "parallel/comm/control.h"
#include "spec/run/run_config.h"

namespace ingot {

// `build`: version and build of the program; `settings`: as the run records them. Settings of a
// machine (paths, threads) may differ. Refuses several ranks on one GPU unless system.share_gpu is
// set. Returns the places, by rank.
std::vector<RankPlace> agree_on_settings(Control& control, const std::string& build,
                                         const RunConfig& settings, const RankPlace& own);

// Checks that all ranks see one run folder: they look for what rank 0 writes there. The folder need
// not exist and is not made.
void agree_on_folder(Control& control, Storage& storage, const std::string& dir,
                     const std::string& host);

// `what`: data.train or data.valid.
void agree_on_data(Control& control, const std::string& what, const DataIdentity& data);

// Compares by hash any text that must be equal on all ranks; `advice` ends the error message.
void agree_on_contents(Control& control, const std::string& what, const std::string& text,
                       const std::string& advice);

// "rank 2", "ranks 0, 1, 4-7"
std::string named_ranks(const std::vector<int>& ranks);

}  // namespace ingot
