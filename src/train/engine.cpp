#include "train/engine.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.h"
#include "core/text/format.h"
#include "ops/attention.h"
#include "spec/optimizer_states.h"
#include "spec/run_length.h"
#include "spec/store_rows.h"

namespace ingot {
namespace {

bool has_fp8(const DeviceFacts& gpu) {
  return gpu.major > 8 || (gpu.major == 8 && gpu.minor >= 9);
}

void check_precision(const RunConfig& config, Device device) {
  const Precision precision = config.train.precision;
  const bool on_gpu = device.kind == DeviceKind::Cuda;
  check(precision != Precision::Fp64, ErrorCode::Config,
        "train.precision fp64: a run cannot compute in it; use fp32");
  check(on_gpu || (precision != Precision::Tf32 && precision != Precision::Fp16), ErrorCode::Config,
        "train.precision {} needs a GPU and this run is on the CPU: use fp32 or bf16",
        name_of(precision));
  const auto gpu = gpu_facts(device);
  if (!uses_fp8(config) || !gpu) return;  // of a GPU that is not there the context will speak
  check(has_fp8(*gpu), ErrorCode::Config,
        "train.precision fp8 needs a GPU of compute capability 8.9 or more and {} has {}.{}: use "
        "bf16",
        gpu->name, gpu->major, gpu->minor);
}

void check_heads(const RunConfig& config, Device device) {
  check(device.kind != DeviceKind::Cuda || config.model.head_dim <= kMaxCudaHeadDim,
        ErrorCode::Config,
        "model.head_dim {} is more than attention on a GPU takes: expected at most {}; set more "
        "model.heads, or use the CPU (--device cpu, or --set system.device=cpu)",
        config.model.head_dim, kMaxCudaHeadDim);
}

// Without the workspace, which takes the ops to know.
TrainShape shape_of(const RunConfig& config, Device device) {
  TrainShape shape;
  shape.B = config.batch.micro_batch;
  shape.T = config.batch.seq;
  shape.compute = compute_dtype(config, device);
  shape.fp8 = uses_fp8(config);
  shape.fp8_head = shape.fp8 && config.train.fp8_head;
  shape.offload_layers = config.train.offload_layers;
  shape.policy = config.train.recompute;
  shape.keep_layers = config.train.keep_layers;
  shape.layout = layout_of(config);
  shape.loss_chunk = std::min(loss_chunk(config, device), shape.B * shape.T);
  shape.document_mask = config.train.document_mask;
  return shape;
}

TrainShape shape_of(const Context& ctx, const RunConfig& config) {
  TrainShape shape = shape_of(config, ctx.device);
  shape.workspace_bytes =
      std::max(train_workspace_bytes(ctx.facts, ctx.deterministic, config.model, shape),
               update_workspace_bytes(ctx.facts, llama_parameters(config.model), config.optim));
  shape.head_workspace_bytes = head_workspace_bytes(ctx.facts, config.model, shape);
  return shape;
}

// Of every step: a ramp only makes them smaller.
bool one_micro_step(const RunConfig& config, const TrainShape& shape) {
  return config.batch.tokens <= shape.B * shape.T * config.system.ranks;
}

TensorTable table_of(const RunConfig& config, const TrainShape& shape) {
  TensorTable table = llama_train_table(config.model, shape);
  add_store_rows(table, llama_parameters(config.model), shape.compute, shape.layout,
                 {.optim = config.optim,
                  .one_micro_step = one_micro_step(config, shape),
                  .order = block_uses(config.model),
                  .gradient_sync = config.system.gradient_sync});
  add_update_rows(table, config.optim);
  return table;
}

// What lies on a GPU beside the table: kernels, loaded when first launched, recorded steps, small
// tables. An estimate, which CudaMemory's test holds small runs to.
constexpr int64_t kCudaReserveBytes = int64_t{512} << 20;

using Changes = std::vector<std::string>;  // settings as a recipe would have them

RunConfig with_changes(RunConfig config, const Changes& changes) {
  apply_toml(fmt::format("{}", fmt::join(changes, "\n")), "advice", {}, settings_of(config), "");
  return config;
}

bool is_valid(const RunConfig& config) {
  try {
    validate(config);
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The largest micro-batch, at most as asked, with which all ranks fit and the settings agree with
// each other; 0 where there is none. Scratch is taken as `asked`, which does not fit, has it.
int64_t largest_micro_batch(RunConfig config, Device device, const TrainShape& asked,
                            int64_t available) {
  const auto fits = [&](int64_t B) {
    config.batch.micro_batch = B;
    TrainShape shape = shape_of(config, device);
    shape.workspace_bytes = asked.workspace_bytes;
    shape.head_workspace_bytes = asked.head_workspace_bytes;
    return plan_memory(table_of(config, shape)).total_bytes * config.system.ranks <= available;
  };
  int64_t most = 0;
  for (int64_t above = asked.B + 1; most + 1 < above;) {
    const int64_t middle = (most + above) / 2;
    (fits(middle) ? most : above) = middle;
  }
  for (config.batch.micro_batch = most; most > 0 && !is_valid(config);)
    config.batch.micro_batch = --most;
  return most;
}

// What a run that does not fit could do instead: the settings that keep its micro-batch, or the
// largest one that fits as it is, and the setting with which a larger one would. Layers are kept
// where there is memory to spare, so none is. Where the run is `resumed`, its batch stays as large.
std::string advice(const RunConfig& config, Device device, const TrainShape& asked,
                   int64_t available, bool resumed) {
  constexpr const char *kSelective = "train.recompute = \"selective\"",
                       *kFull = "train.recompute = \"full\"",
                       *kNarrowMoments = "optim.moments = \"bf16\"",
                       *kFp8 = "train.precision = \"fp8\"";
  std::vector<Changes> remedies = {{}, {kSelective}, {kFull}, {kNarrowMoments}};
  const auto gpu = gpu_facts(device);
  if (gpu && has_fp8(*gpu) && precision_of(config, device) == Precision::Bf16)
    remedies.push_back({kFp8});
  remedies.push_back({kFull, kNarrowMoments});

  struct Choice {
    Changes changes;
    int64_t most;
    std::string text() const {
      return fmt::format("{}{}{}", most, changes.empty() ? "" : " with ",
                         fmt::join(changes, " and "));
    }
  };
  std::vector<Choice> choices;
  for (Changes& changes : remedies) {
    const bool allowed = !resumed || std::ranges::all_of(changes, may_change_on_resume);
    if (resumed && config.batch.tokens == 0)
      changes.insert(changes.begin(), fmt::format("batch.tokens = {}", full_batch_tokens(config)));
    if (config.train.keep_layers > 0) changes.insert(changes.begin(), "train.keep_layers = 0");
    const int64_t most =
        allowed ? largest_micro_batch(with_changes(config, changes), device, asked, available) : 0;
    choices.push_back({std::move(changes), most});
    if (most == asked.B) return fmt::format("batch.micro_batch = {} fits", choices.back().text());
  }
  const Choice &as_it_is = choices.front(), &two_changes = choices.back();
  const auto largest =
      std::ranges::max_element(choices.begin(), choices.end() - 1, {}, &Choice::most);
  const Choice& best = largest->most > 0 ? *largest : two_changes;
  if (best.most == 0)
    return fmt::format("not even one sequence fits: {}",
                       resumed ? "go on where more memory is free"
                               : "choose a smaller model or a shorter batch.seq");
  if (as_it_is.most == 0) return fmt::format("batch.micro_batch = {} fits", best.text());
  return fmt::format("batch.micro_batch = {} fits{}", as_it_is.text(),
                     best.most > as_it_is.most ? ", or " + best.text() : "");
}

// The kernels, and so their scratch, depend on what the run asks of them.
Context& prepared_context(ComputeDevice& compute, const RunConfig& config) {
  Context& ctx = compute.context();
  ctx.deterministic = config.train.deterministic;
  ctx.tf32 = uses_tf32(config);
  return ctx;
}

// The table, after making sure that all ranks of this machine fit into what is free.
TensorTable checked_table(const Context& ctx, const RunConfig& config, bool resumed) {
  const TrainShape shape = shape_of(ctx, config);
  TensorTable table = table_of(config, shape);
  const int64_t needed = plan_memory(table).total_bytes * config.system.ranks;
  const int64_t reserve = ctx.device.kind == DeviceKind::Cuda ? kCudaReserveBytes : 0;
  const int64_t available = available_memory(ctx.device) - reserve;
  if (needed > available)
    throw Error(
        ErrorCode::Memory,
        fmt::format(
            "this run needs {} on {} and {} are free{}: {}", format_bytes(needed), ctx.device,
            format_bytes(available),
            reserve > 0 ? fmt::format(" besides {} for kernels", format_bytes(reserve)) : "",
            advice(config, ctx.device, shape, available, resumed)));
  return table;
}

}  // namespace

Device run_device(const RunConfig& config) {
  const SystemConfig& system = config.system;
  const bool several = system.device == DeviceChoice::Auto && system.ranks > 1;
  const Device device = choose_device(name_of(several ? DeviceChoice::Cpu : system.device));
  check_precision(config, device);
  check_heads(config, device);
  return device;
}

Precision precision_of(const RunConfig& config, Device device) {
  if (config.train.precision != Precision::Auto) return config.train.precision;
  return device.kind == DeviceKind::Cuda ? Precision::Bf16 : Precision::Fp32;
}

DType compute_dtype(const RunConfig& config, Device device) {
  return compute_dtype(precision_of(config, device));
}

int64_t loss_chunk(const RunConfig& config, Device device) {
  if (config.train.loss_chunk > 0) return config.train.loss_chunk;
  if (device.kind == DeviceKind::Cpu) return 512;
  // A chunk's products want many rows, its logits are the step's largest tensor: 1 GiB of them.
  const int64_t row = config.model.vocab * size_of(compute_dtype(config, device));
  const auto rows = static_cast<uint64_t>(std::max<int64_t>(1, (int64_t{1} << 30) / row));
  return static_cast<int64_t>(std::bit_floor(rows));
}

TensorTable train_table(const Context& ctx, const RunConfig& config) {
  return table_of(config, shape_of(ctx, config));
}

int threads_per_rank(const RunConfig& config) {
  const int64_t threads = config.system.threads > 0 ? config.system.threads : available_cores();
  return static_cast<int>(std::max<int64_t>(1, threads / config.system.ranks));
}

int64_t planned_bytes(const RunConfig& config, int threads) {
  ComputeDevice compute(run_device(config), threads, config.system.cache_dir);
  return plan_memory(train_table(prepared_context(compute, config), config)).total_bytes;
}

int64_t checked_bytes(const RunConfig& config, int threads, bool resumed) {
  ComputeDevice compute(run_device(config), threads, config.system.cache_dir);
  return plan_memory(checked_table(prepared_context(compute, config), config, resumed)).total_bytes;
}

Engine::Engine(const RunConfig& config, World& world, int threads_per_rank, bool resumed)
    : config_(config),
      world_(world),
      compute_(run_device(config), threads_per_rank, config.system.cache_dir),
      parameters_(llama_parameters(config.model)),
      placed_(checked_table(prepared_context(compute_, config), config, resumed),
              compute_.context().device) {
  Context& ctx = compute_.context();
  ctx.workspace = Workspace(placed_.find("workspace"));
  store_ = make_parameter_store(ctx, world, parameters_, layout_of(config), placed_,
                                compute_dtype(config, ctx.device));
  model_ = std::make_unique<Transformer>(ctx, config_.model, shape_of(config, ctx.device),
                                         config_.train.z_loss, placed_, *store_);
  updater_ = std::make_unique<Updater>(ctx, parameters_, *store_, config_.optim, placed_);
  if (compute_dtype(config, ctx.device) == DType::F16) loss_scale_.emplace();
  if (uses_fp8(config)) fp8_scales_.emplace(ctx, placed_);
}

void Engine::init(uint64_t seed) {
  init_weights(*store_, parameters_, seed);
  const BatchConfig& batch = config_.batch;
  const int64_t step_tokens = std::max(batch.tokens, batch.micro_batch * batch.seq);
  if (fp8_scales_) fp8_scales_->init(1.0 / static_cast<double>(step_tokens));
}

void Engine::start_step() {
  micro_steps_ = 0;
  store_->start_step();
  model_->start_step();
}

void Engine::accumulate(const MicroBatch& batch, double scale, bool last) {
  ++micro_steps_;
  check(micro_steps_ == 1 || !one_micro_step(config_, shape_of(config_, context().device)),
        ErrorCode::Internal,
        "micro-step {} in a step that was planned as one (batch.tokens {}): its activations would "
        "lie where the first one's gradients are",
        micro_steps_, config_.batch.tokens);
  model_->train_micro_step(batch, loss_scale_ ? scale * loss_scale_->value() : scale, last);
}

void Engine::update(double lr, int64_t step) {
  store_->finish_gradients();
  UpdateStep update{lr, step, static_cast<uint64_t>(config_.train.seed)};
  if (loss_scale_) {
    update.step -= loss_scale_->state().skipped_steps;  // bias correction counts updates
    update.loss_scale = loss_scale_->value();
  }
  updater_->update(update);
  if (fp8_scales_) fp8_scales_->update();
}

UpdateReport Engine::take_report() {
  const UpdateReport report = updater_->take_report();
  if (loss_scale_) loss_scale_->after_step(report.skipped);
  return report;
}

std::optional<LossScaleState> Engine::loss_scale() const {
  if (!loss_scale_) return std::nullopt;
  return loss_scale_->state();
}

void Engine::set_loss_scale(const LossScaleState& state) {
  check(loss_scale_.has_value(), ErrorCode::Internal,
        "a loss scale belongs to a run in fp16, got one for {}", name_of(config_.train.precision));
  loss_scale_.emplace(state);
}

std::vector<float> Engine::fp8_scales() const {
  return fp8_scales_ ? fp8_scales_->save() : std::vector<float>{};
}

void Engine::set_fp8_scales(const std::vector<float>& saved) {
  if (fp8_scales_) fp8_scales_->restore(saved);
}

StepLoss Engine::evaluate(const MicroBatch& batch) {
  return model_->evaluate(batch);
}

}  // namespace ingot
