#include "train/records/ledger_sink.h"

#include <algorithm>
#include <cmath>

#include "feed/data_identity.h"
#include "train/start/run_folder.h"

namespace ingot {
namespace {

using nlohmann::json;

json entry(const RunFacts& facts) {
  json record = {{"kind", "start"},
                 {"step", facts.first_step},
                 {"samples", facts.first_sample},
                 {"config_hash", fmt::format("{:016x}", facts.config_hash)},
                 {"config", facts.config_toml},
                 {"data_hash", fmt::format("{:016x}", facts.data.hash())},
                 {"data", to_json(facts.data)},
                 {"device", facts.device},
                 {"precision", facts.precision},
                 {"ranks", facts.ranks},
                 {"bytes", facts.allocated_bytes}};
  for (const RankPlace& place : facts.places)
    record["places"].push_back({{"host", place.host},
                                {"device", place.device},
                                {"gpu", place.gpu},
                                {"cores", place.cores}});
  if (facts.ranks > 1) record["carrier"] = facts.carrier.name;
  if (!facts.carrier.facts.empty()) record["carrier_facts"] = facts.carrier.facts;
  record.update(to_json(facts.counts));
  return record;
}

constexpr size_t kListedRanks = 64;  // of more, a step's record holds the extremes

// To the microsecond: what clocks tell, in few digits.
double rounded(double seconds) {
  return std::round(seconds * 1e6) / 1e6;
}

json times_of(const std::vector<RankTime>& ranks, double RankTime::*which) {
  std::vector<double> times;
  for (const RankTime& one : ranks) times.push_back(rounded(one.*which));
  if (times.size() <= kListedRanks) return times;
  std::ranges::sort(times);
  return {{"min", times.front()}, {"median", times[times.size() / 2]}, {"max", times.back()}};
}

json entry(const StepReport& report) {
  json record = {{"kind", "step"},
                 {"step", report.step},
                 {"loss", report.loss},
                 {"lr", report.lr},
                 {"grad_norm", report.grad_norm},
                 {"tokens", report.tokens},
                 {"samples", {report.first_sample, report.end_sample}},
                 {"seconds", report.step_seconds}};
  record.update(to_json(report.counts));
  if (report.loss_scale) {
    record["loss_scale"] = *report.loss_scale;
    record["skipped"] = report.skipped;
  }
  if (report.verdict > StepVerdict::Skip) record["verdict"] = name_of(report.verdict);
  if (!report.ranks.empty())
    record["ranks"] = {{"seconds", times_of(report.ranks, &RankTime::seconds)},
                       {"waits", times_of(report.ranks, &RankTime::waits)}};
  if (const auto& slow = report.slow_rank) {
    record["slow_rank"] = {{"rank", slow->rank}, {"factor", std::round(slow->factor * 100) / 100}};
    if (!slow->host.empty()) record["slow_rank"]["host"] = slow->host;
  }
  return record;
}

json entry(const EvalReport& report) {
  json record = {
      {"kind", "eval"}, {"step", report.step}, {"loss", report.loss}, {"tokens", report.tokens}};
  if (report.bits_per_byte) record["bits_per_byte"] = *report.bits_per_byte;
  return record;
}

json entry(const SavedReport& report) {
  return {{"kind", "checkpoint"}, {"step", report.step}, {"dir", report.dir}};
}

json entry(const EndReport& report) {
  return {{"kind", "end"}, {"step", report.step}};
}

json entry(const LostReport& report) {
  return {{"kind", "lost"}, {"step", report.step}, {"rank", report.rank}, {"why", report.why}};
}

}  // namespace

LedgerSink::LedgerSink(std::shared_ptr<Storage> storage, const std::string& run_dir)
    : ledger_(std::move(storage), join_path(run_dir, kRunLedgerName)) {}

void LedgerSink::take(const Record& record) {
  ledger_.append(std::visit([](const auto& of) { return entry(of); }, record));
  if (std::holds_alternative<SavedReport>(record)) ledger_.sync();
}

}  // namespace ingot
