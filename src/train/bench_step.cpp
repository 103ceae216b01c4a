#include "train/bench_step.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/random.h"
#include "core/thread_pool.h"
#include "train/engine.h"

namespace ingot {

StepBench bench_train_step(const RunConfig& config, int64_t steps) {
  using Clock = std::chrono::steady_clock;
  auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const int threads =
      config.system.threads > 0 ? static_cast<int>(config.system.threads) : available_cores();
  StepBench bench;
  auto start = Clock::now();
  const auto comm = single_communicator();
  Engine engine(config, *comm, threads);
  engine.init(static_cast<uint64_t>(config.train.seed));
  bench.setup_seconds = seconds_since(start);
  bench.peak_bytes = engine.placed().allocated_bytes();
  bench.predicted_bytes = plan_memory(train_table(engine.context(), config)).total_bytes;

  const int64_t N = config.batch.micro_batch * config.batch.seq;
  std::vector<int32_t> tokens(static_cast<size_t>(N)), targets(tokens);
  int64_t updates = 0;
  auto step = [&] {
    const RandomStream stream(1, Purpose::Test, 0, static_cast<uint64_t>(updates));
    for (size_t i = 0; i < tokens.size(); ++i) {
      const auto vocab = static_cast<uint32_t>(config.model.vocab);
      tokens[i] = static_cast<int32_t>(stream.bits(2 * i) % vocab);
      targets[i] = static_cast<int32_t>(stream.bits(2 * i + 1) % vocab);
    }
    const auto begin = Clock::now();
    engine.start_step();
    const StepLoss loss =
        engine.accumulate({tokens.data(), targets.data(), nullptr}, 1.0 / static_cast<double>(N));
    engine.update(config.optim.lr, ++updates);
    bench.last_loss = loss.sum / static_cast<double>(N);
    synchronize(engine.context());
    return seconds_since(begin);
  };
  bench.first_step_seconds = step();
  step();
  std::vector<double> times;
  for (int64_t i = 0; i < steps; ++i) times.push_back(step());
  std::nth_element(times.begin(), times.begin() + steps / 2, times.end());
  bench.step_seconds = times[static_cast<size_t>(steps / 2)];
  bench.tokens_per_second = static_cast<double>(N) / bench.step_seconds;
  return bench;
}

}  // namespace ingot
