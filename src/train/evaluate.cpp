#include "train/evaluate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "feed/loader.h"

namespace ingot {

std::optional<EvalReport> evaluate_loss(Engine& engine, Communicator& comm,
                                        const SampleStream& stream, const RunConfig& config,
                                        const std::atomic<bool>* stop) {
  const int64_t B = config.batch.micro_batch, T = config.batch.seq;
  const Loader loader(stream, config.train.document_mask);
  const int64_t samples = std::clamp<int64_t>(config.train.eval_tokens / T, 1, stream.one_pass());

  Batch batch;
  double totals[3] = {0.0, 0.0, 0.0};  // nats, tokens, ranks that were stopped
  for (int64_t first = comm.rank() * B; first < samples; first += comm.size() * B) {
    if (stop != nullptr && stop->load(std::memory_order_relaxed)) {
      totals[2] = 1.0;
      break;
    }
    loader.fill(first, B, batch);
    // The stream goes on past the last wanted sample; what is beyond it must not count.
    const int64_t wanted = std::min(B, samples - first);
    std::fill(batch.targets.begin() + wanted * T, batch.targets.end(), kNoTarget);
    const StepLoss loss =
        engine.evaluate({batch.tokens.data(), batch.targets.data(),
                         batch.document_start.empty() ? nullptr : batch.document_start.data()});
    totals[0] += loss.sum;
    totals[1] += static_cast<double>(loss.num_targets);
  }
  comm.all_reduce_sum(Tensor::contiguous(totals, DType::F64, {3}));
  if (totals[2] > 0) return std::nullopt;

  EvalReport report;
  report.loss = totals[0] / totals[1];
  report.tokens = static_cast<int64_t>(totals[1]);
  const int64_t bytes = stream.num_target_bytes(0, samples);
  if (bytes > 0) report.bits_per_byte = totals[0] / std::numbers::ln2 / static_cast<double>(bytes);
  return report;
}

}  // namespace ingot
