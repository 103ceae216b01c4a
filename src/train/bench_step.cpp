#include "train/bench_step.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/random.h"
#include "plan/fit.h"
#include "plan/train_table.h"
#include "train/engine.h"

namespace ingot {
namespace {

// Documents of T/4 tokens on average: for each of num_tokens tokens in rows of T, where in its row
// its document starts.
std::vector<int32_t> random_document_starts(int64_t num_tokens, int64_t T) {
  const RandomStream stream(1, Purpose::Test, tensor_id("document_start"));
  std::vector<int32_t> starts(static_cast<size_t>(num_tokens));
  for (size_t i = 0; i < starts.size(); ++i) {
    const int64_t t = static_cast<int64_t>(i) % T;
    const bool starts_here = t == 0 || stream.uniform(i) * static_cast<double>(T) < 4;
    starts[i] = starts_here ? static_cast<int32_t>(t) : starts[i - 1];
  }
  return starts;
}

}  // namespace

StepBench bench_train_step(const ResolvedRun& run, int64_t steps) {
  using Clock = std::chrono::steady_clock;
  auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const RunConfig& config = run.config;
  StepBench bench;
  auto start = Clock::now();
  const auto world = single_world(run.device);
  check_fits_here(run);
  Engine engine(run, *world);
  engine.init(static_cast<uint64_t>(config.train.seed));
  bench.setup_seconds = seconds_since(start);
  bench.peak_bytes = engine.placed().allocated_bytes();
  bench.predicted_bytes = plan_memory(train_table(run)).total_bytes;

  // All tokens are drawn before: a GPU that waits for them cools down and computes faster after.
  const int64_t N = config.batch.micro_batch * config.batch.seq;
  const int64_t num_steps = steps + 2;
  std::vector<int32_t> tokens(static_cast<size_t>(num_steps * N)), targets(tokens.size());
  const RandomStream stream(1, Purpose::Test, 0, 0);
  const auto vocab = static_cast<uint32_t>(config.model.vocab);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<int32_t>(stream.bits(2 * i) % vocab);
    targets[i] = static_cast<int32_t>(stream.bits(2 * i + 1) % vocab);
  }

  const bool documents = config.train.document_mask;
  const std::vector<int32_t> document_starts =
      random_document_starts(documents ? num_steps * N : 0, config.batch.seq);

  const auto run_step = [&](int64_t step) {
    engine.start_step();
    engine.accumulate({tokens.data() + step * N, targets.data() + step * N,
                       documents ? document_starts.data() + step * N : nullptr},
                      1.0 / static_cast<double>(N), /*last=*/true);
    engine.update(config.optim.lr, step + 1);
    engine.take_report();
    bench.last_loss = engine.take_loss() / static_cast<double>(N);
  };
  start = Clock::now();
  run_step(0);
  synchronize(engine.context());
  bench.first_step_seconds = seconds_since(start);

  // A step lasts from one gradient norm, which the host waits for, to the next, as in a run: the
  // next batch is handed over while the update is computed.
  run_step(1);
  std::vector<double> times;
  for (int64_t step = 2; step < num_steps; ++step) {
    start = Clock::now();
    run_step(step);
    times.push_back(seconds_since(start));
  }
  std::nth_element(times.begin(), times.begin() + steps / 2, times.end());
  bench.step_seconds = times[static_cast<size_t>(steps / 2)];
  bench.tokens_per_second = static_cast<double>(N) / bench.step_seconds;
  return bench;
}

}  // namespace ingot
