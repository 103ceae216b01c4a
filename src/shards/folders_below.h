// A folder above folders of shards, as `ingot data mix` writes one, given in the place of one of
// them.
#pragma once

#include <string>

namespace ingot {

// Throws ErrorCode::Data naming the folders of shards in `folder`, if there are any.
void check_holds_no_shard_folders(const std::string& folder);

}  // namespace ingot
