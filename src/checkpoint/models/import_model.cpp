#include "checkpoint/models/import_model.h"

#include "checkpoint/folder.h"
#include "checkpoint/manifest.h"
#include "checkpoint/models/hub_model.h"
#include "checkpoint/models/model_formats.h"
#include "checkpoint/new_output.h"
#include "core/error/error.h"
#include "spec/model/transformer_parameters.h"

namespace ingot {

std::unique_ptr<ForeignModel> open_for_import(std::shared_ptr<Storage> storage,
                                              const std::string& model,
                                              const RemoteSettings& remote,
                                              const FetchWatch& watch) {
  if (is_hub_model(model)) return open_hub_model(std::move(storage), model, remote, watch);
  const ModelFormat* format = foreign_format_of(*storage, model);
  if (format != nullptr) return format->open(std::move(storage), model);
  check(storage->exists(model), ErrorCode::Data,
        "'{}' does not exist; check the path, or name a model of the hub as {}", model,
        kHubModelForm);
  const bool is_ours = storage->exists(join_path(model, kManifestName)) ||
                       !list_checkpoints(*storage, model).empty();
  check(!is_ours, ErrorCode::Usage,
        "'{}' is a checkpoint of this program already: use it as it is, or write it for other "
        "programs with ingot checkpoint export",
        model);
  throw Error(ErrorCode::Usage, fmt::format("'{}': expected a {}, or {}", model,
                                            foreign_format_titles(), kHubModelForm));
}

void import_model(Storage& storage, const ForeignModel& model, const std::string& tokenizer,
                  const std::string& out, WeightsProgress progress) {
  check_new_folder(storage, out);
  const AuxiliaryFiles auxiliary_files = model.auxiliary_files_with(tokenizer);
  model.check_weights();
  write_weights(storage, out, transformer_parameters(model.info().model),
                *with_progress(model.weights(), std::move(progress)), auxiliary_files);
}

}  // namespace ingot
