// The file of `ingot eval --out`: a line of JSON for each item.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/frame/output_file.h"
#include "core/storage/storage.h"

namespace ingot::cli {

// The file appears under its name when it is complete.
class ItemLog {
 public:
  explicit ItemLog(const OutputFile& out);  // writes nothing if --out is not given
  void write(const nlohmann::ordered_json& item);
  void publish();

 private:
  std::shared_ptr<Storage> storage_ = posix_storage();
  std::optional<NewFile> file_;
  std::unique_ptr<WritableFile> writer_;
  std::string waiting_;
};

}  // namespace ingot::cli
