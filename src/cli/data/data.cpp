// ingot data: the commands that turn raw text into token shards.
#include "cli/data/data.h"

#include "cli/command.h"

namespace ingot::cli {

void add_data(Command& app) {
  auto* data = app.add_subcommand("data", "prepare text: from raw files to token shards");
  add_data_clean(*data);
  add_data_dedup(*data);
  add_data_decontaminate(*data);
  add_data_tokenize(*data);
  add_data_mix(*data);
  add_data_verify(*data);
  add_data_inspect(*data);
  add_data_cat(*data);
  add_data_seen(*data);
  add_data_import(*data);
  add_data_export(*data);
}

}  // namespace ingot::cli
