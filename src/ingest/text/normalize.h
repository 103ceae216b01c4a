// The normal form in which near-duplicates are compared: MinHash, Bloom, sentence dedup,
// decontamination.
#pragma once

#include <string>
#include <string_view>

namespace ingot::text {

// The rules. Datatrove010 and FinewebV1: lower case, numbers to "0", punctuation to spaces,
// whitespace collapsed, NFD without nonspacing marks, stripped; they differ in what counts as a
// number. Datatrove02 deletes punctuation after collapsing whitespace, and replaces numbers last.
enum class NormalForm { Datatrove010, FinewebV1, Datatrove02 };

// `text` must be valid UTF-8; `out` is overwritten.
void normalize(NormalForm form, std::string_view text, std::string& out);

}  // namespace ingot::text
