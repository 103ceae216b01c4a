#include "train/hooks/weight_check.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "checkpoint/checkpoint.h"
#include "core/error/error.h"
#include "ops/memory.h"
#include "train/start/agreement.h"
#include "train/start/prepare.h"
#include "train/step/engine.h"

namespace ingot {
namespace {

constexpr int64_t kChunkBytes = 8 << 20;  // of a tensor on a GPU, copied at once

// Hashes tensors chunk by chunk, each seeded by what came before.
class TensorHash {
 public:
  explicit TensorHash(Context& ctx) : ctx_(ctx) {}

  // tensor: contiguous, one-dimensional.
  uint64_t add(uint64_t hash, const Tensor& tensor) {
    const int64_t chunk = kChunkBytes / size_of(tensor.dtype);
    for (int64_t at = 0; at < tensor.numel(); at += chunk) {
      const Tensor part = tensor.slice(0, at, std::min(at + chunk, tensor.numel()));
      const auto bytes = static_cast<size_t>(part.bytes());
      const void* data = part.data;
      if (part.device.kind != DeviceKind::Cpu) {
        staged_.resize(bytes);
        copy_to_host(ctx_, part, staged_.data());
        data = staged_.data();
      }
      hash = XXH3_64bits_withSeed(data, bytes, hash);
    }
    return hash;
  }

 private:
  Context& ctx_;
  std::vector<std::byte> staged_;
};

// Of every parameter, in the order of the shards: weight and, where it is another buffer, master.
std::vector<uint64_t> hashes_of(const ParameterStore& store) {
  TensorHash hash(store.context());
  std::vector<uint64_t> hashes;
  for (const ParameterShard& shard : store.shards()) {
    uint64_t value = hash.add(0, shard.weight);
    if (shard.master.data != shard.weight.data) value = hash.add(value, shard.master);
    hashes.push_back(value);
  }
  return hashes;
}

std::string_view bytes_of(std::span<const uint64_t> hashes) {
  return {reinterpret_cast<const char*>(hashes.data()), hashes.size_bytes()};
}

// Ranks of one group that brought another text than most of them; of a tie all. Empty: all agree.
std::vector<int> odd_ones(const std::vector<int>& group, const std::vector<std::string>& texts) {
  std::map<std::string_view, std::vector<int>> holders;
  for (const int rank : group) holders[texts[static_cast<size_t>(rank)]].push_back(rank);
  if (holders.size() == 1) return {};
  size_t most = 0, with_most = 0;
  for (const auto& [text, ranks] : holders) most = std::max(most, ranks.size());
  for (const auto& [text, ranks] : holders) with_most += ranks.size() == most;
  std::vector<int> odd;
  for (const auto& [text, ranks] : holders)
    if (ranks.size() < most || with_most > 1) odd.insert(odd.end(), ranks.begin(), ranks.end());
  std::ranges::sort(odd);
  return odd;
}

struct Difference {
  std::vector<int> group, odd;
};

// Of two copies nobody can say which is right.
std::string text_of(const Difference& found, const std::string& parameter) {
  if (found.odd == found.group)
    return fmt::format("the copies of {} on {} differ", parameter, named_ranks(found.group));
  std::vector<int> rest;
  std::ranges::set_difference(found.group, found.odd, std::back_inserter(rest));
  return fmt::format("the copy of {} on {} differs from that on {}", parameter,
                     named_ranks(found.odd), named_ranks(rest));
}

// The first group of copies that differ, the same on all ranks.
std::optional<Difference> first_difference(const Layout& layout,
                                           const std::vector<std::string>& texts) {
  for (int rank = 0; rank < static_cast<int>(texts.size()); ++rank) {
    const std::vector<int> group = layout.group(Axis::DpReplicate, rank);
    if (group.front() != rank) continue;
    std::vector<int> odd = odd_ones(group, texts);
    if (!odd.empty()) return Difference{group, std::move(odd)};
  }
  return std::nullopt;
}

}  // namespace

void check_weight_copies(Control& control, const Layout& layout, const TensorTable& parameters,
                         const ParameterStore& store, int64_t step) {
  if (layout.size(Axis::DpReplicate) == 1) return;
  const std::vector<uint64_t> own = hashes_of(store);
  // Eight bytes a rank where all is well, one list of hashes where it is not.
  const uint64_t all_of_them = XXH3_64bits(own.data(), own.size() * sizeof(uint64_t));
  if (!first_difference(layout, control.gather("weights", bytes_of({&all_of_them, 1})))) return;

  const auto lists = control.gather("weights that differ", bytes_of(own));
  for (size_t i = 0; i < own.size(); ++i) {
    std::vector<std::string> hashes;
    for (const std::string& list : lists) hashes.push_back(list.substr(i * sizeof(uint64_t), 8));
    const auto found = first_difference(layout, hashes);
    if (!found) continue;
    throw Error(ErrorCode::Numeric,
                fmt::format("step {}: {}: bad memory, a device that computes wrong, or machines of "
                            "different kinds; check them, and resume from a checkpoint of before "
                            "(--resume)",
                            step, text_of(*found, parameters[store.shards()[i].parameter].name)))
        .on_rank(found->odd.front());
  }
}

bool WeightCheckTask::due(const TaskTime& now) const {
  return !now.resumed && every_ > 0 && now.step % every_ == 0;
}

void WeightCheckTask::run(RunView& run) {
  check_weight_copies(run.control(), run.run().resolved.shape.layout, run.engine().parameters(),
                      run.engine().store(), run.state().step);
}

}  // namespace ingot
