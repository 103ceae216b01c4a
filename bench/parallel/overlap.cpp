// How much of a link's time fully sharded ranks hide behind their computing: the time of a training
// step against what computing and the link take alone, with transfers a tick ahead and behind, and
// with none. Ranks are threads; a lane sleeps, or spins on the GPU, as long as a link would take.
//
//   overlap [cpu|cuda] [ranks] [preset] [sequences a rank] [tokens] [steps] [pause]
//
// `pause`: milliseconds that the host rests in each tick, so that on a machine with few cores a
// step is as long as on a device of its own and what is measured is the order of work alone. On the
// CPU it also draws a step, with and without overlap, as it was.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "model/rig.h"
#include "spec/rows/block_layout.h"
#include "step_drawing.h"
#include "support/linked_world.h"

namespace ingot::test {
namespace {

// Everything is measured so often, in turn, and the fastest counts: others share the machine.
constexpr int kRounds = 3;

struct Setup {
  RigOptions rig;
  int64_t steps = 4;
  std::chrono::milliseconds pause{0};
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

// `drawing`: of the last step.
Measured measure(const Setup& setup, const Link& link, StepDrawing* drawing = nullptr) {
  Measured found;
  LinkUse use;
  if (drawing != nullptr) use.busy = [drawing](auto... what) { drawing->busy(what...); };
  run_local_ranks(setup.rig.layout.world(), setup.rig.device, [&](World& local) {
    LinkedWorld world(local, link, use);
    Rig rig(setup.rig, world);
    init_weights(rig.store(), rig.parameters(), 1);
    StepDrawing* const drawn = world.rank() == 0 ? drawing : nullptr;
    rig.model().watch_ticks([&](int) {
      if (drawn != nullptr) drawn->tick();
      std::this_thread::sleep_for(setup.pause);
    });
    int64_t step = 0;
    const auto run = [&](int64_t steps) {
      for (int64_t i = 0; i < steps; ++i) {
        if (drawn != nullptr) drawn->begin();
        train(rig, setup.rig, ++step);
        if (drawn != nullptr) drawn->end();
      }
      double scale = 0.0;  // whoever reads a row waits for what was issued before
      copy_to_host(rig.ctx(), rig.placed().find("loss.scale"), &scale);
      world.control().barrier("steps");
    };
    run(2);
    if (world.rank() == 0) use.calls = use.bytes = use.microseconds = 0;
    world.control().barrier("start");
    const auto start = std::chrono::steady_clock::now();
    run(setup.steps);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (world.rank() != 0) return;
    const auto steps = static_cast<double>(setup.steps);
    found = {time.count() / steps, static_cast<double>(use.microseconds) * 1e-6 / steps,
             use.bytes / setup.steps, use.calls / setup.steps};
  });
  return found;
}

// What nothing hides: the gathers before the first layer, and the last gradients.
double exposed_ends(const RigOptions& options, const Link& link) {
  const int ranks = options.layout.dp_shard;
  const auto blocks = block_layouts(transformer_parameters(options.model), ranks);
  const auto seconds = [&](const BlockLayout& block, DType dtype) {
    const auto moved = static_cast<double>(block.shard_elements * (ranks - 1) * size_of(dtype));
    return std::chrono::duration<double>(link.latency).count() + moved / link.bytes_per_second;
  };
  return seconds(blocks[0], options.compute) + seconds(blocks[1], options.compute) +
         seconds(blocks[0], accumulation_dtype(options.compute));
}

Measured faster(const Measured& a, const Measured& b) {
  return a.step == 0.0 || b.step < a.step ? b : a;
}

// A link that takes `share` of the time that a step computes, and what steps over it take.
struct Row {
  Link link;
  Measured with, without;  // transfers beside other ticks, or not
};

void print_table(const Setup& setup) {
  Setup bare = setup;
  bare.rig.overlap_ticks = 0;
  Measured alone;
  for (int round = 0; round < kRounds; ++round) alone = faster(alone, measure(setup, {}));
  std::vector<Row> rows;
  for (const double share : {0.25, 0.5, 1.0, 2.0})
    rows.push_back({{.latency = std::chrono::microseconds(50),
                     .bytes_per_second = static_cast<double>(alone.bytes) / (share * alone.step)},
                    {},
                    {}});
  for (int round = 0; round < kRounds; ++round) {
    alone = faster(alone, measure(setup, {}));
    for (Row& row : rows) {
      row.with = faster(row.with, measure(setup, row.link));
      row.without = faster(row.without, measure(bare, row.link));
    }
  }
  fmt::print(
      "{} ranks on {}; a step computes {:.1f} ms; {} collectives, {:.1f} MB out of a rank\n\n",
      setup.rig.layout.world(), setup.rig.device, alone.step * 1e3, alone.calls,
      static_cast<double>(alone.bytes) * 1e-6);
  fmt::print("{:>10} {:>9} {:>9} {:>9} {:>12} {:>9} {:>10} {:>8}\n", "link MB/s", "link ms",
             "ends ms", "max ms", "1.15max+ends", "step ms", "without ms", "hidden");
  for (const Row& row : rows) {
    const double ends = exposed_ends(setup.rig, row.link);
    const double link = row.with.link, most = std::max(alone.step, link);
    const double hidden = (alone.step + link - row.with.step) / std::min(alone.step, link);
    fmt::print("{:>10.0f} {:>9.1f} {:>9.1f} {:>9.1f} {:>12.1f} {:>9.1f} {:>10.1f} {:>7.0f}%\n",
               row.link.bytes_per_second * 1e-6, link * 1e3, ends * 1e3, most * 1e3,
               (1.15 * most + ends) * 1e3, row.with.step * 1e3, row.without.step * 1e3,
               hidden * 100);
  }
  if (setup.rig.device.kind != DeviceKind::Cpu) return;
  for (const Setup& one : {setup, bare}) {
    StepDrawing drawing;
    measure(one, rows[1].link, &drawing);
    fmt::print("\na step over {:.0f} MB/s, {} overlap\n{}", rows[1].link.bytes_per_second * 1e-6,
               one.rig.overlap_ticks > 0 ? "with" : "without", drawing.text());
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
  setup.pause = std::chrono::milliseconds(number(7, "0"));
  rig.loss_chunk = 512;
  rig.threads = 1;
  rig.one_micro_step = true;
  test::print_table(setup);
  return 0;
}
