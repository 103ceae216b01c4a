#include "parallel/comm/local_group.h"

#include <string_view>

#include "core/error.h"
#include "core/log.h"

namespace ingot {
namespace {

std::string_view name_of(Collective kind) {
  switch (kind) {
    case Collective::Barrier:
      return "barrier";
    case Collective::AllReduce:
      return "all_reduce_sum";
    case Collective::AllGather:
      return "all_gather";
    case Collective::ReduceScatter:
      return "reduce_scatter_sum";
    case Collective::Broadcast:
      return "broadcast";
  }
  return "unknown";
}

bool agree(const Offer& a, const Offer& b) {
  return a.kind == b.kind && a.root == b.root && a.tensor.dtype == b.tensor.dtype &&
         a.tensor.numel() == b.tensor.numel();
}

std::string str(const Offer& offer) {
  return offer.kind == Collective::Barrier
             ? std::string(name_of(offer.kind))
             : fmt::format("{} of {}", name_of(offer.kind), offer.tensor.str());
}

}  // namespace

const std::vector<Offer>& LocalGroup::bring(int rank, const Offer& offer) {
  offers_[static_cast<size_t>(rank)] = offer;
  meet();
  // Without this, ranks that call different collectives would read past each other's tensors.
  for (int other = 1; other < size(); ++other) {
    const Offer& theirs = offers_[static_cast<size_t>(other)];
    check(agree(offers_[0], theirs), ErrorCode::Internal,
          "ranks call different collectives: rank 0 {}, rank {} {}", str(offers_[0]), other,
          str(theirs));
  }
  return offers_;
}

void LocalGroup::meet() {
  std::unique_lock lock(mutex_);
  const int64_t round = round_;
  // A meeting needs everyone, so none can complete once a rank is gone.
  if (gone_rank_ < 0 && ++arrived_ == size()) {
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
    return;
  }
  {
    const log::Wait wait("other ranks");
    changed_.wait(lock, [&] { return round_ != round || gone_rank_ >= 0; });
  }
  if (round_ == round)
    throw Error(ErrorCode::Comm, fmt::format("rank {} is gone: {}", gone_rank_, gone_why_))
        .on_rank(gone_rank_);
}

void LocalGroup::go(int rank, const std::string& why) {
  const std::scoped_lock lock(mutex_);
  if (gone_rank_ >= 0) return;
  gone_rank_ = rank;
  gone_why_ = why;
  changed_.notify_all();
}

}  // namespace ingot
