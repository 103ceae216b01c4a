// Stores byte-level BPE tokenizers with their prepared tables between runs: loading a large
// vocabulary then takes a tenth of the time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/storage/storage.h"
#include "tokenizer/bpe/archive.h"
#include "tokenizer/bpe/model.h"

namespace ingot {

// A hash of the tokenizer's source files: equal sources have equal keys.
using SourceKey = std::array<uint64_t, 2>;
SourceKey source_key(const std::vector<std::string_view>& sources);

// The tokenizer stored in `folder` under the key. Null if there is none, or if it is damaged or of
// another program version or key. Ids in it are checked too: a file written by somebody else must
// not cause accesses outside the tables.
std::unique_ptr<Tokenizer> load_prepared(Storage& storage, const std::string& folder,
                                         const SourceKey& key);
// Stores a tokenizer of kind "bpe"; ignores others. Writes a temporary file and renames it. Removes
// some of the folder's files if there are many. Failures are not errors: the next run reads the
// source.
void keep_prepared(Storage& storage, const std::string& folder, const SourceKey& key,
                   const Tokenizer& tokenizer);

// Used by these functions.
void save_bpe_model(const BpeModel& model, ArchiveWriter& writer);
BpeModel read_bpe_model(ArchiveReader& reader);
bool save_bpe_tokenizer(const Tokenizer& tokenizer,
                        ArchiveWriter& writer);  // false: another kind
std::unique_ptr<Tokenizer> read_bpe_tokenizer(ArchiveReader& reader);

}  // namespace ingot
