// Text files as a stream of documents.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/train/documents.h"

namespace ingot::cli {

// Of a text that is too long to be held whole: where its first part ends; 0: anywhere.
using CutText = std::function<size_t(std::string_view text)>;

// A file is a document; of .jsonl files every line's "text" is one. Folders are read in order of
// names, with all that is below them. Of a long text file, parts of about 16 MiB come one after
// another, cut where `cut` says. The stream throws ErrorCode::Data on a line that is not what it
// should be, and where there is nothing to read.
NextDocument text_documents(const std::vector<std::string>& paths, CutText cut);

}  // namespace ingot::cli
