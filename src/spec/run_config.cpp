#include "spec/run_config.h"

#include <algorithm>
#include <iterator>

#include "spec/model_settings.h"

namespace ingot {
namespace {

constexpr double kMaxTokens = 1e15;  // of a run: a hundred times the largest published one

Setting text_choice(std::string name, std::string& field, std::vector<std::string> choices,
                    std::string doc) {
  return choice_setting(
      std::move(name), std::move(choices), [&field] { return field; },
      [&field](const std::string& wanted) { field = wanted; }, std::move(doc));
}

Setting not_hashed(Setting setting) {
  setting.hashed = false;
  return setting;
}

void append(std::vector<Setting>& to, std::vector<Setting> more) {
  std::move(more.begin(), more.end(), std::back_inserter(to));
}

std::vector<Setting> data_settings(DataConfig& d) {
  return {
      text_setting("data.train", d.train,
                   "What to train on: a text file, a folder of .txt files, a folder of token "
                   "shards, a token file (.bin), or a mixture of those (.toml)."),
      text_setting("data.valid", d.valid,
                   "What to validate on, of the same kinds; empty = the tail of data.train is "
                   "held out."),
      number_setting("data.valid_fraction", d.valid_fraction, {0, 0.9}, "",
                     "Share of data.train held out when data.valid is empty."),
      text_choice("data.token_dtype", d.token_dtype, {"auto", "u16", "u32"},
                  "Element type of a token file without header; auto = from the header, else "
                  "u16."),
      text_setting("data.tokenizer", d.tokenizer, "\"byte\", or the path of a tokenizer file."),
      enum_setting<Packing>("data.packing", d.packing,
                            {{"concat", Packing::Concat}, {"best_fit", Packing::BestFit}},
                            "How documents become sequences: concat cuts their running text every "
                            "batch.seq tokens; best_fit keeps documents whole that fit into a "
                            "sequence, with a little padding."),
  };
}

std::vector<Setting> batch_settings(BatchConfig& b) {
  return {
      integer_setting("batch.micro_batch", b.micro_batch, {1, 65536}, "sequences",
                      "Sequences a rank computes at once."),
      integer_setting("batch.seq", b.seq, {1, 1048576}, "tokens",
                      "Tokens in a sequence; at most model.context."),
      integer_setting("batch.tokens", b.tokens, {0, 1e12}, "tokens",
                      "Tokens in a step over all ranks, reached by gradient accumulation; a "
                      "multiple of micro_batch·seq·ranks; 0 = exactly that."),
      integer_setting("batch.ramp_start_tokens", b.ramp_start_tokens, {0, 1e12}, "tokens",
                      "Batch-size ramp: tokens in a step at the start and by which it grows; a "
                      "multiple of micro_batch·seq·ranks; 0 = no ramp."),
      integer_setting("batch.ramp_tokens", b.ramp_tokens, {0, kMaxTokens}, "tokens",
                      "Batch-size ramp: trained tokens over which it reaches batch.tokens."),
  };
}

std::vector<Setting> optim_settings(OptimConfig& o) {
  ScheduleConfig& s = o.schedule;
  return {
      enum_setting<OptimKind>(
          "optim.kind", o.kind, {{"adamw", OptimKind::AdamW}, {"muon", OptimKind::Muon}},
          "adamw for everything, or muon for the layers' matrices and adamw for "
          "the rest."),
      number_setting("optim.lr", o.lr, {0, 100}, "", "Peak learning rate of AdamW."),
      number_setting("optim.beta1", o.beta1, {0, 0.999999}, "", "Decay of the first moment."),
      number_setting("optim.beta2", o.beta2, {0, 0.999999}, "", "Decay of the second moment."),
      number_setting("optim.eps", o.eps, {kTiny, 1}, "", "Added to the root of the second moment."),
      number_setting("optim.weight_decay", o.weight_decay, {0, 100}, "",
                     "Decoupled weight decay of matrices and embeddings; norms have none."),
      number_setting("optim.clip", o.clip, {0, kHuge}, "",
                     "Largest global gradient norm; 0 = no clipping."),
      number_setting("optim.muon_lr", o.muon_lr, {0, 100}, "",
                     "muon: its peak learning rate; the schedule is that of optim.lr."),
      number_setting("optim.muon_momentum", o.muon_momentum, {0, 0.999999}, "",
                     "muon: decay of the momentum."),
      number_setting("optim.muon_weight_decay", o.muon_weight_decay, {0, 100}, "",
                     "muon: decoupled weight decay of its matrices."),
      enum_setting<DType>("optim.moments", o.moments, {{"fp32", DType::F32}, {"bf16", DType::BF16}},
                          "Type of AdamW's moments; bf16 is rounded stochastically, so that small "
                          "changes are kept on average, and saves 4 bytes a parameter. Muon's "
                          "momentum is fp32 always."),
      enum_setting<ScheduleKind>("optim.schedule.kind", s.kind,
                                 {{"cosine", ScheduleKind::Cosine},
                                  {"wsd", ScheduleKind::Wsd},
                                  {"linear", ScheduleKind::Linear},
                                  {"constant", ScheduleKind::Constant}},
                                 "Shape of the learning rate after warm-up."),
      enum_setting<ScheduleUnit>("optim.schedule.unit", s.unit,
                                 {{"tokens", ScheduleUnit::Tokens}, {"steps", ScheduleUnit::Steps}},
                                 "What warmup and decay count."),
      integer_setting("optim.schedule.warmup", s.warmup, {0, kMaxTokens}, "tokens or steps",
                      "Length of the linear warm-up."),
      integer_setting("optim.schedule.decay", s.decay, {0, kMaxTokens}, "tokens or steps",
                      "wsd: length of the final linear decay."),
      number_setting("optim.schedule.final_fraction", s.final_fraction, {0, 1}, "",
                     "Last learning rate as a fraction of the peak."),
  };
}

std::vector<Setting> train_settings(TrainConfig& t) {
  return {
      integer_setting("train.seed", t.seed, {0, 9e18}, "",
                      "Seed of initial weights and sample order."),
      integer_setting("train.total_tokens", t.total_tokens, {0, kMaxTokens}, "tokens",
                      "Trained tokens to stop after; set either this or train.steps."),
      integer_setting("train.steps", t.steps, {0, 1e12}, "steps",
                      "Steps to stop after; set either this or train.total_tokens."),
      text_choice("train.precision", t.precision, {"auto", "fp32", "tf32", "bf16", "fp16", "fp8"},
                  "Type of weights and activations in products; master weights and gradients are "
                  "fp32 always. auto = bf16 on a GPU, fp32 on the CPU. tf32: fp32 whose products "
                  "round their operands, on a GPU. fp16: with a loss scale that finds its own "
                  "size, on a GPU. fp8: bf16 with the layers' products in 8 bits, on a GPU of "
                  "compute capability 8.9 or more (the CPU imitates it, slowly)."),
      flag_setting("train.fp8_head", t.fp8_head,
                   "fp8: whether the output head's products are in 8 bits too."),
      enum_setting<ActivationPolicy>("train.recompute", t.recompute,
                                     {{"none", ActivationPolicy::None},
                                      {"selective", ActivationPolicy::Selective},
                                      {"full", ActivationPolicy::Full}},
                                     "What the backward pass rebuilds instead of keeping: "
                                     "nothing, norms and activations, or whole layers."),
      integer_setting("train.keep_layers", t.keep_layers, {0, 1024}, "layers",
                      "So many of the last layers are as under train.recompute none; at most "
                      "model.layers, and 0 with train.offload_layers."),
      number_setting("train.z_loss", t.z_loss, {0, 1}, "",
                     "Weight of the squared log-partition added to each token's loss; 0 = off."),
      flag_setting("train.document_mask", t.document_mask,
                   "Whether attention stops at document boundaries."),
      integer_setting("train.loss_chunk", t.loss_chunk, {0, 1048576}, "tokens",
                      "Tokens whose logits exist at once; 0 = 512 on the CPU, 1 GiB of logits on "
                      "a GPU."),
      integer_setting("train.offload_layers", t.offload_layers, {0, 1024}, "layers",
                      "Layers whose activations wait in host memory for the backward pass; at "
                      "most model.layers. Two stay on the device: 1 or 2 save nothing."),
      flag_setting("train.deterministic", t.deterministic,
                   "Whether a GPU run gives the same bits every time; false lets the backward of "
                   "attention add in any order, which is faster."),
      integer_setting("train.eval_every", t.eval_every, {0, 1e12}, "steps",
                      "Steps between validations; 0 = only at the end."),
      integer_setting("train.eval_tokens", t.eval_tokens, {1, 1e12}, "tokens",
                      "Tokens a validation covers at most."),
      not_hashed(integer_setting("train.log_every", t.log_every, {0, 1e12}, "steps",
                                 "Steps between progress lines; 0 = one that writes over itself on "
                                 "a terminal, elsewhere one every ten seconds.")),
  };
}

std::vector<Setting> checkpoint_settings(CheckpointConfig& c) {
  return {
      not_hashed(text_setting("checkpoint.dir", c.dir, "The run's folder.")),
      integer_setting("checkpoint.every", c.every, {0, 1e12}, "steps",
                      "Steps between checkpoints; 0 = only at the end."),
      integer_setting("checkpoint.keep", c.keep, {1, 1e6}, "", "Complete checkpoints kept."),
  };
}

std::vector<Setting> system_settings(SystemConfig& s) {
  return {
      not_hashed(text_choice("system.device", s.device, {"auto", "cpu", "cuda"},
                             "Where to compute; auto = a GPU if there is one.")),
      not_hashed(text_setting("system.cache_dir", s.cache_dir,
                              "Folder for what was tuned for this GPU; empty = ingot in the "
                              "user's cache folder.")),
      not_hashed(integer_setting("system.threads", s.threads, {0, 4096}, "",
                                 "CPU threads of all ranks together; 0 = available cores.")),
      not_hashed(integer_setting("system.ranks", s.ranks, {1, 256}, "",
                                 "Local ranks, as threads of this process.")),
      not_hashed(enum_setting<DataParallel>(
          "system.data_parallel", s.data_parallel,
          {{"replicated", DataParallel::Replicated}, {"fully_sharded", DataParallel::FullySharded}},
          "Whether each rank holds all weights, or a share of "
          "them (ZeRO-3).")),
  };
}

std::vector<Setting> declare_all(RunConfig& c) {
  std::vector<Setting> all = {choice_setting(
      "preset", model_preset_names(), [&c] { return c.preset; },
      [&c](const std::string& name) {
        c.model = model_preset(name);
        c.preset = name;
      },
      "Model shape that the [model] section starts from.")};
  append(all, model_settings(c.model));
  append(all, data_settings(c.data));
  append(all, batch_settings(c.batch));
  append(all, optim_settings(c.optim));
  append(all, train_settings(c.train));
  append(all, checkpoint_settings(c.checkpoint));
  append(all, system_settings(c.system));
  return all;
}

}  // namespace

std::vector<Setting> settings_of(RunConfig& config) {
  RunConfig defaults;
  std::vector<Setting> settings = declare_all(config);
  const std::vector<Setting> default_settings = declare_all(defaults);
  for (size_t i = 0; i < settings.size(); ++i)
    settings[i].default_value = default_settings[i].get();
  return settings;
}

}  // namespace ingot
