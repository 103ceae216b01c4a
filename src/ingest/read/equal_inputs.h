// Detects inputs that would be read twice under different names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/read/document_reader.h"

namespace ingot {

// What is wrong with reading all of `files`, with advice; empty: nothing.

// Two of them are the same file: through links, overlapping folders, or equal addresses.
std::string same_file_twice(const std::vector<InputFile>& files);

// Two of the user's inputs hold the same files under any names. Reads only inputs whose files have
// equal sizes, `threads` files at a time.
std::string equal_inputs(const std::vector<InputFile>& files, int64_t threads);

// Counts the files that hold the same as an earlier one, when they have been read.
class EqualFiles {
 public:
  void add(const InputFile& file, const InputContent& content);
  int64_t count() const { return count_; }
  const std::vector<std::string>& examples() const { return examples_; }  // "b.txt = a.txt"

 private:
  std::map<std::string, std::string> name_of_;  // by the hash
  int64_t count_ = 0;
  std::vector<std::string> examples_;
};

// What a user is told about them, with advice.
std::string text_of_equal_files(int64_t count, const std::vector<std::string>& examples);

}  // namespace ingot
