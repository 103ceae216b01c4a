#include "train/run_data.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace ingot {

RunData open_run_data(Storage& storage, const RunConfig& config) {
  RunData data;
  check(
      !config.data.train.empty(), ErrorCode::Config,
      "data.train is empty: set it to a text file, a folder of .txt files or a token file (.bin)");
  data.tokenizer = load_tokenizer(storage, config.data.tokenizer);
  check(data.tokenizer->vocab_size() <= config.model.vocab, ErrorCode::Config,
        "model.vocab is {}, but the {} tokenizer has {} ids: set model.vocab to at least that",
        config.model.vocab, data.tokenizer->kind(), data.tokenizer->vocab_size());
  auto open = [&](const std::string& path) {
    return open_token_source(path, *data.tokenizer, config.data.token_dtype, config.model.vocab);
  };
  data.train_file = open(config.data.train);
  const int64_t T = config.batch.seq;
  if (!config.data.valid.empty()) {
    data.valid_file = open(config.data.valid);
    data.train = data.train_file.get();
    data.valid = data.valid_file.get();
  } else {
    const int64_t total = data.train_file->num_tokens();
    const auto held_out =
        std::max(T + 1, static_cast<int64_t>(
                            std::llround(config.data.valid_fraction * static_cast<double>(total))));
    check(total >= held_out + T + 1, ErrorCode::Data,
          "{} has {} tokens, too few for one training and one validation sequence of {}: use more "
          "text or a smaller batch.seq",
          config.data.train, total, T);
    data.train_part = subrange(*data.train_file, 0, total - held_out);
    data.valid_part = subrange(*data.train_file, total - held_out, total);
    data.train = data.train_part.get();
    data.valid = data.valid_part.get();
  }
  return data;
}

}  // namespace ingot
