#include "parallel/comm/local/local_group.h"

#include "core/async/lane_order.h"
#include "core/error/error.h"
#include "parallel/comm/local/local_ranks.h"

namespace ingot {
namespace {

bool agree(const CollectiveCall& a, const CollectiveCall& b) {
  const bool same = a.kind == b.kind && a.reduce == b.reduce && a.peer == b.peer;
  const bool pair = a.kind == Collective::Send && b.kind == Collective::Recv;
  return (same || pair) && a.in.dtype == b.in.dtype && a.in.numel() == b.in.numel();
}

}  // namespace

void LocalGroup::take_part(Context& ctx, int member, const CollectiveCall& call,
                           const std::string& what) {
  const auto own = static_cast<size_t>(member);
  const Watched watched(all_.watch(point_.rank_of(member)), what);
  offers_[own] = {call, end_of_work(ctx)};
  all_.arrive(point_, member, what, all_.deadlines().collective);
  std::exception_ptr failure;
  try {
    work(ctx, member);
    endings_[own] = {end_of_work(ctx), false};
  } catch (...) {
    failure = std::current_exception();
    endings_[own] = {nullptr, true};
  }
  // Every member's memory stays as it is until all have read it.
  point_.part();
  if (failure) std::rethrow_exception(failure);
  for (size_t other = 0; other < endings_.size(); ++other) {
    const int rank = point_.rank_of(static_cast<int>(other));
    if (endings_[other].failed)
      throw Error(ErrorCode::Comm, fmt::format("rank {} failed in it", rank)).on_rank(rank);
    if (other != own && endings_[other].done) endings_[other].done->before(*ctx.cuda);
  }
}

void LocalGroup::work(Context& ctx, int member) {
  check_agreement();
  // What one member reduces in place is there already.
  const CollectiveCall& call = offers_[0].call;
  if (offers_.size() == 1 && call.in.data == call.out.data) return;
  if (ctx.cuda == nullptr) return exchange_on_cpu(member, offers_);
  check(point_.size() <= kMaxGpuMembers, ErrorCode::Config,
        "local ranks on a GPU: expected at most {}, got {}", kMaxGpuMembers, point_.size());
  for (size_t other = 0; other < offers_.size(); ++other)
    if (static_cast<int>(other) != member) offers_[other].ready->before(*ctx.cuda);
  exchange_on_gpu(ctx, member, offers_);
}

// Without this, ranks that call different collectives would read past each other's tensors.
void LocalGroup::check_agreement() const {
  for (size_t other = 1; other < offers_.size(); ++other)
    check(agree(offers_[0].call, offers_[other].call), ErrorCode::Internal,
          "ranks call different collectives: rank {} {}, rank {} {}", point_.rank_of(0),
          offers_[0].call, point_.rank_of(static_cast<int>(other)), offers_[other].call);
}

}  // namespace ingot
