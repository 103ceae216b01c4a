#include "plan/resolve.h"

#include <algorithm>
#include <bit>

#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "ops/attention.h"
#include "plan/workspace.h"

namespace ingot {
namespace {

void check_precision(Precision precision, const DeviceFacts& facts) {
  const bool on_gpu = facts.kind == DeviceKind::Cuda;
  check(on_gpu || (precision != Precision::Tf32 && precision != Precision::Fp16), ErrorCode::Config,
        "train.precision {} needs a GPU and this run is on the CPU: use fp32 or bf16",
        name_of(precision));
  check(!on_gpu || precision != Precision::Fp64, ErrorCode::Config,
        "train.precision fp64 is for runs on the CPU and this one is on a GPU: use the CPU "
        "(--device cpu, or --set system.device=cpu) or fp32");
  check(!on_gpu || precision != Precision::Fp8 || has_fp8(facts), ErrorCode::Config,
        "train.precision fp8 needs a GPU of compute capability 8.9 or more and {} has {}.{}: use "
        "bf16",
        facts.name, facts.major, facts.minor);
}

void check_heads(const ModelConfig& model, DeviceKind device) {
  check(device != DeviceKind::Cuda || model.head_dim <= kMaxCudaHeadDim, ErrorCode::Config,
        "model.head_dim {} is more than attention on a GPU takes: expected at most {}; set more "
        "model.heads, or use the CPU (--device cpu, or --set system.device=cpu)",
        model.head_dim, kMaxCudaHeadDim);
}

int64_t decided_loss_chunk(const RunConfig& config, DeviceKind device, DType compute) {
  if (config.train.loss_chunk > 0) return config.train.loss_chunk;
  if (device == DeviceKind::Cpu) return 512;
  // A chunk's products want many rows, its logits are the step's largest tensor: 1 GiB of them.
  const int64_t row = config.model.vocab * size_of(compute);
  const auto rows = static_cast<uint64_t>(std::max<int64_t>(1, (int64_t{1} << 30) / row));
  return static_cast<int64_t>(std::bit_floor(rows));
}

// Without scratch; the config's values are decided.
TrainShape shape_of(const RunConfig& config) {
  TrainShape shape;
  shape.B = config.batch.micro_batch;
  shape.T = config.batch.seq;
  shape.compute = compute_dtype(config.train.precision);
  shape.fp8 = uses_fp8(config);
  shape.fp8_head = shape.fp8 && config.train.fp8_head;
  shape.offload_layers = config.train.offload_layers;
  shape.policy = config.train.recompute;
  shape.keep_layers = config.train.keep_layers;
  shape.layout = data_layout(static_cast<int>(config.system.ranks), config.system.data_parallel,
                             static_cast<int>(config.system.shard_ranks));
  shape.loss_chunk = std::min(config.train.loss_chunk, shape.B * shape.T);
  shape.document_mask = config.train.document_mask;
  return shape;
}

}  // namespace

bool has_fp8(const DeviceFacts& facts) {
  return facts.major > 8 || (facts.major == 8 && facts.minor >= 9);
}

Precision decided_precision(Precision asked, DeviceKind device) {
  if (asked != Precision::Auto) return asked;
  return device == DeviceKind::Cuda ? Precision::Bf16 : Precision::Fp32;
}

ResolvedRun lay_out(const RunConfig& config, const DeviceFacts& facts, int cores) {
  const bool on_gpu = facts.kind == DeviceKind::Cuda;
  ResolvedRun run;
  run.device = on_gpu ? Device::cuda(0) : Device::cpu();
  run.facts = facts;
  run.steps = step_rules(config);
  run.recorded = config;
  run.recorded.train.precision = decided_precision(config.train.precision, facts.kind);

  run.config = run.recorded;
  run.config.batch = run.steps.batch;
  run.config.optim = run.steps.optim;
  run.config.train.loss_chunk =
      decided_loss_chunk(config, facts.kind, compute_dtype(run.recorded.train.precision));
  run.config.system.device = on_gpu ? DeviceChoice::Cuda : DeviceChoice::Cpu;
  if (config.system.threads == 0) run.config.system.threads = cores;
  run.device_ranks = static_cast<int>(run.config.system.ranks);
  run.threads_per_rank =
      static_cast<int>(std::max<int64_t>(1, run.config.system.threads / run.config.system.ranks));

  run.shape = shape_of(run.config);
  // Of every step: a ramp only makes them smaller.
  run.one_micro_step = run.steps.batch.tokens <= run.shape.B * run.shape.T * run.steps.ranks;
  TrainShape& shape = run.shape;
  shape.workspace_bytes =
      std::max(train_workspace_bytes(facts, config.train.deterministic, config.model, shape),
               update_workspace_bytes(facts, shape.compute, transformer_parameters(config.model),
                                      config.optim, shape.layout));
  shape.head_workspace_bytes = head_workspace_bytes(facts, config.model, shape);
  return run;
}

ResolvedRun resolve(const RunConfig& config, const DeviceFacts& facts, int cores) {
  validate_open_ended(config);
  check_precision(config.train.precision, facts);
  check_heads(config.model, facts.kind);
  ResolvedRun run = lay_out(config, facts, cores);
  validate_open_ended(run.recorded);  // with the precision decided
  return run;
}

ResolvedRun resolve_rank_here(const RunConfig& config, const LocalPlace& place) {
  Device device = choose_device(name_of(config.system.device));
  const int cores = std::max(1, place.cores / place.ranks);
  int device_ranks = place.ranks;
  if (device.kind == DeviceKind::Cuda) {
    if (!gpu_facts(device)) ComputeDevice(device, 1, "");  // says why it is not there
    const int gpus = static_cast<int>(cuda_facts()->devices.size());
    device.index = place.rank % gpus;
    // Ranks that see one GPU each are told apart when they meet.
    device_ranks = config.system.share_gpu ? (place.ranks + gpus - 1) / gpus : 1;
  }
  check_heads(config.model, device.kind);
  ResolvedRun run = resolve(config, device_facts(device), cores);
  run.device = device;
  run.device_ranks = device_ranks;
  // system.threads is the machine's, and so are the cores.
  const int64_t asked = config.system.threads;
  run.threads_per_rank =
      asked > 0 ? static_cast<int>(std::max<int64_t>(1, asked / place.ranks)) : cores;
  run.config.system.threads = int64_t{run.threads_per_rank} * place.ranks;
  return run;
}

ResolvedRun resolve_here(const RunConfig& config) {
  const SystemConfig& system = config.system;
  const bool several = system.device == DeviceChoice::Auto && system.ranks > 1;
  const Device device = choose_device(name_of(several ? DeviceChoice::Cpu : system.device));
  check_heads(config.model, device.kind);
  // Why a GPU is not there its context says best.
  if (device.kind == DeviceKind::Cuda && !gpu_facts(device)) ComputeDevice(device, 1, "");
  return resolve(config, device_facts(device), available_cores());
}

}  // namespace ingot
