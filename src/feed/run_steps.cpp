#include "feed/run_steps.h"

#include <algorithm>

#include "core/error/error.h"
#include "ledger/records/run_ledger.h"

namespace ingot {
namespace {

constexpr int64_t kMost = int64_t{1} << 48;  // of steps and samples, so that sums stay in range

void append(std::vector<StepRange>& ranges, const StepRange& more) {
  if (!ranges.empty()) {
    StepRange& last = ranges.back();
    if (last.end_step() == more.first_step && last.end_sample() == more.first_sample &&
        last.samples_per_step == more.samples_per_step) {
      last.num_steps += more.num_steps;
      return;
    }
  }
  ranges.push_back(more);
}

class StepReader {
 public:
  StepReader(RunSteps& run, const std::string& path) : run_(run), path_(path) {}

  void read(const StartReport& start) {
    check(start.step >= 0 && start.step < kMost, ErrorCode::Data, "{}: a start after step {}",
          path_, start.step);
    discard_after(start.step);
    ++run_.num_starts;
    run_.id = start.run.value_or("");
    note_counts(start);
    if (!start.data || !start.config) return;  // of a program before it recorded data
    const DataIdentity data = parse_data_identity(*start.data, path_);
    if (!run_.held.empty() && run_.data && run_.data->hash() != data.hash())
      throw Error(ErrorCode::Data,
                  fmt::format("{}: the run continues after step {} with other data (hash {:016x}, "
                              "then {:016x}): {}",
                              path_, run_.held.back().end_step() - 1, run_.data->hash(),
                              data.hash(), difference(*run_.data, data)));
    run_.data = data;
    run_.config = *start.config;
  }

  void read(const StepReport& report) {
    const auto [first, end] = report.samples;
    check(report.step > 0 && report.step < kMost && first >= 0 && end > first && end < kMost,
          ErrorCode::Data, "{}: step {} with the samples {} to {}", path_, report.step, first, end);
    discard_after(report.step - 1);
    append(run_.held, {report.step, 1, first, end - first});
    note_counts(report);
  }

  template <class Other>
  void read(const Other&) {}

 private:
  template <class Report>
  void note_counts(const Report& report) {
    if (const auto counts = counts_in(report)) run_.counts = counts;
  }

  // A run that resumes from `step` discards what came after it.
  void discard_after(int64_t step) {
    std::vector<StepRange> discarded;
    while (!run_.held.empty() && run_.held.back().end_step() > step + 1) {
      StepRange& last = run_.held.back();
      StepRange tail = last;
      last.num_steps = std::max<int64_t>(0, step + 1 - last.first_step);
      tail.first_step += last.num_steps;
      tail.first_sample += last.num_steps * last.samples_per_step;
      tail.num_steps -= last.num_steps;
      discarded.push_back(tail);
      if (last.num_steps == 0) run_.held.pop_back();
    }
    for (auto range = discarded.rbegin(); range != discarded.rend(); ++range)
      append(run_.lost, *range);
  }

  RunSteps& run_;
  std::string path_;
};

void count_gaps(RunSteps& run) {
  std::vector<StepRange> by_sample = run.held;
  std::sort(by_sample.begin(), by_sample.end(),
            [](const auto& a, const auto& b) { return a.first_sample < b.first_sample; });
  int64_t covered = 0;
  for (const StepRange& range : by_sample) {
    run.num_missing += std::max<int64_t>(0, range.first_sample - covered);
    run.num_repeated +=
        std::max<int64_t>(0, std::min(covered, range.end_sample()) - range.first_sample);
    covered = std::max(covered, range.end_sample());
  }
}

}  // namespace

std::optional<int64_t> StepRange::step_of(int64_t sample) const {
  if (sample < first_sample || sample >= end_sample()) return std::nullopt;
  return first_step + (sample - first_sample) / samples_per_step;
}

int64_t RunSteps::num_lost_samples() const {
  int64_t samples = 0;
  for (const StepRange& range : lost) samples += range.num_steps * range.samples_per_step;
  return samples;
}

RunSteps read_run_steps(Storage& storage, const std::string& ledger_path) {
  RunSteps run;
  StepReader reader(run, ledger_path);
  for_each_run_record(storage, ledger_path, [&](const RunEntry& entry) {
    std::visit([&](const auto& record) { reader.read(record); }, entry.record);
  });
  count_gaps(run);
  return run;
}

}  // namespace ingot
