#include "cli/tokenizer/separated_input.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/error/error.h"

namespace ingot::cli {
namespace {

constexpr size_t kReadBytes = size_t{4} << 20;

}  // namespace

SeparatedInput::SeparatedInput(const std::string& path, std::string separator)
    : name_(path.empty() ? "stdin" : path),
      separator_(std::move(separator)),
      file_(path.empty() ? stdin : std::fopen(path.c_str(), "rb"), &close) {
  check(file_ != nullptr, ErrorCode::Data, "{}: {}", name_, std::strerror(errno));
}

bool SeparatedInput::read_more() {
  const size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  const size_t count = std::fread(buffer_.data() + before, 1, kReadBytes, file_.get());
  check(std::ferror(file_.get()) == 0, ErrorCode::Storage, "{}: {}", name_, std::strerror(errno));
  buffer_.resize(before + count);
  return count > 0;
}

std::vector<std::string_view> SeparatedInput::next() {
  buffer_.erase(0, given_);
  given_ = 0;
  std::vector<std::string_view> documents;
  for (size_t searched = 0; documents.empty() && !at_end_;) {
    at_end_ = !read_more();
    const std::string_view text = buffer_;
    while (!separator_.empty()) {
      const size_t end = text.find(separator_, std::max(given_, searched));
      if (end == std::string_view::npos) break;
      documents.push_back(text.substr(given_, end - given_));
      given_ = end + separator_.size();
    }
    // What was read now may end with the beginning of a separator.
    searched = text.size() < separator_.size() ? 0 : text.size() - separator_.size();
  }
  if (at_end_ && given_ < buffer_.size()) {
    documents.push_back(std::string_view(buffer_).substr(given_));
    given_ = buffer_.size();
  }
  return documents;
}

std::string unescaped(std::string_view text) {
  constexpr std::string_view kNames = "nrt0\\", kMeanings("\n\r\t\0\\", 5);
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t name =
        text[i] == '\\' && i + 1 < text.size() ? kNames.find(text[i + 1]) : std::string_view::npos;
    plain += name == std::string_view::npos ? text[i] : kMeanings[name];
    i += name == std::string_view::npos ? 0 : 1;
  }
  return plain;
}

}  // namespace ingot::cli
