// Finds equal data under several names. It is counted and reported, and refused where it would make
// the run something else than its settings say.
#pragma once

#include "train/start/run_data.h"

namespace ingot {

// If a source of a mixture is a copy or a part of another, the run passes over the same documents
// twice, so the passes of both count against max_epochs. Throws ErrorCode::Config if that exceeds
// max_epochs, or if max_epochs is not set. Other shared documents are counted in the log. Sources
// without document hashes are compared by passages, whatever kind of file they are. `num_samples`:
// of the run. Under Doubts::Warn only whole sources and passages are compared.
void check_mixture(const RunData& data, const DataConfig& config, int64_t num_samples,
                   Doubts doubts);

// Throws ErrorCode::Config if data.valid is data.train or shares documents with it, unless
// data.valid_in_train accepts that, or if half of its passages are in data.train. If the tail of
// data.train is held out, documents on both sides are counted in the log (passages, where no hashes
// are recorded). Under Doubts::Warn only whole sources and passages are compared.
void check_held_out(const RunData& data, const DataConfig& config, Doubts doubts);

// Names in the log two folders of shards, of training or validation, whose documents begin or end
// with other marks: a model learns both, and losses of the two are of different tasks.
void warn_of_different_marks(Storage& storage, const RunData& data);

// Throws ErrorCode::Config if data.packing or train.document_mask needs document boundaries that a
// token file does not have, so that the setting would do nothing. A resume only warns.
void check_documents_are_known(const RunData& data, const RunConfig& config, Doubts doubts);

}  // namespace ingot
