// The tokens of a run: what is trained on and what is held out.
#pragma once

#include <memory>

#include "data/serve/loader.h"
#include "data/serve/token_source.h"
#include "spec/run_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct RunData {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<TokenSource> train_file, valid_file;  // as opened; valid_file may be absent
  std::unique_ptr<TokenSource> train_part, valid_part;  // views when valid is cut from train
  const TokenSource* train = nullptr;
  const TokenSource* valid = nullptr;
};

// Opens data.train and data.valid; without the latter the last data.valid_fraction of the training
// tokens is held out. Throws ErrorCode::Data / Config with what to do.
RunData open_run_data(Storage& storage, const RunConfig& config);

}  // namespace ingot
