#include "train/engine.h"

#include <algorithm>

#include "core/error.h"
#include "core/memory_info.h"

namespace ingot {
namespace {

DType compute_dtype(const RunConfig& config) {
  return config.train.precision == "bf16" ? DType::BF16 : DType::F32;
}

Mesh mesh_of(const RunConfig& config) {
  return {static_cast<int>(config.system.ranks), config.system.data_parallel};
}

TrainShape shape_of(const RunConfig& config, int threads_per_rank) {
  TrainShape shape;
  shape.B = config.batch.micro_batch;
  shape.T = config.batch.seq;
  shape.compute = compute_dtype(config);
  shape.policy = config.train.recompute;
  shape.mesh = mesh_of(config);
  shape.loss_chunk = std::min(config.train.loss_chunk, shape.B * shape.T);
  shape.document_mask = config.train.document_mask;
  shape.workspace_bytes = train_workspace_bytes(config.model, shape, threads_per_rank);
  return shape;
}

// The table, after making sure that all ranks of this machine fit into what is free.
TensorTable checked_table(const RunConfig& config, int threads_per_rank) {
  TensorTable table = train_table(config, threads_per_rank);
  const int64_t needed = plan_memory(table).total_bytes * config.system.ranks;
  const int64_t available = available_memory_bytes();
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  check(needed <= available, ErrorCode::Memory,
        "this run needs {:.2f} GiB and {:.2f} GiB are free: lower batch.micro_batch (now {}), set "
        "train.recompute = \"full\", or choose a smaller model",
        static_cast<double>(needed) / kGiB, static_cast<double>(available) / kGiB,
        config.batch.micro_batch);
  return table;
}

}  // namespace

TensorTable train_table(const RunConfig& config, int threads_per_rank) {
  const TrainShape shape = shape_of(config, threads_per_rank);
  TensorTable table = llama_train_table(config.model, shape);
  add_store_rows(table, llama_parameters(config.model), shape.compute, shape.mesh);
  return table;
}

Engine::Engine(const RunConfig& config, Communicator& comm, int threads_per_rank)
    : config_(config),
      comm_(comm),
      pool_(threads_per_rank),
      parameters_(llama_parameters(config.model)),
      placed_(checked_table(config, threads_per_rank), Device::cpu()) {
  ctx_.device = Device::cpu();
  ctx_.pool = &pool_;
  ctx_.workspace = Workspace(placed_.find("workspace"));
  store_ = make_parameter_store(ctx_, comm_, parameters_, mesh_of(config), placed_,
                                compute_dtype(config));
  model_ = std::make_unique<Transformer>(ctx_, config_.model, shape_of(config, threads_per_rank),
                                         config_.train.z_loss, placed_, *store_);
}

void Engine::init(uint64_t seed) {
  init_weights(*store_, parameters_, seed);
}

void Engine::start_step() {
  store_->start_step();
}

StepLoss Engine::accumulate(const MicroBatch& batch, double scale) {
  return model_->train_micro_step(batch, scale);
}

UpdateReport Engine::update(double lr, int64_t step) {
  store_->finish_gradients();
  return adamw_update(ctx_, comm_, parameters_, *store_, config_.optim, lr, step);
}

StepLoss Engine::evaluate(const MicroBatch& batch) {
  return model_->evaluate(batch);
}

}  // namespace ingot
