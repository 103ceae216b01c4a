#include "train/step/engine.h"

#include <utility>

#include "core/error/error.h"
#include "plan/train_table.h"

namespace ingot {

Engine::Engine(const ResolvedRun& run, World& world)
    : run_(run),
      choices_(world),
      compute_(run.place.device, run.place.threads_per_rank, run.config.system.cache_dir),
      parameters_(transformer_parameters(run.config.model)),
      placed_(train_table(run), run.place.device) {
  const RunConfig& config = run_.config;
  const TrainShape& shape = run_.shape;
  Context& ctx = compute_.context();
  ctx.deterministic = config.train.deterministic;
  ctx.tf32 = uses_tf32(config);
  ctx.workspace = Workspace(placed_.find("workspace"));
  if (world.size() > 1) ctx.choices = &choices_;
  store_ = make_parameter_store(ctx, world, parameters_, shape.layout, placed_, shape.compute);
  make_updater();
  model_ = std::make_unique<Transformer>(ctx, config.model, shape, config.train.z_loss, placed_,
                                         *store_);
  if (shape.compute == DType::F16) loss_scale_.emplace();
  if (shape.fp8) {
    readers_ = world.everyone(ctx);
    fp8_scales_.emplace(ctx, placed_, *readers_);
  }
}

void Engine::make_updater() {
  const RunConfig& config = run_.config;
  Context& ctx = compute_.context();
  const auto make = [&](auto& store) {
    updater_ = std::make_unique<Updater>(ctx, parameters_, run_.shape.layout, store, config.optim,
                                         placed_);
  };
  if (!config.system.offload_optimizer) return make(*store_);
  if (run_.place.device.kind == DeviceKind::Cuda)
    host_.emplace(Device::cpu(), run_.place.threads_per_rank, config.system.cache_dir);
  auto offloaded = std::make_unique<OffloadedStore>(ctx, host_ ? host_->context() : ctx,
                                                    std::move(store_), parameters_, placed_);
  make(*offloaded);
  store_ = std::move(offloaded);
}

void Engine::init(uint64_t seed) {
  init_weights(*store_, parameters_, seed);
  if (fp8_scales_) fp8_scales_->init(1.0 / static_cast<double>(run_.steps.batch.tokens));
}

void Engine::start_step() {
  micro_steps_ = 0;
  store_->start_step();
  model_->start_step();
}

void Engine::accumulate(const MicroBatch& batch, double scale, bool last) {
  ++micro_steps_;
  check(micro_steps_ == 1 || !run_.one_micro_step, ErrorCode::Internal,
        "micro-step {} in a step that was planned as one (batch.tokens {}): its activations would "
        "lie where the first one's gradients are",
        micro_steps_, run_.steps.batch.tokens);
  model_->train_micro_step(batch, loss_scale_ ? scale * loss_scale_->value() : scale, last);
}

void Engine::update(double lr, int64_t step) {
  store_->finish_gradients();
  UpdateStep update{lr, step, static_cast<uint64_t>(run_.config.train.seed)};
  if (loss_scale_) {
    update.step -= loss_scale_->state().skipped_steps;  // bias correction counts updates
    update.loss_scale = loss_scale_->value();
  }
  // Ranks may own different matrices, so they do not come to the same GEMMs here.
  Context& ctx = compute_.context();
  SharedChoices* const choices = std::exchange(ctx.choices, nullptr);
  updater_->update(update);
  ctx.choices = choices;
  if (fp8_scales_) fp8_scales_->update(updater_->scalars());
}

UpdateReport Engine::take_report() {
  const UpdateReport report = updater_->take_report();
  if (loss_scale_) loss_scale_->after_step(report.skipped);
  return report;
}

std::optional<double> Engine::loss_scale() const {
  if (!loss_scale_) return std::nullopt;
  return loss_scale_->value();
}

std::vector<StateSection*> Engine::sections() {
  std::vector<StateSection*> sections;
  if (loss_scale_) sections.push_back(&*loss_scale_);
  if (fp8_scales_) sections.push_back(&*fp8_scales_);
  return sections;
}

StepLoss Engine::evaluate(const MicroBatch& batch, FirstNotFinite* search) {
  return model_->evaluate(batch, search);
}

}  // namespace ingot
