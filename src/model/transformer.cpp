#include "model/transformer.h"

#include <algorithm>
#include <array>

#include "model/run_actions.h"

namespace ingot {
namespace {

constexpr int kSlot = 0;  // the only one

}  // namespace

Transformer::Transformer(Context& ctx, const ModelConfig& config, const TrainShape& shape,
                         double z_loss, const PlacedTensors& placed, ParameterStore& store)
    : ctx_(ctx),
      store_(store),
      stage_(ctx, {.config = config,
                   .shape = shape,
                   .z_loss = z_loss,
                   .placed = placed,
                   .store = store,
                   .first_layer = 0,
                   .end_layer = config.layers}),
      N_(shape.B * shape.T),
      actions_(one_rank_actions(1)),
      num_parameters_(static_cast<int32_t>(llama_parameters(config).rows().size())),
      recorded_(make_recorded_work(ctx)),
      loss_sum_(make_running_sum(ctx)) {}

void Transformer::train_micro_step(const MicroBatch& batch, double scale) {
  stage_.input(kSlot).load(batch);
  stage_.set_loss_scale(scale);
  run_micro_step();
  loss_sum_->add(stage_.losses(kSlot));
}

void Transformer::run_micro_step() {
  const std::optional<Accumulate> writes = store_.recordable_writes();
  const std::optional<std::string> key = stage_.record_key();
  if (!writes || !key) {
    issue_micro_step();
    return;
  }
  if (!recorded_->run(fmt::format("{} {}", *writes == Accumulate::Yes, *key),
                      [&] { issue_micro_step(); })) {
    for (int32_t row = 0; row < num_parameters_; ++row) store_.gradient({row});  // all are written
    stage_.note_record();
  }
}

void Transformer::issue_micro_step() {
  const std::array<Stage*, 1> stages = {&stage_};
  run_actions(actions_, stages);
}

StepLoss Transformer::evaluate(const MicroBatch& batch) {
  stage_.input(kSlot).load(batch);
  stage_.evaluate(kSlot);
  return {.sum = sum(ctx_, stage_.losses(kSlot)),
          .num_targets = N_ - std::count(batch.targets, batch.targets + N_, kNoTarget)};
}

}  // namespace ingot
