#include "ingest/tasks/html_page.h"

#include <fmt/format.h>

#include <iterator>

#include "core/text/format.h"
#include "core/text/html.h"

namespace ingot {
namespace {

constexpr std::string_view kStyle = R"(
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.bar { width: 24rem; } td.bar div { background: #4a7ab5; height: .8rem; min-width: 1px; }
pre { white-space: pre-wrap; background: #f5f5f2; padding: .6rem; border-left: 3px solid #ccc; }
summary { cursor: pointer; font-weight: 600; } details { margin: .4rem 0; }
.id { color: #666; font-size: .85rem; }
@media (prefers-color-scheme: dark) { body { background: #1b1b1d; color: #ddd; } pre { background: #262629; border-color: #555; } .id { color: #999; } }
)";

// Control characters that HTML does not allow become question marks.
std::string shown(std::string_view text) {
  std::string allowed(text);
  for (char& c : allowed) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F) c = '?';
  }
  return escape_html(allowed);
}

}  // namespace

HtmlPage::HtmlPage(std::string_view title) : title_(shown(title)) {}

void HtmlPage::paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", shown(text));
}

void HtmlPage::heading(std::string_view text) {
  body_ += fmt::format("<h2>{}</h2>\n", shown(text));
}

void HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& rows) {
  body_ += "<table>\n";
  for (const auto& [name, value] : rows) {
    body_ += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", shown(name), shown(value));
  }
  body_ += "</table>\n";
}

void HtmlPage::bars(const std::vector<Bar>& bars, int64_t whole) {
  body_ += "<table>\n";
  for (const Bar& bar : bars) {
    const double share =
        whole == 0 ? 0 : static_cast<double>(bar.count) / static_cast<double>(whole);
    body_ += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
        "class=\"bar\"><div style=\"width:{:.1f}%\"></div></td></tr>\n",
        shown(bar.label), bar.count, format_percent(share, 2), 100 * share);
  }
  body_ += "</table>\n";
}

void HtmlPage::table(const std::vector<std::string>& head,
                     const std::vector<std::vector<std::string>>& rows) {
  const auto row = [this](const std::vector<std::string>& cells, const char* tag) {
    body_ += "<tr>";
    for (const std::string& cell : cells) {
      body_ += fmt::format("<{}>{}</{}>", tag, shown(cell), tag);
    }
    body_ += "</tr>\n";
  };
  body_ += "<table>\n";
  row(head, "th");
  for (const auto& cells : rows) row(cells, "td");
  body_ += "</table>\n";
}

void HtmlPage::fold_out(std::string_view label, const std::vector<Sample>& samples) {
  body_ += fmt::format("<details><summary>{}</summary>\n", shown(label));
  for (const Sample& sample : samples) {
    body_ += fmt::format("<div class=\"id\">{}{}{}</div><pre>{}</pre>\n", shown(sample.id),
                         sample.note.empty() ? "" : " · ", shown(sample.note), shown(sample.text));
  }
  body_ += "</details>\n";
}

void HtmlPage::samples(const Samples& samples) {
  for (const auto& [label, list] : samples.by_label()) fold_out(label, list);
}

std::string HtmlPage::str() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style></head>\n<body>\n"
      "<h1>{}</h1>\n{}</body></html>\n",
      title_, kStyle, title_, body_);
}

}  // namespace ingot
