// A file that the user names and a command writes. An existing file is never overwritten unless the
// user asks for it. Folders that a command may continue (stages, runs) are not handled here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/new_output.h"
#include "cli/frame/command.h"

namespace ingot::cli {

class OutputFile {
 public:
  // Adds the option `name` ("--out") and --force. This object must live until the command has run.
  Option* add_to(Command& command, const std::string& name, const std::string& help);

  const std::string& path() const { return path_; }
  bool is_given() const { return !path_.empty(); }

  // Call this before the work begins, with the `files` that the command will write. Throws
  // ErrorCode::Usage, naming the first one that exists. Pipes and devices are accepted. --force
  // allows regular files to be replaced, never folders.
  void check_free(const std::vector<std::string>& files) const;
  void check_free() const { check_free({path_}); }
  // Checks again, then writes `file` atomically.
  void write(const std::string& file, std::string_view contents) const;

  // For code that writes the file itself.
  NewFile::Existing existing() const {
    return force_ ? NewFile::Existing::Replaced : NewFile::Existing::Refused;
  }

 private:
  std::string path_, name_;
  bool force_ = false;
};

}  // namespace ingot::cli
