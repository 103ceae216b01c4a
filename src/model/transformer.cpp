#include "model/transformer.h"

#include <algorithm>
#include <array>

#include "model/run_actions.h"
#include "ops/memory.h"

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
      train_uses_(block_uses(config)),
      evaluation_uses_(evaluation_uses(config)),
      recorded_(make_recorded_work(ctx)),
      loss_sum_(make_running_sum(ctx)) {}

void Transformer::train_micro_step(const MicroBatch& batch, double scale, bool last) {
  stage_.input(kSlot).load(batch);
  stage_.set_loss_scale(scale);
  run_micro_step(last);
  loss_sum_->add(stage_.losses(kSlot));
}

void Transformer::run_micro_step(bool last) {
  const std::optional<std::string> store_key = store_.record_key(last);
  const std::optional<std::string> stage_key = stage_.record_key();
  if (!store_key || !stage_key) {
    issue_micro_step(last);
    return;
  }
  if (!recorded_->run(fmt::format("{} {}", *store_key, *stage_key),
                      [&] { issue_micro_step(last); })) {
    store_.note_record(last);
    stage_.note_record();
  }
}

void Transformer::issue_micro_step(bool last) {
  const std::array<Stage*, 1> stages = {&stage_};
  store_.begin(train_uses_, last);
  run_actions(actions_, stages);
  store_.end();
}

StepLoss Transformer::evaluate(const MicroBatch& batch, FirstNotFinite* search) {
  stage_.input(kSlot).load(batch);
  store_.begin(evaluation_uses_, /*last=*/false);
  stage_.evaluate(kSlot, search);
  store_.end();
  return {.sum = sum(ctx_, stage_.losses(kSlot)),
          .num_targets = N_ - std::count(batch.targets, batch.targets + N_, kNoTarget)};
}

std::vector<double> Transformer::token_losses() const {
  const Tensor losses = stage_.losses(kSlot);  // (N)
  std::vector<double> values(static_cast<size_t>(N_));
  if (losses.dtype == DType::F64) {
    copy_to_host(ctx_, losses, values.data());
  } else {
    std::vector<float> narrow(values.size());
    copy_to_host(ctx_, losses, narrow.data());
    std::ranges::copy(narrow, values.begin());
  }
  return values;
}

}  // namespace ingot
