// The tokens of a run, for training and for validation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "feed/data_identity.h"
#include "feed/same_content.h"
#include "feed/sample_stream.h"
#include "shards/token_source.h"
#include "spec/run/mixture_config.h"
#include "spec/run/run_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// What to do with data that is probably not what was meant: refuse a new run, but only warn about
// data that an older program began or trained on.
enum class Doubts { Refuse, Warn };

struct RunData {
  std::unique_ptr<Tokenizer> tokenizer;
  std::vector<std::unique_ptr<TokenSource>> sources;  // files, and views where valid is cut off
  std::vector<MixtureSource> mixture;                 // of training, in the stream's order
  std::vector<NamedSource> whole;                     // its sources before a tail was cut off
  std::vector<NamedSource> held_out;                  // those of validation
  std::unique_ptr<SampleStream> train;
  std::unique_ptr<SampleStream> valid;  // null: nothing to validate on
  DataIdentity identity;                // of training
};

// Opens data.train and data.valid, and encodes text with `tokenizer` (null: data.tokenizer).
// Without data.valid the last data.valid_fraction of each training source's tokens is held out; 0:
// no validation. Validation data is in file order and never packed by best fit, so that its loss
// does not depend on how training packs. Throws ErrorCode::Data or Config with what to do.
RunData open_run_data(Storage& storage, const RunConfig& config,
                      std::unique_ptr<Tokenizer> tokenizer = nullptr,
                      Doubts doubts = Doubts::Refuse);

// The same for a run that recorded `was`, under Doubts::Warn. Older programs held out one sequence
// even if data.valid_fraction was 0; a run that they began keeps it.
RunData reopen_run_data(Storage& storage, const RunConfig& config, const DataIdentity& was,
                        std::unique_ptr<Tokenizer> tokenizer = nullptr);

// How often a run of `num_samples` passes over each source of its training data.
struct SourceEpochs {
  std::string path;
  double epochs = 0.0;
};
std::vector<SourceEpochs> epochs_of(const RunData& data, int64_t num_samples);

// "0.54", "2.3: data is repeated"; of several sources each by its name.
std::string epochs_text(const std::vector<SourceEpochs>& epochs);

// Throws ErrorCode::Config if a source would be passed over more often than allowed: its
// max_epochs, or data.max_epochs if it has none. data.max_epochs = 0 allows one pass over token
// files and any number over text.
void check_epochs(const RunData& data, const DataConfig& config, int64_t num_samples);

// Throws ErrorCode::Config, with both hashes and what differs, if this data has other samples than
// `saved`, an identity as JSON text (empty: not known).
void check_same_data(const DataIdentity& identity, const std::string& saved,
                     const std::string& origin);

}  // namespace ingot
