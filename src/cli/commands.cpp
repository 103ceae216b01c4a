// Every command of the program, in the order of its help. A new one is a file of its own in the
// folder of its group, two lines here and a test.
#include "cli/frame/command.h"

namespace ingot::cli {

void add_bench_comm(Command& bench);
void add_bench_decode(Command& bench);
void add_bench_encode(Command& bench);
void add_bench_limit(Command& bench);
void add_bench_ops(Command& bench);
void add_bench_train(Command& bench);
void add_checkpoint_diff(Command& checkpoint);
void add_checkpoint_export(Command& checkpoint);
void add_checkpoint_import(Command& checkpoint);
void add_checkpoint_logits(Command& checkpoint);
void add_checkpoint_ls(Command& checkpoint);
void add_checkpoint_show(Command& checkpoint);
void add_checkpoint_verify(Command& checkpoint);
void add_completion(Command& program);
void add_config_keys(Command& config);
void add_config_show(Command& config);
void add_data_cat(Command& data);
void add_data_clean(Command& data);
void add_data_decontaminate(Command& data);
void add_data_dedup(Command& data);
void add_data_export(Command& data);
void add_data_import(Command& data);
void add_data_inspect(Command& data);
void add_data_mix(Command& data);
void add_data_seen(Command& data);
void add_data_tokenize(Command& data);
void add_data_verify(Command& data);
void add_eval(Command& program);
void add_generate(Command& program);
void add_launch(Command& program);
void add_man(Command& program);
void add_plan_memory(Command& plan);
void add_probe(Command& program);
void add_quickstart(Command& program);
void add_smoke(Command& program);
void add_tokenizer_chat(Command& tokenizer);
void add_tokenizer_compare(Command& tokenizer);
void add_tokenizer_convert(Command& tokenizer);
void add_tokenizer_decode(Command& tokenizer);
void add_tokenizer_encode(Command& tokenizer);
void add_tokenizer_info(Command& tokenizer);
void add_tokenizer_train(Command& tokenizer);
void add_train(Command& program);
void add_version(Command& program);

void add_commands(Command& program) {
  add_quickstart(program);

  Command& config =
      *program.add_subcommand("config", "show what a run would do, and every setting there is");
  add_config_show(config);
  add_config_keys(config);

  Command& plan = *program.add_subcommand("plan", "plan a run before it begins");
  add_plan_memory(plan);

  add_probe(program);
  add_smoke(program);

  add_train(program);
  add_launch(program);
  add_generate(program);
  add_eval(program);

  Command& checkpoint =
      *program.add_subcommand("checkpoint", "inspect, compare, import and export checkpoints");
  add_checkpoint_ls(checkpoint);
  add_checkpoint_show(checkpoint);
  add_checkpoint_verify(checkpoint);
  add_checkpoint_import(checkpoint);
  add_checkpoint_export(checkpoint);
  add_checkpoint_diff(checkpoint);
  add_checkpoint_logits(checkpoint);

  Command& data = *program.add_subcommand("data", "prepare text: from raw files to token shards");
  add_data_clean(data);
  add_data_dedup(data);
  add_data_decontaminate(data);
  add_data_tokenize(data);
  add_data_mix(data);
  add_data_verify(data);
  add_data_inspect(data);
  add_data_cat(data);
  add_data_seen(data);
  add_data_import(data);
  add_data_export(data);

  Command& tokenizer = *program.add_subcommand("tokenizer", "train, use and compare tokenizers");
  add_tokenizer_train(tokenizer);
  add_tokenizer_encode(tokenizer);
  add_tokenizer_decode(tokenizer);
  add_tokenizer_info(tokenizer);
  add_tokenizer_compare(tokenizer);
  add_tokenizer_convert(tokenizer);
  add_tokenizer_chat(tokenizer);

  Command& bench = *program.add_subcommand("bench", "measure this machine and this program on it");
  add_bench_ops(bench);
  add_bench_train(bench);
  add_bench_limit(bench);
  add_bench_comm(bench);
  add_bench_decode(bench);
  add_bench_encode(bench);

  add_completion(program);
  add_man(program);
  add_version(program);
}

}  // namespace ingot::cli
