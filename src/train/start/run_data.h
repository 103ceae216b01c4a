// The tokens of a run: what is trained on and what is held out.
#pragma once

#include <memory>
#include <vector>

#include "feed/data_identity.h"
#include "feed/same_content.h"
#include "feed/sample_stream.h"
#include "shards/token_source.h"
#include "spec/run/mixture_config.h"
#include "spec/run/run_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// What is done where data is probably not what was meant: a new run is refused, and what an older
// program began, or trained on, is opened with a warning.
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

// Opens data.train and data.valid, encoding with `tokenizer` (null: data.tokenizer); without the
// latter the last data.valid_fraction of the tokens of each training source is held out, and where
// that is 0 nothing is validated on. Validation
// is in file order and never packed by best fit, so that its loss does not depend on how training
// packs. Throws ErrorCode::Data / Config with what to do.
RunData open_run_data(Storage& storage, const RunConfig& config,
                      std::unique_ptr<Tokenizer> tokenizer = nullptr,
                      Doubts doubts = Doubts::Refuse);

// The same for a run that recorded `was`, under Doubts::Warn: of one that an older program began,
// which held out a sequence also where data.valid_fraction is 0, as that did.
RunData reopen_run_data(Storage& storage, const RunConfig& config, const DataIdentity& was,
                        std::unique_ptr<Tokenizer> tokenizer = nullptr);

// How often a run of `num_samples` passes over each source of its training data.
struct SourceEpochs {
  std::string path;
  double epochs = 0.0;
};
std::vector<SourceEpochs> epochs_of(const RunData& data, int64_t num_samples);

// Throws ErrorCode::Config when that is more often than allowed: the source's max_epochs, or where
// it has none data.max_epochs, whose 0 is once over tokens and without limit over text.
void check_epochs(const RunData& data, const DataConfig& config, int64_t num_samples);

// Throws ErrorCode::Config with both hashes and what differs when the samples that a counter counts
// are not those of `saved`, an identity as JSON text ("": nothing is known).
void check_same_data(const DataIdentity& identity, const std::string& saved,
                     const std::string& origin);

}  // namespace ingot
