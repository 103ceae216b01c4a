// ingot tokenizer train
#pragma once

#include <CLI/CLI.hpp>

namespace ingot::cli {

void add_tokenizer_train(CLI::App& tokenizer);  // below the command `tokenizer`

}  // namespace ingot::cli
