#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <thread>

#include "core/foreign_error.h"
#include "parallel/comm/collective_checks.h"
#include "parallel/comm/communicator.h"
#include "parallel/comm/local_group.h"
#include "spec/shard_range.h"

namespace ingot {
namespace {

// Elements summed at once: 16 KiB of doubles stay in L1 while the ranks are added one by one.
constexpr int64_t kBlock = 2048;

// Elements [begin, end) of Σ over ranks, added in rank order; `keep` receives each finished block.
template <class T, class Keep>
void sum_in_rank_order(const std::vector<Offer>& offers, ShardRange range, const Keep& keep) {
  std::array<T, kBlock> sum;
  for (int64_t at = range.begin; at < range.end; at += kBlock) {
    const int64_t n = std::min(kBlock, range.end - at);
    std::copy_n(offers[0].tensor.as<T>() + at, n, sum.data());
    for (size_t rank = 1; rank < offers.size(); ++rank) {
      const T* addend = offers[rank].tensor.as<T>() + at;
      for (int64_t i = 0; i < n; ++i) sum[static_cast<size_t>(i)] += addend[i];
    }
    keep(at, sum.data(), n);
  }
}

template <class T>
void all_reduce_slice(const std::vector<Offer>& offers, ShardRange range) {
  sum_in_rank_order<T>(offers, range, [&](int64_t at, const T* sum, int64_t n) {
    for (const Offer& offer : offers) std::copy_n(sum, n, offer.tensor.as<T>() + at);
  });
}

template <class T>
void reduce_slice(const std::vector<Offer>& offers, ShardRange range, const Tensor& part) {
  sum_in_rank_order<T>(offers, range, [&](int64_t at, const T* sum, int64_t n) {
    std::copy_n(sum, n, part.as<T>() + (at - range.begin));
  });
}

void copy_bytes(const Tensor& from, std::byte* to) {
  if (from.numel() > 0 && from.data != to)
    std::memcpy(to, from.data, static_cast<size_t>(from.bytes()));
}

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(LocalGroup& group, int rank) : group_(group), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return group_.size(); }

  void barrier() override {
    together({Collective::Barrier, {}}, [](const std::vector<Offer>&) {});
  }

  void all_reduce_sum(const Tensor& tensor) override {
    check_summable(tensor);
    // Each rank sums its own slice of all tensors and writes it to all of them: n elements read and
    // n written by each rank, however many ranks there are.
    together({Collective::AllReduce, tensor}, [&](const std::vector<Offer>& offers) {
      const ShardRange slice = shard_range(tensor.numel(), size(), rank_);
      if (tensor.dtype == DType::F32)
        all_reduce_slice<float>(offers, slice);
      else
        all_reduce_slice<double>(offers, slice);
    });
  }

  void all_gather(const Tensor& part, const Tensor& whole) override {
    check_parts(part, whole, size());
    together({Collective::AllGather, part}, [&](const std::vector<Offer>& offers) {
      auto* to = static_cast<std::byte*>(whole.data);
      for (const Offer& offer : offers) {
        copy_bytes(offer.tensor, to);
        to += part.bytes();
      }
    });
  }

  void reduce_scatter_sum(const Tensor& whole, const Tensor& part) override {
    check_summable(whole);
    check_parts(part, whole, size());
    together({Collective::ReduceScatter, whole}, [&](const std::vector<Offer>& offers) {
      const ShardRange slice{rank_ * part.numel(), (rank_ + 1) * part.numel()};
      if (whole.dtype == DType::F32)
        reduce_slice<float>(offers, slice, part);
      else
        reduce_slice<double>(offers, slice, part);
    });
  }

  void broadcast(const Tensor& tensor, int root) override {
    check_collective(tensor);
    check_root(root, size());
    together({Collective::Broadcast, tensor, root}, [&](const std::vector<Offer>& offers) {
      copy_bytes(offers[static_cast<size_t>(root)].tensor, static_cast<std::byte*>(tensor.data));
    });
  }

 private:
  // The second meeting keeps every rank's memory as it is until all have read it.
  template <class Work>
  void together(const Offer& offer, const Work& work) {
    work(group_.bring(rank_, offer));
    group_.meet();
  }

  LocalGroup& group_;
  int rank_;
};

// How one rank's body ended.
struct Outcome {
  std::exception_ptr error;
  bool released = false;  // it failed only because another rank was gone
};

Outcome run_rank(LocalGroup& group, int rank, const std::function<void(Communicator&)>& body) {
  std::string why = "it returned while other ranks wait for it in a collective";
  Outcome outcome;
  try {
    LocalCommunicator comm(group, rank);
    body(comm);
  } catch (Error& error) {
    outcome.released = error.code() == ErrorCode::Comm && error.rank() >= 0 && error.rank() != rank;
    if (!outcome.released) error.on_rank(rank);
    outcome.error = std::current_exception();
    why = error.what();
  } catch (const std::exception& error) {
    Error ours = translated(error);
    why = ours.what();
    outcome.error = std::make_exception_ptr(ours.on_rank(rank));
  }
  group.go(rank, why);
  return outcome;
}

}  // namespace

void run_local_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  check(ranks >= 1, ErrorCode::Config, "local ranks: expected at least 1, got {}", ranks);
  LocalGroup group(ranks);
  std::vector<Outcome> outcomes(static_cast<size_t>(ranks));
  {
    std::vector<std::jthread> threads;
    threads.reserve(outcomes.size());
    try {
      for (int rank = 1; rank < ranks; ++rank)
        threads.emplace_back(
            [&, rank] { outcomes[static_cast<size_t>(rank)] = run_rank(group, rank, body); });
    } catch (const std::system_error& error) {
      group.go(0, translated(error).what());
      throw;
    }
    outcomes[0] = run_rank(group, 0, body);  // on the caller's thread: one rank starts none
  }
  for (const bool released : {false, true})
    for (const Outcome& outcome : outcomes)
      if (outcome.error && outcome.released == released) std::rethrow_exception(outcome.error);
}

}  // namespace ingot
