// Which files of a path are text to train on.
#pragma once

#include <string>
#include <vector>

namespace ingot {

// What is done where `path` holds more, or other, than plain text.
struct TextChoice {
  bool txt_only = false;  // data.txt_only: a folder's other documents are left out
  // False: what an older program trained on so is opened as it did, with a warning.
  bool refuses = true;
};

// The file itself, or the .txt files of a folder (recursively, in byte order of their paths; empty
// ones hold no document and are passed over). Throws ErrorCode::Data, with what to do instead,
// where a file holds documents of a kind that `ingot data tokenize` reads but no plain text (by
// name: .jsonl, .csv, .gz, …; by first bytes: gzip, zstd, parquet; by the first line of a file
// whose name says nothing: JSON lines), where a folder holds token shards one level below, and
// where a folder holds such files or Markdown beside its .txt. What a folder holds that nothing
// reads is listed in the log. `tokenizer` names the run's in the commands that help.
std::vector<std::string> text_files(const std::string& path, const TextChoice& choice,
                                    const std::string& tokenizer);

}  // namespace ingot
