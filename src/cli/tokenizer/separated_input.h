// Reads documents that end with a separator from a file or stdin.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

class SeparatedInput {
 public:
  // An empty path means stdin. Text after the last separator is a document too, unless it is empty.
  // An empty separator makes all input one document. Throws ErrorCode::Data if the file cannot be
  // opened.
  SeparatedInput(const std::string& path, std::string separator);

  // The documents in the next few MiB; none at the end. The views are valid until the next call.
  // Each document is held in memory as a whole.
  std::vector<std::string_view> next();
  const std::string& name() const { return name_; }

 private:
  bool read_more();
  static void close(FILE* file) {
    if (file != stdin) std::fclose(file);
  }

  std::string name_, separator_;
  std::unique_ptr<FILE, void (*)(FILE*)> file_;
  std::string buffer_;
  size_t given_ = 0;  // bytes of the buffer that next() returned last
  bool at_end_ = false;
};

// Resolves \n, \r, \t, \0 and \\ in an argument of the command line.
std::string unescaped(std::string_view text);

}  // namespace ingot::cli
