// What of a run's data is the same under several names: counted, said, and refused where it makes
// the run another than its settings say.
#pragma once

#include "train/start/run_data.h"

namespace ingot {

// A source of a mixture that is another one's copy, or all in it, passes over the same documents as
// that: the passes of both count against max_epochs. Throws ErrorCode::Config where that is more
// than allowed, or nothing is said about it. Documents that sources share otherwise are counted in
// the log. Sources whose documents are not known by hashes are compared by passages too, whatever
// kind of file they are. `num_samples`: of the run. Under Doubts::Warn whole sources and passages
// are compared.
void check_mixture(const RunData& data, const DataConfig& config, int64_t num_samples,
                   Doubts doubts);

// Throws ErrorCode::Config where data.valid is data.train or holds documents of it, unless
// data.valid_in_train accepts that, or where half of its passages stand in it. Where data.train's
// tail is held out, documents that stand on both sides are counted in the log, or passages where
// hashes are not recorded. Under Doubts::Warn whole sources and passages are compared.
void check_held_out(const RunData& data, const DataConfig& config, Doubts doubts);

// Names in the log two folders of shards, of training or validation, whose documents begin or end
// with other marks: a model learns both, and losses of the two are of different tasks.
void warn_of_different_marks(Storage& storage, const RunData& data);

// Throws ErrorCode::Config where data.packing or train.document_mask asks for documents of a token
// file that does not say where they are, so that it would do nothing; a resume is warned.
void check_documents_are_known(const RunData& data, const RunConfig& config, Doubts doubts);

}  // namespace ingot
