// Which files of a folder are documents, where a stage of data preparation wrote into it.
#pragma once

#include <filesystem>

namespace ingot {

// The folder to read in place of `folder`: the documents of a stage's output, without what it
// removed, its reports and records; any other folder itself. Throws ErrorCode::Data where the stage
// has not finished, where the folder holds token shards, and, with the choices, where it is not
// clear which documents are meant: outputs of stages below it, or kept and removed documents side
// by side. `own_output`, that of the command that asks, is no such choice; empty: there is none.
std::filesystem::path documents_folder(const std::filesystem::path& folder,
                                       const std::filesystem::path& own_output = {});

// Whether both are one folder, which is there.
bool is_same_folder(const std::filesystem::path& a, const std::filesystem::path& b);

// Throws ErrorCode::Data where `path`, with links followed, lies among what a stage has written and
// not finished.
void check_is_finished(const std::filesystem::path& path);

// Token shards, which have files of their own and no documents.
bool holds_token_shards(const std::filesystem::path& folder);

}  // namespace ingot
