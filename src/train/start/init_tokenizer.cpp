#include "train/start/init_tokenizer.h"

#include "core/error/error.h"
#include "core/error/log.h"
#include "tokenizer/same_ids.h"

namespace ingot {
namespace {

// Without a tokenizer of its own a checkpoint is of bytes, or of ids that came in a token file or
// with weights alone, of which nobody said what they mean.
bool says_nothing(const CheckpointInfo& info) {
  if (info.tokenizer != "byte") return false;
  if (!info.has_optimizer) return true;
  const DataConfig data = parse_run_config(info.config_toml, info.dir, {}).data;
  return data.tokenizer != "byte" || data.train.ends_with(".bin");
}

// Null where an older program kept a copy of one of the several files that make up a tokenizer.
std::unique_ptr<Tokenizer> tokenizer_of(Storage& storage, const CheckpointInfo& info) {
  try {
    return load_tokenizer(storage, info.tokenizer);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

void check_init_tokenizer(Storage& storage, const CheckpointInfo& from, const Tokenizer& tokenizer,
                          const RunConfig& config) {
  const auto of_weights = tokenizer_of(storage, from);
  const std::string difference = of_weights ? id_difference(*of_weights, tokenizer) : "";
  if (of_weights && difference.empty()) return;
  if (!of_weights || says_nothing(from)) {
    log::warn("tokenizer_of_init_unknown",
              {{"train.init", from.dir}, {"used", config.data.tokenizer}});
    return;
  }
  check(config.train.other_tokenizer, ErrorCode::Config,
        "data.tokenizer {} is not the tokenizer that the weights of train.init {} were trained "
        "with ({}): leave data.tokenizer out, and it is the checkpoint's; or train on other ids by "
        "--set train.other_tokenizer=true",
        config.data.tokenizer, from.dir, difference);
  log::warn("other_tokenizer", {{"train.init", from.dir}, {"difference", difference}});
}

}  // namespace ingot
