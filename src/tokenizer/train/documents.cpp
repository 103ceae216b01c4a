#include "tokenizer/train/documents.h"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "core/text/utf8.h"

namespace ingot {
namespace {

using text::is_continuation;

// A stretch of this length extends to the end of its line, or is cut at twice the length.
constexpr size_t kStretchBytes = 4096;

// Bytes of the first `characters` of text.
size_t prefix_bytes(std::string_view text, int64_t characters) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!is_continuation(text[end]) && characters-- == 0) break;
  }
  return end;
}

size_t stretch_bytes(std::string_view text) {
  if (text.size() <= 2 * kStretchBytes) return text.size();
  const size_t line_end = text.find('\n', kStretchBytes);
  if (line_end < 2 * kStretchBytes) return line_end + 1;
  size_t end = 2 * kStretchBytes;
  while (end > kStretchBytes && is_continuation(text[end])) --end;
  return end;
}

// std::function copies its callable, so what changes is shared.
struct Stretches {
  NextDocument next;
  std::string document;
  std::string_view rest;

  bool operator()(std::string& stretch) {
    if (rest.empty()) {
      if (!next(document)) return false;
      rest = document;
    }
    const size_t size = stretch_bytes(rest);
    stretch = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
};

}  // namespace

int64_t count_characters(std::string_view text) {
  int64_t count = 0;
  for (const char c : text) count += is_continuation(c) ? 0 : 1;
  return count;
}

DocumentSample::DocumentSample(NextDocument stream, SampleLimit limit) : limit_(limit) {
  const NextDocument next = parts_of(std::move(stream));
  std::string text;
  for (int64_t number = 0; next(text); ++number) add(part(number, count_characters(text)));
}

NextDocument DocumentSample::parts_of(NextDocument stream) const {
  if (limit_.documents > 0) return stream;
  auto stretches = std::make_shared<Stretches>();
  stretches->next = std::move(stream);
  return [stretches](std::string& text) { return (*stretches)(text); };
}

DocumentSample::Part DocumentSample::part(int64_t number, int64_t characters) const {
  return {XXH3_64bits_withSeed(&number, sizeof(number), limit_.seed), number, characters};
}

void DocumentSample::add(Part part) {
  heap_.push_back(part);
  std::push_heap(heap_.begin(), heap_.end());
  characters_ += part.characters;
  const auto is_too_much = [&] {
    return (limit_.documents > 0 && std::ssize(heap_) > limit_.documents) ||
           (limit_.characters > 0 && characters_ - heap_.front().characters >= limit_.characters);
  };
  while (is_too_much()) {
    characters_ -= heap_.front().characters;
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
  }
}

NextDocument DocumentSample::of(NextDocument stream) const {
  const auto number = std::make_shared<int64_t>(0), taken = std::make_shared<int64_t>(0);
  return [this, next = parts_of(std::move(stream)), number, taken](std::string& text) {
    while (*taken < std::ssize(heap_) && next(text)) {
      const Part& last = heap_.front();
      const Part here = part((*number)++, 0);
      if (last < here) continue;
      ++*taken;
      if (here.number == last.number && limit_.characters > 0) {
        const int64_t before = characters_ - last.characters;
        text.resize(prefix_bytes(text, limit_.characters - before));
      }
      return true;
    }
    return false;
  };
}

}  // namespace ingot
