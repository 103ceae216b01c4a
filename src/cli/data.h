// The commands below `ingot data`, one per file of this folder.
#pragma once

#include <CLI/CLI.hpp>

namespace ingot::cli {

void add_data_cat(CLI::App& data);
void add_data_clean(CLI::App& data);
void add_data_decontaminate(CLI::App& data);
void add_data_dedup(CLI::App& data);
void add_data_export(CLI::App& data);
void add_data_import(CLI::App& data);
void add_data_inspect(CLI::App& data);
void add_data_mix(CLI::App& data);
void add_data_seen(CLI::App& data);
void add_data_tokenize(CLI::App& data);
void add_data_verify(CLI::App& data);

}  // namespace ingot::cli
