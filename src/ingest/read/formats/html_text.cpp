#include "ingest/read/formats/html_text.h"

#include <algorithm>
#include <iterator>

#include "core/text/ascii.h"

namespace ingot {
namespace {

enum class Effect {
  Inline,
  Block,      // a line of its own
  Paragraph,  // and an empty line before and after
  LineBreak,
  Cell,
  Preformatted,
  RawText,   // no tags within; not shown
  Hidden,    // with what it holds
  Head,      // ends where something begins that cannot be in it
  Metadata,  // can be in it
};

struct Element {
  std::string_view name;
  Effect effect;
};
// Sorted by name; what is not here is inline.
constexpr Element kElements[] = {
    {"address", Effect::Block},    {"article", Effect::Block},    {"aside", Effect::Block},
    {"audio", Effect::Hidden},     {"base", Effect::Metadata},    {"blockquote", Effect::Block},
    {"body", Effect::Block},       {"br", Effect::LineBreak},     {"canvas", Effect::Hidden},
    {"caption", Effect::Block},    {"center", Effect::Block},     {"dd", Effect::Block},
    {"details", Effect::Block},    {"dialog", Effect::Block},     {"dir", Effect::Block},
    {"div", Effect::Block},        {"dl", Effect::Block},         {"dt", Effect::Block},
    {"fieldset", Effect::Block},   {"figcaption", Effect::Block}, {"figure", Effect::Block},
    {"footer", Effect::Block},     {"form", Effect::Block},       {"h1", Effect::Paragraph},
    {"h2", Effect::Paragraph},     {"h3", Effect::Paragraph},     {"h4", Effect::Paragraph},
    {"h5", Effect::Paragraph},     {"h6", Effect::Paragraph},     {"head", Effect::Head},
    {"header", Effect::Block},     {"hgroup", Effect::Block},     {"hr", Effect::Block},
    {"html", Effect::Block},       {"iframe", Effect::RawText},   {"legend", Effect::Block},
    {"li", Effect::Block},         {"link", Effect::Metadata},    {"listing", Effect::Preformatted},
    {"main", Effect::Block},       {"menu", Effect::Block},       {"meta", Effect::Metadata},
    {"nav", Effect::Block},        {"noembed", Effect::RawText},  {"noframes", Effect::RawText},
    {"noscript", Effect::RawText}, {"object", Effect::Hidden},    {"ol", Effect::Block},
    {"optgroup", Effect::Block},   {"option", Effect::Block},     {"p", Effect::Paragraph},
    {"pre", Effect::Preformatted}, {"script", Effect::RawText},   {"search", Effect::Block},
    {"section", Effect::Block},    {"style", Effect::RawText},    {"summary", Effect::Block},
    {"svg", Effect::Hidden},       {"table", Effect::Block},      {"tbody", Effect::Block},
    {"td", Effect::Cell},          {"template", Effect::Hidden},  {"textarea", Effect::RawText},
    {"tfoot", Effect::Block},      {"th", Effect::Cell},          {"thead", Effect::Block},
    {"title", Effect::RawText},    {"tr", Effect::Block},         {"ul", Effect::Block},
    {"video", Effect::Hidden},
};
constexpr auto kByName = [](const Element& a, const Element& b) { return a.name < b.name; };
static_assert(std::is_sorted(std::begin(kElements), std::end(kElements), kByName));

Effect effect_of(std::string_view name) {
  const Element wanted{name, Effect::Inline};
  const auto* found = std::lower_bound(std::begin(kElements), std::end(kElements), wanted, kByName);
  return found != std::end(kElements) && found->name == name ? found->effect : Effect::Inline;
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Text with the white space between its parts, which is written only once something follows it.
class Layout {
 public:
  explicit Layout(std::string& out) : out_(out) {}

  void break_lines(int count) { required_breaks_ = std::max(required_breaks_, count); }
  void break_line() { ++line_breaks_; }
  void tab() { tab_ = true; }
  void space() { space_ = true; }
  void text(std::string_view text) {
    separate();
    out_ += text;
  }
  void separate() {
    if (!out_.empty()) {
      int breaks = std::min(2, std::max(required_breaks_, line_breaks_));
      if (breaks > 0) {
        // Preformatted text may end in line ends of its own.
        for (size_t i = out_.size(); breaks > 0 && i > 0 && out_[i - 1] == '\n'; --i) --breaks;
        out_.append(static_cast<size_t>(breaks), '\n');
      } else if (tab_) {
        out_ += '\t';
      } else if (space_) {
        out_ += ' ';
      }
    }
    required_breaks_ = line_breaks_ = 0;
    tab_ = space_ = false;
  }

 private:
  std::string& out_;
  int required_breaks_ = 0, line_breaks_ = 0;
  bool tab_ = false, space_ = false;
};

class Extractor {
 public:
  Extractor(std::string_view html, std::string& out) : html_(html), out_(out), layout_(out) {}

  void run() {
    while (at_ < html_.size()) {
      if (html_[at_] == '<' && at_ + 1 < html_.size() && markup()) continue;
      text();
    }
  }

 private:
  // At '<'. False where it is only a character.
  bool markup() {
    const char next = html_[at_ + 1];
    if (is_letter(next)) {
      at_ += 1;
      tag(false);
    } else if (next == '/' && at_ + 2 < html_.size() && is_letter(html_[at_ + 2])) {
      at_ += 2;
      tag(true);
    } else if (html_.substr(at_).starts_with("<!--")) {
      comment();
    } else if (next == '!' || next == '?' || next == '/') {
      move_behind(html_.find('>', at_), 1);
    } else {
      return false;
    }
    return true;
  }

  void move_behind(size_t found, size_t size) {
    at_ = found == std::string_view::npos ? html_.size() : found + size;
  }

  void comment() {
    at_ += 4;
    if (html_.substr(at_).starts_with(">")) return move_behind(at_, 1);
    if (html_.substr(at_).starts_with("->")) return move_behind(at_, 2);
    for (size_t dashes = html_.find("--", at_);; dashes = html_.find("--", dashes + 1)) {
      if (dashes == std::string_view::npos) return move_behind(dashes, 0);
      const std::string_view end = html_.substr(dashes + 2, 2);
      if (end.starts_with('>')) return move_behind(dashes, 3);
      if (end == "!>") return move_behind(dashes, 4);
    }
  }

  // At the name.
  void tag(bool is_end) {
    const size_t first = at_;
    while (at_ < html_.size() && !is_space(html_[at_]) && html_[at_] != '/' && html_[at_] != '>') {
      ++at_;
    }
    const std::string name = lower_case(html_.substr(first, at_ - first));
    const bool closes_itself = skip_attributes();
    if (!hidden_.empty()) {
      if (name == hidden_ && !closes_itself) hidden_depth_ += is_end ? -1 : 1;
      if (hidden_depth_ == 0) hidden_.clear();
      return;
    }
    apply(name, is_end, closes_itself);
  }

  // True for "<name … />", which only svg's and its like's elements take for their end.
  bool skip_attributes() {
    char before = '\0';
    while (at_ < html_.size()) {
      const char c = html_[at_++];
      if (c == '>') return before == '/';
      if ((c == '"' || c == '\'') && before == '=') {
        move_behind(html_.find(c, at_), 1);
        before = c;
      } else if (!is_space(c)) {
        before = c;
      }
    }
    return false;
  }

  void apply(const std::string& name, bool is_end, bool closes_itself) {
    const Effect effect = effect_of(name);
    if (in_head_ && effect != Effect::Metadata && effect != Effect::RawText &&
        effect != Effect::Hidden && !(is_end && effect == Effect::Inline)) {
      in_head_ = false;
    }
    switch (effect) {
      case Effect::Inline:
      case Effect::Metadata:
        break;
      case Effect::Block:
        layout_.break_lines(1);
        break;
      case Effect::Paragraph:
        layout_.break_lines(2);
        break;
      case Effect::LineBreak:
        layout_.break_line();
        break;
      case Effect::Cell:
        layout_.tab();
        break;
      case Effect::Preformatted:
        layout_.break_lines(1);
        preformatted_ = std::max(0, preformatted_ + (is_end ? -1 : 1));
        if (!is_end && html_.substr(at_).starts_with('\n')) ++at_;
        break;
      case Effect::RawText:
        if (!is_end) skip_raw_text(name);
        break;
      case Effect::Hidden:
        if (!is_end && !closes_itself) {
          hidden_ = name;
          hidden_depth_ = 1;
        }
        break;
      case Effect::Head:
        in_head_ = !is_end;
        break;
    }
  }

  // To the end tag, whatever looks like a tag before it.
  void skip_raw_text(const std::string& name) {
    for (;;) {
      at_ = std::min(html_.find("</", at_), html_.size());
      if (at_ == html_.size()) return;
      at_ += 2;
      const std::string_view rest = html_.substr(at_);
      const bool is_end =
          rest.size() > name.size() &&
          (is_space(rest[name.size()]) || rest[name.size()] == '>' || rest[name.size()] == '/') &&
          lower_case(rest.substr(0, name.size())) == name;
      if (is_end) return move_behind(html_.find('>', at_), 1);
    }
  }

  // Up to the next '<'; at_ may be at one that is only a character.
  void text() {
    const size_t end = std::min(html_.find('<', at_ + 1), html_.size());
    if (in_head_ || !hidden_.empty()) {
      at_ = end;
      return;
    }
    while (at_ < end) {
      const char c = html_[at_];
      if (is_space(c)) {
        ++at_;
        white_space(c);
      } else if (c == '&') {
        layout_.separate();
        at_ = append_character_reference(html_.substr(0, end), at_, out_);
      } else {
        const size_t run = at_;
        while (at_ < end && !is_space(html_[at_]) && html_[at_] != '&') ++at_;
        layout_.text(html_.substr(run, at_ - run));
      }
    }
  }

  void white_space(char c) {
    if (preformatted_ == 0) {
      layout_.space();
    } else if (c != '\r') {
      layout_.text({&c, 1});
    }
  }

  std::string_view html_;
  std::string& out_;
  Layout layout_;
  size_t at_ = 0;
  bool in_head_ = false;
  int preformatted_ = 0;  // depth
  std::string hidden_;    // the element that hides everything; empty: none does
  int hidden_depth_ = 0;  // of elements of that name
};

}  // namespace

void html_to_text(std::string_view html, std::string& text) {
  text.clear();
  Extractor(html, text).run();
}

}  // namespace ingot
