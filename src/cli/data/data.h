// The commands below `ingot data`, one per file of this folder.
#pragma once

#include "cli/command_line.h"

namespace ingot::cli {

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

}  // namespace ingot::cli
