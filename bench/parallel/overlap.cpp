// How much of a link's time fully sharded ranks hide behind their computing: the time of a training
// step against what computing and the link take alone, with transfers a tick ahead and behind, and
// with none. Ranks are threads; a lane sleeps, or spins on the GPU, as long as a link would take.
//
//   overlap [cpu|cuda] [ranks] [preset] [sequences a rank] [tokens] [steps]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "model/rig.h"
#include "spec/block_layout.h"
#include "support/linked_world.h"

namespace ingot::test {
namespace {

constexpr int kRepetitions = 3;  // of which the fastest counts: others share the machine

struct Setup {
  RigOptions rig;
  int64_t steps = 4;
};

struct Measured {
  double step = 0.0;  // seconds
  double link = 0.0;  // seconds that collectives of a step take of it
  int64_t bytes = 0;  // of a step, out of a rank
  int64_t calls = 0;
};

void train(Rig& rig, const RigOptions& options, int64_t step) {
  const auto N = static_cast<size_t>(options.B * options.T);
  std::vector<int32_t> tokens(N);
  for (size_t i = 0; i < N; ++i)
    tokens[i] = static_cast<int32_t>((i * 7 + static_cast<size_t>(step)) %
                                     static_cast<size_t>(options.model.vocab));
  rig.store().start_step();
  rig.model().train_micro_step({tokens.data(), tokens.data(), nullptr},
                               1.0 / static_cast<double>(N), /*last=*/true);
  rig.store().finish_gradients();
  rig.update(1e-4, step);
}

Measured measure(const Setup& setup, const Link& link) {
  Measured least;
  LinkUse use;
  run_local_ranks(setup.rig.layout.world(), setup.rig.device, [&](World& local) {
    LinkedWorld world(local, link, use);
    Rig rig(setup.rig, world);
    init_weights(rig.store(), rig.parameters(), 1);
    int64_t step = 0;
    const auto run = [&](int64_t steps) {
      for (int64_t i = 0; i < steps; ++i) train(rig, setup.rig, ++step);
      double scale = 0.0;  // whoever reads a row waits for what was issued before
      copy_to_host(rig.ctx(), rig.placed().find("loss.scale"), &scale);
      world.control().barrier("steps");
    };
    run(2);
    for (int repetition = 0; repetition < kRepetitions; ++repetition) {
      if (world.rank() == 0) use.calls = use.bytes = use.microseconds = 0;
      world.control().barrier("start");
      const auto start = std::chrono::steady_clock::now();
      run(setup.steps);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      const auto per_step = [&](int64_t sum) {
        return static_cast<double>(sum) / static_cast<double>(setup.steps);
      };
      if (world.rank() != 0) continue;
      const double seconds = time.count() / static_cast<double>(setup.steps);
      if (least.step == 0.0 || seconds < least.step)
        least = {seconds, per_step(use.microseconds) * 1e-6, use.bytes / setup.steps,
                 use.calls / setup.steps};
    }
  });
  return least;
}

// What nothing hides: the gathers before the first layer, and the last gradients.
double exposed_ends(const RigOptions& options, const Link& link) {
  const int ranks = options.layout.dp_shard;
  const auto blocks = block_layouts(llama_parameters(options.model), ranks);
  const auto seconds = [&](const BlockLayout& block, DType dtype) {
    const auto moved = static_cast<double>(block.shard_elements * (ranks - 1) * size_of(dtype));
    return std::chrono::duration<double>(link.latency).count() + moved / link.bytes_per_second;
  };
  return seconds(blocks[0], options.compute) + seconds(blocks[1], options.compute) +
         seconds(blocks[0], wide_dtype(options.compute));
}

void print_table(const Setup& setup) {
  Setup bare = setup;
  bare.rig.overlap_ticks = 0;
  const Measured alone = measure(setup, {});
  fmt::print(
      "{} ranks on {}; a step computes {:.1f} ms; {} collectives, {:.1f} MB out of a rank\n\n",
      setup.rig.layout.world(), setup.rig.device, alone.step * 1e3, alone.calls,
      static_cast<double>(alone.bytes) * 1e-6);
  fmt::print("{:>10} {:>9} {:>9} {:>9} {:>12} {:>9} {:>10} {:>8}\n", "link MB/s", "link ms",
             "ends ms", "max ms", "max+ends ms", "step ms", "without ms", "hidden");
  for (const double share : {0.25, 0.5, 1.0, 2.0}) {
    Link link{.latency = std::chrono::microseconds(50)};
    link.bytes_per_second = static_cast<double>(alone.bytes) / (share * alone.step);
    const Measured with = measure(setup, link), without = measure(bare, link);
    const double ends = exposed_ends(setup.rig, link), most = std::max(alone.step, with.link);
    const double hidden = (alone.step + with.link - with.step) / std::min(alone.step, with.link);
    fmt::print("{:>10.0f} {:>9.1f} {:>9.1f} {:>9.1f} {:>12.1f} {:>9.1f} {:>10.1f} {:>7.0f}%\n",
               link.bytes_per_second * 1e-6, with.link * 1e3, ends * 1e3, most * 1e3,
               (most + ends) * 1e3, with.step * 1e3, without.step * 1e3, hidden * 100);
  }
}

}  // namespace
}  // namespace ingot::test

int main(int argc, char** argv) {
  using namespace ingot;
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  const auto number = [&](int i, const char* otherwise) {
    return std::strtoll(argument(i, otherwise).c_str(), nullptr, 10);
  };
  test::Setup setup;
  test::RigOptions& rig = setup.rig;
  const bool on_gpu = argument(1, "cpu") == "cuda";
  rig.device = on_gpu ? Device::cuda(0) : Device::cpu();
  rig.compute = on_gpu ? DType::BF16 : DType::F32;
  rig.layout.dp_shard = static_cast<int>(number(2, "2"));
  rig.model = model_preset(argument(3, "llama_10m"));
  rig.B = number(4, "2");
  rig.T = number(5, "128");
  setup.steps = number(6, "4");
  rig.loss_chunk = 512;
  rig.threads = 1;
  rig.one_micro_step = true;
  test::print_table(setup);
  return 0;
}
