#include "cli/text_documents.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.h"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPartBytes = size_t{16} << 20;

std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    check(fs::exists(path), ErrorCode::Data, "{} does not exist", path);
    const auto first = static_cast<std::ptrdiff_t>(files.size());
    if (!fs::is_directory(path)) {
      files.push_back(path);
    } else {
      for (const auto& entry : fs::recursive_directory_iterator(path)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string());
      }
    }
    std::sort(files.begin() + first, files.end());
  }
  check(!files.empty(), ErrorCode::Data, "nothing to read: expected files, got empty folders");
  return files;
}

class TextFiles {
 public:
  TextFiles(const std::vector<std::string>& paths, CutText cut)
      : files_(files_of(paths)), cut_(std::move(cut)) {}

  bool next(std::string& document) {
    while (!(is_jsonl_ ? take_line(document) : take_part(document))) {
      if (next_file_ == files_.size()) return false;
      path_ = files_[next_file_++];
      file_ = std::ifstream(path_, std::ios::binary);
      check(file_.is_open(), ErrorCode::Storage, "cannot open {}", path_);
      is_jsonl_ = path_.ends_with(".jsonl");
      left_ = static_cast<size_t>(fs::file_size(path_));
      line_ = 0;
    }
    return true;
  }

 private:
  bool take_line(std::string& text) {
    std::string line;
    if (!std::getline(file_, line)) {
      check(!file_.bad(), ErrorCode::Storage, "{}: cannot read on after line {}", path_, line_);
      return false;
    }
    ++line_;
    const auto json = nlohmann::json::parse(line, nullptr, false);
    check(json.is_object() && json.contains("text") && json["text"].is_string(), ErrorCode::Data,
          "{}, line {}: expected a JSON object with a string «text»", path_, line_);
    text = json["text"].get<std::string>();
    return true;
  }

  bool take_part(std::string& text) {
    if (left_ == 0) return false;
    const size_t held = rest_.size(), more = std::min(left_, kPartBytes);
    rest_.resize(held + more);
    file_.read(rest_.data() + held, static_cast<std::streamsize>(more));
    check(!file_.fail(), ErrorCode::Storage, "{}: cannot read on after {} bytes", path_,
          file_.gcount());
    left_ -= more;
    text = std::exchange(rest_, {});
    if (left_ > 0) {
      if (const size_t end = cut_(text); end > 0) {
        rest_ = text.substr(end);
        text.resize(end);
      }
    }
    return true;
  }

  std::vector<std::string> files_;
  CutText cut_;
  size_t next_file_ = 0;
  std::string path_;
  std::ifstream file_;
  bool is_jsonl_ = false;
  size_t left_ = 0;  // bytes of a text file that were not read yet
  int64_t line_ = 0;
  std::string rest_;  // read, and behind the last cut
};

}  // namespace

NextDocument text_documents(const std::vector<std::string>& paths, CutText cut) {
  auto files = std::make_shared<TextFiles>(paths, std::move(cut));  // std::function copies
  return [files](std::string& document) { return files->next(document); };
}

}  // namespace ingot::cli
