// What ranks that are processes make sure of before the first step: that they are the same program,
// about to do the same run on the same data in the same folder. Every rank makes the same calls;
// what differs is ErrorCode::Config on all of them, saying which ranks have what.
#pragma once

#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "feed/data_identity.h"
#include "ledger/records/run_records.h"
#include "parallel/comm/control.h"
#include "spec/run/run_config.h"

namespace ingot {

// `build`: version and build of the program; `settings`: as the run records them. Settings that
// belong to a machine (paths, threads) may differ. Ranks on one GPU are refused unless
// system.share_gpu says that they may be. Returns the places, by rank.
std::vector<RankPlace> agree_on_settings(Control& control, const std::string& build,
                                         const RunConfig& settings, const RankPlace& own);

// The run folder is one that all ranks see: they find there what rank 0 writes. It need not exist
// yet, and if it does not it is not made.
void agree_on_folder(Control& control, Storage& storage, const std::string& dir,
                     const std::string& host);

// `what`: data.train or data.valid.
void agree_on_data(Control& control, const std::string& what, const DataIdentity& data);

// Any text that must be the same on all ranks, compared by hash; `advice` ends the message.
void agree_on_contents(Control& control, const std::string& what, const std::string& text,
                       const std::string& advice);

// "rank 2", "ranks 0, 1, 4-7"
std::string named_ranks(const std::vector<int>& ranks);

}  // namespace ingot
