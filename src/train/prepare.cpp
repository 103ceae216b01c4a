#include "train/prepare.h"

#include "checkpoint/checkpoint.h"
#include "core/error.h"
#include "core/log.h"
#include "train/engine.h"
#include "train/resume.h"
#include "train/schedule_change.h"

namespace ingot {
namespace {

void check_schedule_change(const CheckpointInfo& from, const RunConfig& config, bool accepted) {
  const auto change = schedule_change(parse_run_config(from.config_toml, from.dir, {}), config,
                                      {from.state.step, from.state.tokens});
  if (!change) return;
  check(accepted, ErrorCode::Config,
        "cannot resume from {}: {}; add --accept-schedule to go on by the new plan, or restore the "
        "length",
        from.dir, *change);
  log::warn("schedule_changed", {{"dir", from.dir}, {"what", *change}});
}

}  // namespace

PreparedRun prepare_run(std::shared_ptr<Storage> storage, const RunConfig& config,
                        const TrainOptions& options) {
  validate(config);
  PreparedRun run;
  run.config = config;
  // Checkpoints must know it: where `auto` meant bf16, a CPU must not go on in fp32.
  run.config.train.precision = precision_of(config, run_device(config));
  run.resume_from = find_resume_point(storage, run.config, options.resume);
  run.data = open_run_data(
      *storage, config,
      run.resume_from ? tokenizer_to_resume(storage, config, *run.resume_from) : nullptr);
  run.horizon = horizon_of(config);
  check_epochs(run.data, config.data, run.horizon.tokens / config.batch.seq);
  if (run.resume_from) {
    const CheckpointReader reader(storage, *run.resume_from);
    check_same_data(run.data.identity, reader.info().state.data, *run.resume_from);
    check_schedule_change(reader.info(), config, options.accept_schedule);
    run.first_step = reader.info().state.step;
  }
  run.threads_per_rank = threads_per_rank(config);
  return run;
}

}  // namespace ingot
