#include "tokenizer/chat/marked_text.h"

#include <algorithm>

namespace ingot {

void MarkedText::append(std::string_view part, bool from_template, bool in_generation) {
  if (part.empty()) return;
  const size_t begin = text.size();
  text += part;
  if (!spans.empty() && spans.back().from_template == from_template &&
      spans.back().in_generation == in_generation) {
    spans.back().end = text.size();
  } else {
    spans.push_back({begin, text.size(), from_template, in_generation});
  }
}

void MarkedText::append(const MarkedText& other, size_t begin, size_t end) {
  const std::string_view bytes = other.text;
  for (const RenderedSpan& span : other.spans) {
    const size_t first = std::max(begin, span.begin), last = std::min(end, span.end);
    if (first < last)
      append(bytes.substr(first, last - first), span.from_template, span.in_generation);
  }
}

MarkedText MarkedText::part(size_t begin, size_t end) const {
  MarkedText made;
  made.append(*this, begin, end);
  return made;
}

void MarkedText::mark_generation() {
  MarkedText marked;
  for (const RenderedSpan& span : spans)
    marked.append(std::string_view(text).substr(span.begin, span.end - span.begin),
                  span.from_template, true);
  *this = std::move(marked);
}

bool MarkedText::is_from_template() const {
  return std::ranges::all_of(spans, [](const RenderedSpan& span) { return span.from_template; });
}

}  // namespace ingot
