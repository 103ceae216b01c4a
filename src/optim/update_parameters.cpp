#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "ops/adamw.h"
#include "ops/reduce.h"
#include "optim/muon.h"
#include "optim/optimizer.h"

namespace ingot {
namespace {

double global_grad_norm(Context& ctx, Communicator& comm, const ParameterStore& store) {
  std::vector<Tensor> gradients;
  for (const ParameterShard& shard : store.shards())
    if (shard.range.size() > 0) gradients.push_back(shard.gradient);
  double squares = sum_of_squares(ctx, gradients);
  // Replicated ranks all hold the whole gradient: adding theirs would count it `size` times.
  if (store.mode() == DataParallel::FullySharded)
    comm.all_reduce_sum(Tensor::contiguous(&squares, DType::F64, {1}));
  return std::sqrt(squares);
}

}  // namespace

UpdateReport update_parameters(Context& ctx, Communicator& comm, const TensorTable& parameters,
                               ParameterStore& store, const OptimConfig& config,
                               const UpdateStep& step) {
  UpdateReport report;
  const double loss_scale = step.loss_scale.value_or(1.0);
  report.grad_norm = global_grad_norm(ctx, comm, store) / loss_scale;
  // The norm is equal on all ranks, so either all of them stop here or none does.
  if (!std::isfinite(report.grad_norm)) {
    report.skipped = step.loss_scale.has_value();
    if (report.skipped) return report;
    throw Error(ErrorCode::Numeric,
                fmt::format("gradient norm: expected a finite number, got {} at step {}; lower "
                            "optim.lr or set optim.clip",
                            report.grad_norm, step.step),
                BlastRadius::Step);
  }
  // torch.nn.utils.clip_grad_norm_ divides by norm + 1e-6; the same here, so that runs compare.
  if (config.clip > 0.0) report.clip_scale = std::min(1.0, config.clip / (report.grad_norm + 1e-6));

  AdamWStep update;
  update.lr = step.lr;
  update.beta1 = config.beta1;
  update.beta2 = config.beta2;
  update.eps = config.eps;
  update.step = step.step;
  update.grad_scale = report.clip_scale / loss_scale;
  update.seed = step.seed;
  const MuonStep muon_step{config.lr > 0 ? config.muon_lr * (step.lr / config.lr) : 0.0,
                           config.muon_momentum, config.muon_weight_decay, update.grad_scale};
  std::vector<AdamWTensors> tensors;
  for (const ParameterShard& shard : store.shards()) {
    if (shard.range.size() == 0) continue;
    const TensorSpec& parameter = parameters[shard.parameter];
    if (uses_muon(config.kind, parameter)) {
      muon(ctx, muon_step, parameter, shard);
      continue;
    }
    const bool decayed = parameter.role != Role::Norm;
    tensors.push_back({shard.master, shard.gradient, shard.moment1, shard.moment2, shard.weight,
                       decayed ? config.weight_decay : 0.0, tensor_id(parameter.name),
                       static_cast<uint64_t>(shard.range.begin)});
  }
  adamw(ctx, update, tensors);
  store.publish_weights();
  return report;
}

}  // namespace ingot
