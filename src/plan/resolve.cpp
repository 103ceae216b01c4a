#include "plan/resolve.h"

#include <algorithm>
#include <bit>

#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "core/error/log.h"
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

void check_backend(CommBackend backend, const DeviceFacts& facts) {
  check(backend != CommBackend::Nccl || facts.kind == DeviceKind::Cuda, ErrorCode::Config,
        "system.backend = nccl carries tensors of GPUs and this run is on the CPU: set "
        "system.backend=auto (or tcp, mpi), or compute on a GPU");
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

RunConfig with_values(RunConfig config, const StepRules& steps, const RunPlace& place) {
  config.batch = steps.batch;
  config.optim = steps.optim;
  config.train.loss_chunk =
      decided_loss_chunk(config, place.facts.kind, compute_dtype(config.train.precision));
  const bool on_gpu = place.facts.kind == DeviceKind::Cuda;
  config.system.device = on_gpu ? DeviceChoice::Cuda : DeviceChoice::Cpu;
  config.system.threads = place.threads;
  return config;
}

// The config's values are decided.
TrainShape shape_of(const RunConfig& config, const DeviceFacts& facts) {
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
  shape.workspace_bytes =
      std::max(train_workspace_bytes(facts, config.train.deterministic, config.model, shape),
               update_workspace_bytes(facts, shape.compute, transformer_parameters(config.model),
                                      config.optim, shape.layout));
  shape.head_workspace_bytes = head_workspace_bytes(facts, config.model, shape);
  return shape;
}

// On one device of these facts, or on one each.
RunPlace place_of(const RunConfig& config, const DeviceFacts& facts, int cores) {
  RunPlace place;
  const SystemConfig& system = config.system;
  place.device = facts.kind == DeviceKind::Cuda ? Device::cuda(0) : Device::cpu();
  place.facts = facts;
  place.device_ranks = static_cast<int>(system.ranks);
  place.threads = system.threads > 0 ? static_cast<int>(system.threads) : cores;
  place.threads_per_rank = static_cast<int>(std::max<int64_t>(1, place.threads / system.ranks));
  return place;
}

// Why a GPU is not there the error of its context says best.
DeviceFacts facts_here(const RunConfig& config, Device device) {
  check_heads(config.model, device.kind);
  if (device.kind == DeviceKind::Cuda && !gpu_facts(device)) ComputeDevice(device, 1, "");
  return device_facts(device);
}

}  // namespace

bool has_fp8(const DeviceFacts& facts) {
  return facts.major > 8 || (facts.major == 8 && facts.minor >= 9);
}

Precision decided_precision(Precision asked, DeviceKind device) {
  if (asked != Precision::Auto) return asked;
  return device == DeviceKind::Cuda ? Precision::Bf16 : Precision::Fp32;
}

ResolvedRun::ResolvedRun(const ValidConfig& given, const RunPlace& on)
    : recorded(given),
      steps(step_rules(*recorded)),
      place(on),
      config(with_values(*recorded, steps, place)),
      shape(shape_of(config, place.facts)),
      // Of every step: a ramp only makes them smaller.
      one_micro_step(steps.batch.tokens <= shape.B * shape.T * steps.ranks) {}

ResolvedRun resolve(const ValidConfig& config, const RunPlace& place) {
  check_precision(config->train.precision, place.facts);
  check_heads(config->model, place.facts.kind);
  check_backend(config->system.backend, place.facts);
  return {config.with_precision(decided_precision(config->train.precision, place.facts.kind)),
          place};
}

namespace {

ResolvedRun resolved_here(const ValidConfig& config, const RunPlace& place) {
  ResolvedRun run = resolve(config, place);
  log::debug("run_resolved", {{"device", place.device.str()},
                              {"precision", std::string(name_of(run.config.train.precision))},
                              {"threads_per_rank", std::to_string(place.threads_per_rank)}});
  return run;
}

}  // namespace

ResolvedRun resolve_elsewhere(const ValidConfig& config, const DeviceFacts& facts, int cores) {
  RunPlace place = place_of(*config, facts, cores);
  if (facts.kind == DeviceKind::Cuda && !config->system.share_gpu) place.device_ranks = 1;
  return resolve(config, place);
}

ResolvedRun resolve_rank_here(const ValidConfig& config, const LocalPlace& local) {
  RunPlace place;
  place.device = choose_device(name_of(config->system.device));
  place.facts = facts_here(*config, place.device);
  place.device_ranks = local.ranks;
  if (place.device.kind == DeviceKind::Cuda) {
    const int gpus = static_cast<int>(cuda_facts()->devices.size());
    place.device.index = local.rank % gpus;
    place.facts = device_facts(place.device);
    // Ranks that see one GPU each are told apart when they meet.
    place.device_ranks = config->system.share_gpu ? (local.ranks + gpus - 1) / gpus : 1;
  }
  // system.threads is the machine's, and so are the cores.
  const int64_t threads = config->system.threads > 0 ? config->system.threads : local.cores;
  place.threads_per_rank = static_cast<int>(std::max<int64_t>(1, threads / local.ranks));
  place.threads = place.threads_per_rank * local.ranks;
  return resolved_here(config, place);
}

ResolvedRun resolve_here(const ValidConfig& config) {
  const SystemConfig& system = config->system;
  const bool several = system.device == DeviceChoice::Auto && system.ranks > 1;
  const Device device = choose_device(name_of(several ? DeviceChoice::Cpu : system.device));
  return resolved_here(config, place_of(*config, facts_here(*config, device), available_cores()));
}

}  // namespace ingot
