// Imports another program's model, from this machine or from the Hugging Face hub.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "checkpoint/models/open_model.h"

namespace ingot {

struct RemoteSettings;

inline constexpr std::string_view kHubModelForm = "hf://OWNER/NAME[@REVISION]";

// Called several times a second while `file` is fetched; `of` is -1 if nobody knows.
using FetchWatch = std::function<void(const std::string& file, int64_t bytes, int64_t of)>;

// What an import reads: a path of some format, or kHubModelForm, whose files are
// fetched to the cache folder of `remote`. Throws ErrorCode::Usage for a checkpoint of this program
// and for what no format recognises, ErrorCode::Data for a path that is not there and for a model
// that cannot be imported; one of the hub is then refused before its weights are fetched.
std::unique_ptr<ForeignModel> open_for_import(std::shared_ptr<Storage> storage,
                                              const std::string& model,
                                              const RemoteSettings& remote,
                                              const FetchWatch& watch = {});

// Writes the checkpoint `out`. `tokenizer` as in ForeignModel::auxiliary_files_with(). Throws
// ErrorCode::Data, and ErrorCode::Usage unless `out` is new or empty; on failure nothing is left
// there.
void import_model(Storage& storage, const ForeignModel& model, const std::string& tokenizer,
                  const std::string& out, WeightsProgress progress = {});

}  // namespace ingot
