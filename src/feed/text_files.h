// Which files of a path are text to train on.
#pragma once

#include <string>
#include <vector>

namespace ingot {

// What to do if `path` holds other kinds of files than plain text.
struct TextChoice {
  bool txt_only = false;  // data.txt_only: ignore a folder's other documents
  // False: only warn, and open the files as older programs did; for resumes of their runs.
  bool refuses = true;
};

// The file itself, or the .txt files of a folder, recursively, in byte order of their paths; empty
// files are skipped. Throws ErrorCode::Data, with what to do instead, for
//  - a file that is not plain text but that `ingot data tokenize` reads, known by its name (.jsonl,
//    .csv, .gz, …), by its first bytes (gzip, zstd, parquet) or, if the name says nothing, by its
//    first line (JSON lines);
//  - a folder with such files, or with Markdown, beside its .txt files;
//  - a folder with token shards one level below.
// Files of a folder that nothing reads are listed in the log. `tokenizer`: the run's, for the
// commands that messages suggest.
std::vector<std::string> text_files(const std::string& path, const TextChoice& choice,
                                    const std::string& tokenizer);

}  // namespace ingot
