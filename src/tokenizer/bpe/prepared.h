// A byte-level BPE tokenizer with the tables that it works with, kept from run to run: a large
// vocabulary is read and prepared in a tenth of the time that its file takes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/storage/storage.h"
#include "tokenizer/bpe/archive.h"
#include "tokenizer/bpe/model.h"

namespace ingot {

// What the tokenizer was made of: equal sources have equal keys.
using SourceKey = std::array<uint64_t, 2>;
SourceKey source_key(const std::vector<std::string_view>& sources);

// The tokenizer kept in `folder` under the key; null where there is none, or none that is whole, of
// this version of the program and of this key. Ids in it are checked, too: a file that somebody
// else wrote must not lead outside the tables.
std::unique_ptr<Tokenizer> load_prepared(Storage& storage, const std::string& folder,
                                         const SourceKey& key);
// Keeps a tokenizer of kind "bpe"; others are left. Written aside and renamed. Of the folder's
// files some are removed where they are many. Failures are no errors: the next run reads the
// source.
void keep_prepared(Storage& storage, const std::string& folder, const SourceKey& key,
                   const Tokenizer& tokenizer);

// Parts of these.
void save_bpe_model(const BpeModel& model, ArchiveWriter& writer);
BpeModel read_bpe_model(ArchiveReader& reader);
bool save_bpe_tokenizer(const Tokenizer& tokenizer,
                        ArchiveWriter& writer);  // false: of another kind
std::unique_ptr<Tokenizer> read_bpe_tokenizer(ArchiveReader& reader);

}  // namespace ingot
