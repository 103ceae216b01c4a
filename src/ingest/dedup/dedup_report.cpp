#include "ingest/dedup/dedup_report.h"

#include <fmt/format.h>

#include "core/json/json_integer.h"
#include "ingest/tasks/html_page.h"

namespace ingot {
namespace {

using nlohmann::json;

void add_record(DedupTotals& totals, const json& record) {
  totals.documents += integer_of(record.at("documents"));
  totals.kept += integer_of(record.at("kept"));
  totals.bytes_in += integer_of(record.at("bytes_in"));
  totals.bytes_kept += integer_of(record.at("bytes_kept"));
  totals.read += read_counts_of(record.at("read"));
  totals.samples.merge(record.at("samples"));
}

std::string page_of(const json& report, const Samples& samples) {
  const auto number = [&](const char* key) {
    return fmt::format("{}", report[key].get<int64_t>());
  };
  HtmlPage page("Deduplication");
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [key, value] : report["settings"].items()) {
    facts.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  page.facts(facts);
  page.heading("Documents");
  const int64_t documents = report["documents"], kept = report["kept"];
  page.bars({{"kept", kept}, {"removed", documents - kept}}, documents);
  page.facts({{"bytes of text", number("bytes_in")},
              {"bytes kept", number("bytes_kept")},
              {"clusters of duplicates", number("clusters")}});
  page.heading("Clusters by size");
  std::vector<HtmlPage::Bar> bars;
  for (const auto& row : report["clusters_by_size"]) {
    const int64_t from = row["from"], to = row["to"];
    bars.push_back({fmt::format("{} to {} documents", from, to), row["clusters"]});
  }
  page.bars(bars, report["clusters"]);
  page.heading("Samples: the largest clusters, and some others");
  const auto& clusters = samples.by_label();
  for (auto it = clusters.rbegin(); it != clusters.rend(); ++it)
    page.fold_out(it->first, it->second);
  return page.str();
}

}  // namespace

void DedupTotals::add(const Document& document, bool stays) {
  const auto size = static_cast<int64_t>(document.text.size());
  ++documents;
  bytes_in += size;
  if (!stays) return;
  ++kept;
  bytes_kept += size;
}

json to_json(const DedupTotals& totals) {
  return {{"documents", totals.documents}, {"kept", totals.kept},
          {"bytes_in", totals.bytes_in},   {"bytes_kept", totals.bytes_kept},
          {"read", to_json(totals.read)},  {"samples", totals.samples.to_json()}};
}

ClusterSamples::ClusterSamples(const json& clusters,
                               const std::function<std::string(uint32_t)>& place_of) {
  for (const char* kind : {"random", "largest"}) {
    const json& roots = clusters.at(kind);
    const json& sizes = clusters.at(fmt::format("size_of_{}", kind));
    for (size_t i = 0; i < roots.size(); ++i) {
      const auto root = static_cast<uint32_t>(integer_of(roots.at(i)));
      // Of one width, so that their order is that of the sizes.
      labels_[root] =
          fmt::format("{:>10} documents like {}", integer_of(sizes.at(i)), place_of(root));
    }
  }
}

void ClusterSamples::add(Samples& samples, uint32_t root, uint32_t number, const std::string& file,
                         const Document& document) const {
  const auto label = labels_.find(root);
  if (label == labels_.end()) return;
  if (root == number) {
    samples.add_first(label->second, document, "stays");
  } else {
    samples.add(label->second, file, number, document, "removed");
  }
}

json write_dedup_report(Storage& storage, const std::string& folder, const json& settings,
                        const TaskFolder& filter) {
  DedupTotals totals;
  int64_t num_clusters = 0;
  json by_size = json::array();
  filter.read_records([&](const json& record) {
    add_record(totals, record);
    if (record.at("task") != 0) return;
    num_clusters = integer_of(record.at("clusters").at("clusters"));
    const json& counts = record.at("clusters").at("by_size");
    for (size_t i = 1; i < std::min<size_t>(counts.size(), 32); ++i) {  // of 2^32 documents at most
      by_size.push_back({{"from", int64_t{1} << i},
                         {"to", (int64_t{2} << i) - 1},
                         {"clusters", integer_of(counts.at(i))}});
    }
  });
  const json report = {{"stage", "dedup"},
                       {"settings", settings},
                       {"files", filter.num_tasks()},
                       {"documents", totals.documents},
                       {"kept", totals.kept},
                       {"removed", totals.documents - totals.kept},
                       {"bytes_in", totals.bytes_in},
                       {"bytes_kept", totals.bytes_kept},
                       {"clusters", num_clusters},
                       {"clusters_by_size", std::move(by_size)},
                       {"skipped", totals.read.skipped},
                       {"first_skipped", to_json(totals.read.first_skipped)},
                       {"samples", totals.samples.to_json()}};
  publish_file(storage, join_path(folder, "report.html"), page_of(report, totals.samples));
  publish_file(storage, join_path(folder, "report.json"), report.dump(1) + "\n");
  return report;
}

}  // namespace ingot
