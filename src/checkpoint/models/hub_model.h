// A model of the Hugging Face hub, as a folder on this machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "checkpoint/models/import_model.h"

namespace ingot {

bool is_hub_model(std::string_view address);

// Fetches files that are not in the cache folder yet. The model's origin names the commit of the
// revision. Throws like open_for_import().
std::unique_ptr<ForeignModel> open_hub_model(std::shared_ptr<Storage> storage,
                                             const std::string& address,
                                             const RemoteSettings& remote, const FetchWatch& watch);

}  // namespace ingot
