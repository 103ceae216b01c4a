#include "train/trainer.h"

#include <optional>
#include <utility>

#include "core/error/error.h"
#include "train/loop.h"

namespace ingot {

TrainResult train(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                  const TrainOptions& options) {
  const std::string& dir = resolved.config.checkpoint.dir;
  RunFolder folder(storage, dir);  // rank 0 alone takes it
  std::optional<PreparedRun> prepared;
  TrainResult result;
  options.ranks->run([&](World& world) {
    check(world.size() == static_cast<int>(resolved.config.system.ranks), ErrorCode::Internal,
          "train: expected {} ranks, as system.ranks says, got {}", resolved.config.system.ranks,
          world.size());
    const bool leads = world.rank() == 0, is_process = !world.process().rendezvous.empty();
    if (leads) folder.set_ranks_of_process(is_process ? 1 : world.size());
    prepare_rank(world, storage, resolved, options, &folder, prepared);
    if (leads)
      for (const auto& source : prepared->data.sources) source->compare_in_background();
    const SharedRun shared{
        .prepared = *prepared, .storage = storage, .options = options, .folder = folder};
    FaultRecord faults(storage, dir, world.process());
    const LossWatch loss_watch(world, faults);
    TrainResult own = Loop(shared, world, faults).go();
    if (leads || is_process) result = std::move(own);
  });
  return result;
}

}  // namespace ingot
