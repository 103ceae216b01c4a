// Text whose bytes are known to be the template's own or a message's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

struct RenderedSpan {
  size_t begin = 0, end = 0;   // bytes of the text
  bool from_template = false;  // else from a message, or made of one
  bool in_generation = false;  // inside {% generation %}

  bool operator==(const RenderedSpan&) const = default;
};

// The spans are in order, cover the text, and neighbours differ.
struct MarkedText {
  std::string text = {};
  std::vector<RenderedSpan> spans = {};

  MarkedText() = default;
  MarkedText(std::string_view whole, bool from_template) { append(whole, from_template); }

  void append(std::string_view part, bool from_template, bool in_generation = false);
  void append(const MarkedText& other) { append(other, 0, other.text.size()); }
  void append(const MarkedText& other, size_t begin, size_t end);  // bytes of `other`
  MarkedText part(size_t begin, size_t end) const;
  void mark_generation();         // all of it
  bool is_from_template() const;  // all of it; also if it is empty
};

}  // namespace ingot
