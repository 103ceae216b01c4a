#include "ingest/clean/clean_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error/error.h"
#include "core/text/format.h"
#include "core/text/unicode.h"
#include "ingest/tasks/html_page.h"
#include "ingest/tasks/stage.h"

namespace ingot {
namespace {

using nlohmann::json;

json lines_of(const C4LineCounts& lines) {
  json counts = json::object();
  for (size_t i = 0; i < lines.size(); ++i) counts[std::string(kC4LineNames[i])] = lines[i];
  return counts;
}

std::string with_share(int64_t part, int64_t whole) {
  return fmt::format("{} ({})", part, format_percent(part, whole, 2));
}

}  // namespace

CleanRecord record_of(const CleanTotals& totals) {
  const CleanCounts& c = totals.counts;
  return {.documents = c.documents,
          .kept = c.kept,
          .bytes_in = c.bytes_in,
          .bytes_kept = c.bytes_kept,
          .without_url = c.without_url,
          .removed = c.removed,
          .lines = {c.lines.begin(), c.lines.end()},
          .emails = c.pii.emails,
          .ips = c.pii.ips,
          .read = record_of(totals.read),
          .samples = totals.samples.lists()};
}

void add_record(CleanTotals& totals, const CleanRecord& record) {
  CleanCounts c;
  check(record.lines.size() == c.lines.size(), ErrorCode::Data,
        "expected {} counts of lines in the record, got {}: remove it and run again",
        c.lines.size(), record.lines.size());
  c.documents = record.documents;
  c.kept = record.kept;
  c.bytes_in = record.bytes_in;
  c.bytes_kept = record.bytes_kept;
  c.without_url = record.without_url;
  c.removed = record.removed;
  std::ranges::copy(record.lines, c.lines.begin());
  c.pii = {record.emails, record.ips};
  totals.counts += c;
  totals.read += counts_of(record.read);
  totals.samples.merge(record.samples);
}

json clean_report(const CleanSettings& settings, int64_t num_files, const CleanTotals& totals) {
  const CleanCounts& c = totals.counts;
  json removed = json::array();
  for (const auto& [label, count] : c.removed) {
    const size_t space = label.find(' ');
    removed.push_back({{"step", label.substr(0, space)},
                       {"reason", label.substr(space + 1)},
                       {"documents", count}});
  }
  std::stable_sort(removed.begin(), removed.end(), [](const json& a, const json& b) {
    return a["documents"].get<int64_t>() > b["documents"].get<int64_t>();
  });
  return {{"stage", "clean"},
          {"preset", settings.preset},
          {"splitter", settings.splitter},
          {"unicode", text::kUnicodeVersion},
          {"files", num_files},
          {"documents", c.documents},
          {"kept", c.kept},
          {"bytes_in", c.bytes_in},
          {"bytes_kept", c.bytes_kept},
          {"removed", std::move(removed)},
          {"skipped", totals.read.skipped},
          {"first_skipped", to_json(totals.read.first_skipped)},
          {"lines", lines_of(c.lines)},
          {"without_url", c.without_url},
          {"masked_emails", c.pii.emails},
          {"masked_ips", c.pii.ips},
          {"samples", totals.samples.to_json()}};
}

std::string clean_report_page(const CleanSettings& settings, const json& report,
                              const Samples& samples) {
  const int64_t documents = report["documents"], kept = report["kept"];
  HtmlPage page("Cleaning");
  page.facts(
      {{"preset", settings.preset},
       {"splitter", settings.splitter},
       {"files", fmt::format("{}", report["files"].get<int64_t>())},
       {"documents", fmt::format("{}", documents)},
       {"kept", with_share(kept, documents)},
       {"bytes of text", fmt::format("{}", report["bytes_in"].get<int64_t>())},
       {"bytes kept", with_share(report["bytes_kept"], report["bytes_in"])},
       {"e-mail addresses masked", fmt::format("{}", report["masked_emails"].get<int64_t>())},
       {"IP addresses masked", fmt::format("{}", report["masked_ips"].get<int64_t>())}});

  page.heading("Documents");
  std::vector<HtmlPage::Bar> bars = {{"kept", kept}};
  for (const json& rule : report["removed"]) {
    bars.push_back(
        {fmt::format("{} · {}", rule["step"].get<std::string>(), rule["reason"].get<std::string>()),
         rule["documents"]});
  }
  page.bars(bars, documents);

  if (const int64_t lines = report["lines"]["line-total"]; lines > 0) {
    page.heading("Lines that C4 saw");
    bars.clear();
    for (const auto& [name, count] : report["lines"].items()) bars.push_back({name, count});
    page.bars(bars, lines);
  }
  if (!report["skipped"].empty()) {
    page.heading("Records that are no documents");
    std::vector<std::pair<std::string, std::string>> rows;
    for (const auto& [reason, count] : report["skipped"].items()) {
      rows.emplace_back(reason, fmt::format("{}{}", count.get<int64_t>(),
                                            first_place(report["first_skipped"], reason)));
    }
    page.facts(rows);
  }
  page.heading("Samples");
  page.samples(samples);
  return page.str();
}

}  // namespace ingot
