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

std::optional<EvalReport> evaluate_loss(Engine& engine, Control& control,
                                        const SampleStream& stream, const ResolvedRun& run,
                                        const std::atomic<bool>* stop, Timeout timeout) {
  const RunConfig& config = run.config;
  const int64_t B = config.batch.micro_batch, T = config.batch.seq;
  const Loader loader(stream, config.train.document_mask);
  const int64_t samples = std::clamp<int64_t>(config.train.eval_tokens / T, 1, stream.one_pass());

  // Every rank makes as many forward passes, since fully sharded ones gather weights in each: where
  // micro-batches do not divide by the ranks, the last ones see samples that do not count.
  const int64_t ranks = control.size(), rounds = (samples + B * ranks - 1) / (B * ranks);
  std::vector<double> nats(static_cast<size_t>(rounds * ranks)), targets(nats.size());
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
  return report;
}

}  // namespace ingot
