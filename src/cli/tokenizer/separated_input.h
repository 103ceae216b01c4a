// A file or stdin as documents that a separator ends.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

class SeparatedInput {
 public:
  // No path: stdin. A separator ends a document, and so does the end of the input, unless nothing
  // came since the last separator; without one all is one document. Throws ErrorCode::Data when the
  // file cannot be opened.
  SeparatedInput(const std::string& path, std::string separator);

  // The documents of the next few MiB, views that last until the next call; none at the end. A
  // document is held whole.
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
  size_t given_ = 0;  // bytes of the buffer that next() gave last
  bool at_end_ = false;
};

// What a user wrote on the command line, with \n, \r, \t, \0 and \\ made what they stand for.
std::string unescaped(std::string_view text);

}  // namespace ingot::cli
