#include "ingest/dedup/dedup_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "ingest/tasks/html_page.h"

namespace ingot {
namespace {

using nlohmann::json;

void add_record(DedupTotals& totals, const DedupRecord& record) {
  totals.documents += record.documents;
  totals.kept += record.kept;
  totals.bytes_in += record.bytes_in;
  totals.bytes_kept += record.bytes_kept;
  totals.read += counts_of(record.read);
  totals.samples.merge(record.samples);
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

DedupRecord record_of(const DedupTotals& totals) {
  return {.documents = totals.documents,
          .kept = totals.kept,
          .bytes_in = totals.bytes_in,
          .bytes_kept = totals.bytes_kept,
          .read = record_of(totals.read),
          .samples = totals.samples.lists()};
}

ClusterSamples::ClusterSamples(const DedupClustersRecord& clusters,
                               const std::function<std::string(uint32_t)>& place_of) {
  const auto add = [&](const std::vector<int64_t>& roots, const std::vector<int64_t>& sizes) {
    for (size_t i = 0; i < std::min(roots.size(), sizes.size()); ++i) {
      const auto root = static_cast<uint32_t>(roots[i]);
      // Of one width, so that their order is that of the sizes.
      labels_[root] = fmt::format("{:>10} documents like {}", sizes[i], place_of(root));
    }
  };
  add(clusters.random, clusters.size_of_random);
  add(clusters.largest, clusters.size_of_largest);
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
  for_each_task_record<DedupRecord>(filter, [&](int64_t task, const DedupRecord& record) {
    add_record(totals, record);
    if (task != 0) return;
    const DedupClustersRecord clusters = record.clusters.value_or(DedupClustersRecord());
    num_clusters = clusters.clusters;
    const std::vector<int64_t>& counts = clusters.by_size;
    for (size_t i = 1; i < std::min<size_t>(counts.size(), 32); ++i)  // of 2^32 documents at most
      by_size.push_back(
          {{"from", int64_t{1} << i}, {"to", (int64_t{2} << i) - 1}, {"clusters", counts[i]}});
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
