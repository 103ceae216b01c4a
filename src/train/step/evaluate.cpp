#include "train/step/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <vector>

#include "core/error/error.h"
#include "feed/loader.h"
#include "train/step/not_finite.h"

namespace ingot {
namespace {

// Sums by source. Each micro-batch has its own, which are added up in their order: the same bits
// for any number of ranks.
class SourceSums {
 public:
  SourceSums(const SampleSources* sources, int64_t num_micros)
      : sources_(sources != nullptr && sources->names().size() > 1 ? sources : nullptr),
        nats_(size() * static_cast<size_t>(num_micros)),
        targets_(nats_.size()) {}

  // `first`: the sample in row 0. `losses`, `targets`: (B, T).
  void add(int64_t micro, int64_t first, int64_t T, const std::vector<double>& losses,
           const std::vector<int32_t>& targets) {
    if (sources_ == nullptr) return;
    for (int64_t row = 0; row < std::ssize(targets) / T; ++row)
      for (const SampleSources::Range& range : sources_->of_sample(first + row))
        for (int64_t column = range.begin; column < range.end; ++column) {
          const auto n = static_cast<size_t>(row * T + column);
          if (targets[n] == kNoTarget) continue;
          const size_t place = static_cast<size_t>(micro) * size() + range.source;
          nats_[place] += losses[n];
          targets_[place] += 1;
        }
  }
  bool is_wanted() const { return sources_ != nullptr; }

  // Those that had a target among the first `samples`. Every rank calls it.
  std::vector<SourceLoss> report(Control& control, int64_t samples, Timeout timeout) {
    std::vector<SourceLoss> result;
    if (sources_ == nullptr) return result;
    control.sum("validation loss by source", nats_, timeout);
    control.sum("validation tokens by source", targets_, timeout);
    const std::vector<int64_t> bytes = bytes_of(samples);
    for (size_t s = 0; s < size(); ++s) {
      double nats = 0, targets = 0;
      for (size_t at = s; at < nats_.size(); at += size()) {
        nats += nats_[at];
        targets += targets_[at];
      }
      if (targets == 0) continue;
      SourceLoss source{.name = sources_->names()[s],
                        .loss = nats / targets,
                        .perplexity = std::exp(nats / targets),
                        .tokens = static_cast<int64_t>(targets)};
      if (bytes[s] > 0)
        source.bits_per_byte = nats / std::numbers::ln2 / static_cast<double>(bytes[s]);
      result.push_back(std::move(source));
    }
    return result;
  }

 private:
  size_t size() const { return sources_ == nullptr ? 0 : sources_->names().size(); }

  std::vector<int64_t> bytes_of(int64_t samples) const {
    std::vector<int64_t> bytes(size());
    for (int64_t sample = 0; sample < samples; ++sample)
      for (const SampleSources::Range& range : sources_->of_sample(sample)) {
        int64_t& sum = bytes[range.source];
        sum = sum < 0 || range.bytes < 0 ? -1 : sum + range.bytes;
      }
    return bytes;
  }

  const SampleSources* sources_;        // null: not wanted
  std::vector<double> nats_, targets_;  // (micro-batches, sources)
};

}  // namespace

std::optional<EvalReport> evaluate_loss(Engine& engine, Control& control,
                                        const SampleStream& stream, const ResolvedRun& run,
                                        const std::atomic<bool>* stop, Timeout timeout,
                                        const SampleSources* sources) {
  const RunConfig& config = run.config;
  const int64_t B = config.batch.micro_batch, T = config.batch.seq;
  const Loader loader(stream, config.train.document_mask);
  const int64_t samples = std::clamp<int64_t>(config.train.eval_tokens / T, 1, stream.one_pass());

  // Every rank makes as many forward passes, since fully sharded ones gather weights in each: where
  // micro-batches do not divide by the ranks, the last ones see samples that do not count.
  const int64_t ranks = control.size(), rounds = (samples + B * ranks - 1) / (B * ranks);
  std::vector<double> nats(static_cast<size_t>(rounds * ranks)), targets(nats.size());
  SourceSums by_source(sources, rounds * ranks);
  Batch batch;
  for (int64_t round = 0; round < rounds; ++round) {
    // Agreed by all before each pass: one that left alone would leave the others waiting.
    const bool asked = stop != nullptr && stop->load(std::memory_order_relaxed);
    if (control.any("validation", asked, timeout)) return std::nullopt;
    const int64_t micro = round * ranks + control.rank(), first = micro * B;
    loader.fill(first, B, batch);
    const int64_t wanted = std::clamp<int64_t>(samples - first, 0, B);
    std::fill(batch.targets.begin() + wanted * T, batch.targets.end(), kNoTarget);
    const StepLoss loss =
        engine.evaluate({batch.tokens.data(), batch.targets.data(),
                         batch.document_start.empty() ? nullptr : batch.document_start.data()});
    nats[static_cast<size_t>(micro)] = loss.sum;
    targets[static_cast<size_t>(micro)] = static_cast<double>(loss.num_targets);
    if (by_source.is_wanted()) by_source.add(micro, first, T, engine.token_losses(), batch.targets);
  }
  // Micro-batches are added up in their own order, so that the sum is the same bits for any number
  // of ranks.
  const auto total = [&](std::vector<double>& of_each) {
    control.sum("validation loss", of_each, timeout);
    return std::accumulate(of_each.begin(), of_each.end(), 0.0);
  };
  const double all_nats = total(nats), all_targets = total(targets);

  if (!std::isfinite(all_nats)) {
    const auto bad = std::ranges::find_if(nats, [](double sum) { return !std::isfinite(sum); });
    const int64_t round = (bad - nats.begin()) / ranks;
    const int64_t first = (round * ranks + control.rank()) * B;
    const std::string found =
        first_not_finite(engine, control, loader, B, std::span(&first, 1), timeout);
    throw Error(ErrorCode::Numeric,
                fmt::format("validation: {}; the weights are damaged or training diverged",
                            found.empty() ? "loss: not finite" : found));
  }

  EvalReport report;
  report.loss = all_nats / all_targets;
  report.tokens = static_cast<int64_t>(all_targets);
  const int64_t bytes = stream.num_target_bytes(0, samples);
  if (bytes > 0) report.bits_per_byte = all_nats / std::numbers::ln2 / static_cast<double>(bytes);
  report.sources = by_source.report(control, samples, timeout);
  return report;
}

}  // namespace ingot
