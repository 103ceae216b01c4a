// What a run is: everything `ingot train` needs to know, from a TOML recipe plus --set overrides.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/llama_table.h"
#include "spec/model_config.h"
#include "spec/settings.h"

namespace ingot {

enum class ScheduleKind { Cosine, Wsd, Linear, Constant };
enum class ScheduleUnit { Tokens, Steps };
enum class Packing { Concat, BestFit };  // documents as a running text, or whole where they fit
enum class OptimKind { AdamW, Muon };    // Muon: for matrices, AdamW for the rest

struct DataConfig {
  std::string train;  // text file, folder of .txt or of shards, token file (.bin), mixture (.toml)
  std::string valid;  // empty: the tail of train is held out
  double valid_fraction = 0.05;
  std::string token_dtype = "auto";  // u16, u32 for headerless .bin; auto = from the header or u16
  std::string tokenizer = "byte";    // "byte" or a path
  Packing packing = Packing::Concat;
};

struct BatchConfig {
  int64_t micro_batch = 8;        // sequences a rank computes at once
  int64_t seq = 512;              // T
  int64_t tokens = 0;             // tokens in a global step; 0 = micro_batch·seq·ranks
  int64_t ramp_start_tokens = 0;  // batch-size ramp: tokens a step at the start; 0 = no ramp
  int64_t ramp_tokens = 0;        // trained tokens over which the ramp runs
};

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::Cosine;
  ScheduleUnit unit = ScheduleUnit::Tokens;  // of warmup and decay
  int64_t warmup = 0;
  int64_t decay = 0;            // wsd: length of the final decay
  double final_fraction = 0.1;  // last lr / peak lr
};

struct OptimConfig {
  OptimKind kind = OptimKind::AdamW;
  double lr = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  double clip = 1.0;  // global gradient norm; 0 = off
  double muon_lr = 0.02;
  double muon_momentum = 0.95;
  double muon_weight_decay = 0.1;
  DType moments = DType::F32;  // F32, or BF16 rounded stochastically; Muon's momentum stays F32
  ScheduleConfig schedule;
};

// Whether Muon updates this parameter; AdamW does otherwise.
inline bool uses_muon(OptimKind kind, const TensorSpec& parameter) {
  return kind == OptimKind::Muon && parameter.role == Role::Matrix;
}

struct TrainConfig {
  int64_t seed = 1337;
  int64_t total_tokens = 0;  // stop after these; either this or steps is set
  int64_t steps = 0;
  // fp32, tf32, bf16, fp16, fp8; auto = bf16 on a GPU, fp32 on the CPU
  std::string precision = "auto";
  bool fp8_head = false;  // fp8: the output head's products too
  ActivationPolicy recompute = ActivationPolicy::Selective;
  int64_t keep_layers = 0;  // so many, the last ones, are as under recompute none
  double z_loss = 0.0;
  bool document_mask = false;
  int64_t loss_chunk = 0;      // tokens whose logits exist at once; 0 = as suits the device
  int64_t offload_layers = 0;  // layers whose activations wait in host memory for the backward pass
  bool deterministic = true;
  int64_t eval_every = 0;  // steps; 0 = only at the end
  int64_t eval_tokens = 131072;
  int64_t log_every = 0;  // steps; 0 = as time passes
};

struct CheckpointConfig {
  std::string dir = "runs/default";  // the run's folder
  int64_t every = 0;                 // steps; 0 = only at the end
  int64_t keep = 2;                  // complete checkpoints kept
};

struct SystemConfig {
  std::string device = "auto";  // auto, cpu, cuda
  std::string cache_dir;        // what was tuned for a GPU is kept here; empty: nothing is kept
  int64_t threads = 0;          // CPU threads for all ranks together; 0 = available cores
  int64_t ranks = 1;            // local ranks (threads of this process)
  DataParallel data_parallel = DataParallel::Replicated;
};

struct RunConfig {
  std::string preset = "llama_10m";
  ModelConfig model;
  DataConfig data;
  BatchConfig batch;
  OptimConfig optim;
  TrainConfig train;
  CheckpointConfig checkpoint;
  SystemConfig system;
};

// fp8 is bf16 but for the layers' products, tf32 is fp32 but for all of them.
inline bool uses_fp8(const RunConfig& config) {
  return config.train.precision == "fp8";
}
inline bool uses_tf32(const RunConfig& config) {
  return config.train.precision == "tf32";
}

// The declarations, bound to `config`'s fields; `config` must outlive them.
std::vector<Setting> settings_of(RunConfig& config);

// Order: defaults, then the preset (from the recipe or an override), then the recipe, then the
// overrides. Throws ErrorCode::Config for unknown keys (with the nearest name and the line),
// wrong types and values out of range. Does not touch files.
RunConfig parse_run_config(std::string_view toml, std::string_view origin,
                           const Overrides& overrides);

// Cross-field rules (T within the context, batch divisible, something to stop at, …).
void validate(const RunConfig& config);

// Whether a resumed run may have another value of a setting than its checkpoint: what was trained
// so far stays as it is. `setting` is its name, or begins with it ("optim.lr = 1").
bool may_change_on_resume(std::string_view setting);

std::string to_toml(const RunConfig& config);  // every setting, resolved; parses back to the same
uint64_t config_hash(
    const RunConfig& config);      // over to_toml, without checkpoint.dir, system.*, logging
std::string settings_reference();  // Markdown page of all settings

}  // namespace ingot
