#include "probe/comm/link_rate.h"

#include <algorithm>
#include <chrono>

#include "core/device/compute_device.h"
#include "core/system/timing.h"
#include "ops/memory.h"
#include "probe/comm/nodes.h"
#include "probe/operands.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

// One rank's part. Whoever leads sends and keeps the clock; whoever follows does as it is told by
// the messages themselves, since the two have no other way to agree that all ranks do not take.
class LinkMeter {
 public:
  LinkMeter(World& world, Context& ctx, const LinkOptions& options, double seconds_each)
      : ctx_(ctx),
        most_bytes_(std::max<int64_t>(kFirstBytes, options.most_bytes)),
        seconds_(seconds_each),
        operands_(ctx),
        communicator_(world.everyone(ctx)),
        payload_(operands_.random(DType::F32, {most_bytes_ / 4})),
        size_(operands_.zeros(DType::I64, {1})),
        word_(operands_.zeros(DType::I64, {1})) {
    synchronize(ctx);
  }

  LinkRate lead(int peer) {
    LinkRate rate{communicator_->rank(), peer};
    rate.latency_seconds = latency_to(peer);
    const auto start = Clock::now();
    for (int64_t bytes = kFirstBytes;; bytes *= 4) {
      std::vector<double> times = {timed_transfer(peer, bytes)};
      // The largest one is repeated: a first one finds caches, windows and buckets as they are.
      const bool is_last = 4 * bytes > most_bytes_ || 4 * times[0] > seconds_;
      while (is_last && times.size() < 5 && seconds_since(start) + times[0] < 2 * seconds_)
        times.push_back(timed_transfer(peer, bytes));
      const double seconds = median_of(std::move(times));
      rate.bytes = bytes;
      rate.bytes_s =
          static_cast<double>(bytes) / std::max(seconds - 2 * rate.latency_seconds, 0.1 * seconds);
      if (is_last) break;
    }
    announce(peer, 0);
    return rate;
  }

  void follow(int peer) {
    for (;;) {
      communicator_->recv(size_, peer, {}).wait();
      int64_t bytes = 0;
      copy_to_host(ctx_, size_, &bytes);
      if (bytes == 0) return;
      communicator_->send(word_, peer, {}).wait();  // ready
      const int64_t pings = -bytes;
      for (int64_t i = 0; i < pings; ++i) {
        communicator_->recv(word_, peer, {}).wait();
        communicator_->send(word_, peer, {}).wait();
      }
      if (pings > 0) continue;
      communicator_->recv(message(bytes), peer, {}).wait();
      communicator_->send(word_, peer, {}).wait();  // all of it is here
    }
  }

 private:
  static constexpr int64_t kFirstBytes = int64_t{64} << 10;

  Tensor message(int64_t bytes) const { return payload_.slice(0, 0, bytes / 4); }

  // What comes: a message of so many bytes; where it is negative, so many pings; 0: no more.
  // Returns when the other is ready for it.
  void announce(int peer, int64_t what) {
    copy_from_host(ctx_, &what, size_);
    synchronize(ctx_);  // messages do not wait for the compute stream
    communicator_->send(size_, peer, {}).wait();
    if (what != 0) communicator_->recv(word_, peer, {}).wait();
  }

  double ping(int peer, int64_t pings) {
    announce(peer, -pings);
    std::vector<double> times;
    for (int64_t i = 0; i < pings; ++i) {
      const auto start = Clock::now();
      communicator_->send(word_, peer, {}).wait();
      communicator_->recv(word_, peer, {}).wait();
      times.push_back(seconds_since(start));
    }
    return median_of(std::move(times)) / 2;
  }

  double latency_to(int peer) {
    constexpr double kFewest = 5, kMost = 100;
    const double rough = ping(peer, static_cast<int64_t>(kFewest));
    const double more = std::clamp(seconds_ / 8 / std::max(rough, 1e-9), kFewest, kMost);
    return ping(peer, static_cast<int64_t>(more));
  }

  double timed_transfer(int peer, int64_t bytes) {
    announce(peer, bytes);
    const auto start = Clock::now();
    communicator_->send(message(bytes), peer, {}).wait();
    communicator_->recv(word_, peer, {}).wait();
    return seconds_since(start);
  }

  Context& ctx_;
  const int64_t most_bytes_;
  const double seconds_;
  Operands operands_;
  std::unique_ptr<Communicator> communicator_;  // works in the operands' memory
  Tensor payload_;                              // (most_bytes / 4)
  Tensor size_, word_;                          // (1)
};

}  // namespace

std::vector<LinkRate> measure_links(World& world, Context& ctx, const LinkOptions& options) {
  const auto rounds = tournament_rounds(world.size());
  const bool alone = world.size() <= options.most_alone;
  // Turns that follow one another: of both directions of each pair, or of each round.
  double turns = 0;
  for (const auto& round : rounds) turns += 2.0 * (alone ? static_cast<double>(round.size()) : 1.0);
  LinkMeter meter(world, ctx, options,
                  std::clamp(options.seconds / std::max(turns, 1.0), 0.01, 1.0));
  std::vector<LinkRate> own;
  const auto play = [&](const RankPair& pair) {
    const int me = world.rank();
    if (me != pair.first && me != pair.second) return;
    const int peer = me == pair.first ? pair.second : pair.first;
    for (const int leader : {pair.first, pair.second}) {
      if (me == leader)
        own.push_back(meter.lead(peer));
      else
        meter.follow(peer);
    }
  };
  for (const auto& round : rounds) {
    for (const RankPair& pair : round) {
      play(pair);
      if (alone) world.control().barrier("probe links: a pair");
    }
    if (!alone) world.control().barrier("probe links: a round");
  }
  std::vector<LinkRate> all;
  for (const std::string& text : world.control().gather("probe links", nlohmann::json(own).dump()))
    for (const LinkRate& rate : nlohmann::json::parse(text).get<std::vector<LinkRate>>())
      all.push_back(rate);
  std::ranges::sort(all, {}, [](const LinkRate& r) { return std::pair(r.from, r.to); });
  return all;
}

}  // namespace ingot
