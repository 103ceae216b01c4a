// Every command of the program, in the order of its help. A new one is a file of its own, two lines
// here and a test.
#include "cli/command.h"

namespace ingot::cli {

void add_bench(Command& program);
void add_checkpoint(Command& program);
void add_completion(Command& program);
void add_config(Command& program);
void add_data(Command& program);
void add_generate(Command& program);
void add_quickstart(Command& program);
void add_tokenizer(Command& program);
void add_train(Command& program);
void add_version(Command& program);

void add_commands(Command& program) {
  add_quickstart(program);
  add_config(program);
  add_train(program);
  add_generate(program);
  add_checkpoint(program);
  add_data(program);
  add_tokenizer(program);
  add_bench(program);
  add_completion(program);
  add_version(program);
}

}  // namespace ingot::cli
