// Finds the documents in the output folder of a data job.
#pragma once

#include <filesystem>

namespace ingot {

// The folder to read instead of `folder`: for a job's output its documents, without removed
// documents, reports and records; any other folder itself. Throws ErrorCode::Data if the job has
// not finished or the folder holds token shards. Also throws, with the choices, if it is ambiguous
// which documents are meant: outputs of jobs below it, or kept and removed documents side by side.
// `own_output`, the output of the calling command, is no such choice; empty: there is none.
std::filesystem::path documents_folder(const std::filesystem::path& folder,
                                       const std::filesystem::path& own_output = {});

// Whether both are the same existing folder.
bool is_same_folder(const std::filesystem::path& a, const std::filesystem::path& b);

// Throws ErrorCode::Data if `path`, after resolving links, is in the output of an unfinished job.
void check_is_finished(const std::filesystem::path& path);

// Whether the folder holds token shards, which are not documents.
bool holds_token_shards(const std::filesystem::path& folder);

}  // namespace ingot
