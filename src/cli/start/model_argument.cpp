#include "cli/start/model_argument.h"

#include "core/storage/storage.h"

namespace ingot::cli {

void ModelArgument::add_path_to(Command& command) {
  command.add_option("checkpoint", path, std::string(kModelPaths))->required();
}

OpenedModel ModelArgument::open(const ModelOptions& options) const {
  OpenedModel opened{.device = device.open(), .model = nullptr};
  opened.model =
      std::make_unique<LoadedModel>(opened.device->context(), posix_storage(), path, options);
  return opened;
}

}  // namespace ingot::cli
