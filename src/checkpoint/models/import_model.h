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

// Called several times a second while `file` is fetched; `of` is -1 if unknown.
using FetchWatch = std::function<void(const std::string& file, int64_t bytes, int64_t of)>;

// Opens a model for an import: a path in some format, or kHubModelForm, whose files are fetched to
// the cache folder of `remote`. Throws ErrorCode::Usage for a checkpoint of this program and for a
// path that no format recognises, ErrorCode::Data if the path does not exist or the model cannot be
// imported. A model on the hub is refused before its weights are fetched.
std::unique_ptr<ForeignModel> open_for_import(std::shared_ptr<Storage> storage,
                                              const std::string& model,
                                              const RemoteSettings& remote,
                                              const FetchWatch& watch = {});

// Writes the checkpoint `out`. `tokenizer`: as in ForeignModel::auxiliary_files_with(). Throws
// ErrorCode::Data, and ErrorCode::Usage unless `out` is new or empty. After a failure nothing is
// left there.
void import_model(Storage& storage, const ForeignModel& model, const std::string& tokenizer,
                  const std::string& out, WeightsProgress progress = {});

}  // namespace ingot
