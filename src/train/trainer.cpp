#include "train/trainer.h"

#include "core/error.h"
#include "train/loop.h"

namespace ingot {

TrainResult train(std::shared_ptr<Storage> storage, const ResolvedRun& resolved,
                  const TrainOptions& options) {
  validate(resolved.config);
  RunFolder folder(storage, resolved.config.checkpoint.dir);
  const PreparedRun prepared = prepare_run(storage, resolved, options);
  const Tokenizer& tokenizer = *prepared.data.tokenizer;
  const SharedRun shared{.prepared = prepared,
                         .storage = storage,
                         .options = options,
                         .folder = folder,
                         .tokenizer = tokenizer.kind() == "byte" ? "" : tokenizer.serialize()};
  TrainResult result;
  const auto ranks = static_cast<int>(resolved.config.system.ranks);
  check(static_cast<int>(options.processes.size()) == ranks, ErrorCode::Internal,
        "train: expected {} processes, as system.ranks says, got {}", ranks,
        options.processes.size());
  run_local_ranks(options.processes, [&](World& world) {
    FaultRecord faults(storage, resolved.config.checkpoint.dir, world.process());
    TrainResult own = Loop(shared, world, faults).go();
    if (world.rank() == 0) result = std::move(own);
  });
  return result;
}

}  // namespace ingot
