#include "train/step/bench_step.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <string>

#include "core/error/error.h"
#include "core/random/random.h"
#include "core/system/timing.h"
#include "plan/fit.h"
#include "plan/resolve.h"
#include "plan/train_table.h"
#include "train/step/engine.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

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

// One rank's steps.
class RankBench {
 public:
  RankBench(const ResolvedRun& run, World& world, const StepBenchOptions& options)
      : run_(run),
        world_(world),
        N_(run.config.batch.micro_batch * run.config.batch.seq),
        num_steps_(options.steps + 2),
        begun_(Clock::now()),
        engine_(run, world) {
    engine_.init(static_cast<uint64_t>(run.config.train.seed));
    setup_seconds_ = seconds_since(begun_);
    draw();
  }

  StepBench run() {
    StepBench bench;
    auto start = Clock::now();
    run_step(0);
    synchronize(engine_.context());
    const double first = seconds_since(start);

    // A step lasts from one gradient norm, which the host waits for, to the next, as in a run: the
    // next batch is handed over while the update is computed.
    run_step(1);
    std::vector<double> times;
    for (int64_t step = 2; step < num_steps_; ++step) {
      start = Clock::now();
      run_step(step);
      times.push_back(seconds_since(start));
    }
    const auto largest = [&](const char* what, double own) {
      double most = own;
      for (const std::string& text : world_.control().gather(what, fmt::format("{:.17g}", own)))
        most = std::max(most, std::strtod(text.c_str(), nullptr));
      return most;
    };
    bench.step_seconds = largest("bench: step", median_of(times));
    bench.setup_seconds = largest("bench: setup", setup_seconds_);
    bench.first_step_seconds = largest("bench: first step", first);
    bench.tokens_per_second = static_cast<double>(world_.size() * N_) / bench.step_seconds;
    bench.last_loss = last_loss_;
    const int64_t predicted = plan_memory(train_table(run_)).total_bytes;
    const std::string own = fmt::format("{} {}", engine_.placed().allocated_bytes(), predicted);
    for (const std::string& text : world_.control().gather("bench: memory", own)) {
      char* rest = nullptr;
      const int64_t peak = std::strtoll(text.c_str(), &rest, 10);
      bench.memory.push_back({peak, std::strtoll(rest, nullptr, 10)});
    }
    return bench;
  }

  // Of a step by itself, from an idle device to an idle one.
  double seconds_of_step(int64_t step) {
    synchronize(engine_.context());
    const auto start = Clock::now();
    run_step(step);
    synchronize(engine_.context());
    return seconds_since(start);
  }

 private:
  // All tokens are drawn before: a GPU that waits for them cools down and computes faster after.
  void draw() {
    tokens_.resize(static_cast<size_t>(num_steps_ * N_)), targets_.resize(tokens_.size());
    const RandomStream stream(1, Purpose::Test, 0, 0);
    const auto vocab = static_cast<uint32_t>(run_.config.model.vocab);
    const size_t first = static_cast<size_t>(world_.rank()) * tokens_.size();
    for (size_t i = 0; i < tokens_.size(); ++i) {
      tokens_[i] = static_cast<int32_t>(stream.bits(2 * (first + i)) % vocab);
      targets_[i] = static_cast<int32_t>(stream.bits(2 * (first + i) + 1) % vocab);
    }
    if (run_.config.train.document_mask)
      document_starts_ = random_document_starts(num_steps_ * N_, run_.config.batch.seq);
  }

  void run_step(int64_t step) {
    engine_.start_step();
    engine_.accumulate({tokens_.data() + step * N_, targets_.data() + step * N_,
                        document_starts_.empty() ? nullptr : document_starts_.data() + step * N_},
                       1.0 / static_cast<double>(N_ * world_.size()), /*last=*/true);
    engine_.update(run_.config.optim.lr, step + 1);
    engine_.take_report();
    // As a run's loop does, which meets once a step.
    last_loss_ = world_.control().sum("end of a step", engine_.take_loss()) /
                 static_cast<double>(N_ * world_.size());
  }

  const ResolvedRun& run_;
  World& world_;
  const int64_t N_;
  const int64_t num_steps_;
  const Clock::time_point begun_;
  Engine engine_;
  std::vector<int32_t> tokens_, targets_, document_starts_;  // (num_steps, N)
  double setup_seconds_ = 0.0, last_loss_ = 0.0;
};

}  // namespace

StepBench bench_train_step(const ResolvedRun& run, const StepBenchOptions& options) {
  check_fits_here(run);
  StepBench bench;
  std::once_flag kept;  // where ranks are threads, of one of them: it is the same on all
  const auto body = [&](World& world) {
    StepBench own = RankBench(run, world, options).run();
    std::call_once(kept, [&] { bench = std::move(own); });
  };
  const auto alone = rank_launcher({.device = run.place.device, .rendezvous = ""});
  (options.ranks != nullptr ? *options.ranks : *alone).run(body);
  return bench;
}

CommunicatorBench bench_communicator(const ResolvedRun& run, int64_t steps) {
  check(run.shape.layout.world() == 1, ErrorCode::Config,
        "a communicator's cost is that of one rank, got {}: several talk to each other besides",
        run.shape.layout.world());
  check_fits_here(run);
  RunPlace of_one = run.place;
  of_one.group_of_one = true;
  const ResolvedRun grouped = resolve(run.recorded, of_one);
  CommunicatorBench bench;
  run_local_ranks(1, run.place.device, [&](World& world) {
    const auto alone = single_world(run.place.device);
    RankBench plain(run, *alone, {.steps = steps}), through(grouped, world, {.steps = steps});
    std::vector<double> plain_times, through_times, differences;
    for (int64_t step = 0; step < steps + 2; ++step) {
      const double without = plain.seconds_of_step(step), with = through.seconds_of_step(step);
      if (step < 2) continue;  // what is loaded, tuned and recorded
      plain_times.push_back(without);
      through_times.push_back(with);
      differences.push_back(with / without - 1.0);
    }
    bench = {median_of(plain_times), median_of(through_times), median_of(differences)};
  });
  return bench;
}

}  // namespace ingot
