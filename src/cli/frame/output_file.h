// A file that the user names and a command writes: never over one that is there, unless the user
// asks for that. What a command may continue (stages, runs) is a folder and no matter of this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/new_output.h"
#include "cli/frame/command.h"

namespace ingot::cli {

class OutputFile {
 public:
  // The option `name` ("--out") and --force. This must live until the command has run.
  Option* add_to(Command& command, const std::string& name, const std::string& help);

  const std::string& path() const { return path_; }
  bool is_given() const { return !path_.empty(); }

  // Before the work begins: throws ErrorCode::Usage that names the first of `files`, which the
  // command is going to write, in whose place there is something. Pipes and devices are written
  // into; --force lets regular files be replaced, never folders.
  void check_free(const std::vector<std::string>& files) const;
  void check_free() const { check_free({path_}); }
  // Checks again, then writes `file`: whole or not at all.
  void write(const std::string& file, std::string_view contents) const;

  // For what writes by itself.
  NewFile::Existing existing() const {
    return force_ ? NewFile::Existing::Replaced : NewFile::Existing::Refused;
  }

 private:
  std::string path_, name_;
  bool force_ = false;
};

}  // namespace ingot::cli
