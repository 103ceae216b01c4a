// The training loop of one rank: step, ask the policies, record, and run the tasks that are due.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "feed/loader.h"
#include "feed/prefetch.h"
#include "parallel/comm/world.h"
#include "spec/run/step_walk.h"
#include "train/hooks/policy.h"
#include "train/hooks/save_clock.h"
#include "train/hooks/slow_ranks.h"
#include "train/hooks/task.h"
#include "train/records/fault_record.h"
#include "train/start/prepare.h"
#include "train/start/run_folder.h"
#include "train/step/engine.h"
#include "train/step/rate_factor.h"
#include "train/step/step_timer.h"
#include "train/trainer.h"

namespace ingot {

// What the ranks of a run in one process share.
struct SharedRun {
  const PreparedRun& prepared;
  std::shared_ptr<Storage> storage;
  const TrainOptions& options;
  RunFolder& folder;  // rank 0 alone
};

class Loop final : private RunView {
 public:
  Loop(const SharedRun& shared, World& world, FaultRecord& faults);

  // Runs to the end of the run, or to a stop. If a rank is lost, records that in `faults`, and on
  // rank 0 in the sinks, then throws. A request from outside takes effect only after all ranks have
  // completed a step, so that no save begins while a rank is lost.
  TrainResult go();

 private:
  const PreparedRun& run() const override { return shared_.prepared; }
  Control& control() override { return world_.control(); }
  const Deadlines& deadlines() const override { return world_.deadlines(); }
  Engine& engine() override { return engine_; }
  const RunState& state() const override { return state_; }
  TrainResult& result() override { return result_; }
  bool leads() const override { return world_.rank() == 0; }
  void record(const RunRecord& record) override;
  void stop() override { result_.stopped = true; }

  void run();
  void begin();
  std::string agreed_run_id();
  void restore(const CheckpointReader& checkpoint);
  void start_from_state();
  void announce();
  void step();
  // What ranks agree on at the end of a step.
  struct Ending {
    double loss = 0.0;  // Σ over ranks, in their order
    bool stop_asked = false, save_asked = false;
    std::vector<RankTime> ranks;
  };
  Ending agree_on_ending();
  StepReport report_of(const StepPlan& plan, const Ending& ending, double seconds) const;
  bool is_save_asked();  // on rank 0
  StepVerdict judge(const StepFacts& facts);
  std::string first_not_finite();  // of the current step
  void obey(StepVerdict verdict);
  void run_tasks(TaskTime now);
  void note_loss(const Error& error);

  const SharedRun& shared_;
  const ResolvedRun& resolved_;
  World& world_;
  FaultRecord& faults_;
  Engine engine_;
  Loader loader_;
  RateFactor rate_;                      // multiplies the schedule's learning rate
  std::vector<StateSection*> sections_;  // the engine's and the loop's own
  std::vector<std::unique_ptr<Policy>> policies_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<std::unique_ptr<Sink>> own_sinks_;  // of rank 0
  std::vector<Sink*> sinks_;                      // the same and those of the options

  std::optional<StepWalk> walk_;
  StepPlan plan_;  // of the current step
  std::optional<Prefetcher> batches_;
  std::string run_id_;  // empty until begin() knows it
  RunState state_;
  TokenCounts counts_;
  TrainResult result_;
  bool save_asked_ = false;  // after this step, from outside or by the clock
  SaveClock save_clock_;
  double flops_per_token_;
  StepTimer timer_;
  std::optional<SlowRanks> slow_ranks_;  // rank 0's
};

}  // namespace ingot
