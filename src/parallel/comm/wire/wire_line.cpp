#include "parallel/comm/wire/wire_line.h"

#include <algorithm>
#include <cstring>

#include "core/device/cuda_backend.h"
#include "core/error/error.h"
#include "parallel/comm/rank_order.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

// What one exchange holds of each member's bytes: large enough that a round's latency does not
// count, and all of a round 24 MiB at most.
int64_t chunk_bytes_for(size_t members) {
  const auto share = (int64_t{24} << 20) / (3 * static_cast<int64_t>(members));
  return std::clamp(share, int64_t{64} << 10, int64_t{1} << 20) / kArenaAlignment * kArenaAlignment;
}

std::byte* offset(void* data, int64_t bytes) {
  return static_cast<std::byte*>(data) + bytes;
}

}  // namespace

// What members send each other before the bytes of a call, so that different calls are told from
// each other; of a small call the bytes are in it.
struct WireLine::Opening {
  uint8_t kind = 0, reduce = 0, dtype = 0, unused = 0;
  int32_t peer = 0;
  int64_t number = 0, count = 0;
  char text[232] = {};
  std::byte data[768] = {};

  Opening() = default;
  explicit Opening(const CollectiveCall& call)
      : kind(static_cast<uint8_t>(call.kind)),
        reduce(static_cast<uint8_t>(call.reduce)),
        dtype(static_cast<uint8_t>(call.in.dtype)),
        peer(call.peer),
        number(call.number),
        count(call.in.numel()) {
    call.str().copy(text, sizeof text - 1);
  }

  // A sender and its receiver make the same call.
  bool agrees_with(const Opening& other) const {
    const bool same = kind == other.kind && reduce == other.reduce && peer == other.peer;
    const bool pair = kind == static_cast<uint8_t>(Collective::Send) &&
                      other.kind == static_cast<uint8_t>(Collective::Recv);
    return (same || pair) && dtype == other.dtype && count == other.count && number == other.number;
  }
  std::string str() const { return {text, strnlen(text, sizeof text)}; }
};

WireLine::WireLine(std::unique_ptr<Channel> channel, HostPlane& plane, std::vector<int> ranks,
                   int member, Device device)
    : channel_(std::move(channel)),
      plane_(plane),
      ranks_(std::move(ranks)),
      member_(member),
      stage_(device, 3 * static_cast<int64_t>(ranks_.size()), chunk_bytes_for(ranks_.size())) {
  static_assert(sizeof(Opening) == 1024);
}

std::string WireLine::text_of(const CollectiveCall& call) const {
  return fmt::format("{} among {}", call.str(), text_of_ranks(ranks_));
}

void WireLine::take_part(Context& ctx, const CollectiveCall& call) {
  const Watched watched(plane_.watch(), text_of(call));
  deadline_ =
      Clock::now() + std::min<Timeout>(plane_.deadlines().collective, std::chrono::hours(24 * 365));
  try {
    open(ctx, call);
    if (!is_small(call)) carry_out(ctx, call);
  } catch (...) {  // copies under way use memory that goes with the failure
    if (ctx.cuda != nullptr) synchronize(*ctx.cuda);
    throw;
  }
  const std::scoped_lock lock(mutex_);
  is_joined_ = false;
  if (is_closed_) channel_->withdraw();
}

void WireLine::carry_out(Context& ctx, const CollectiveCall& call) {
  switch (call.kind) {
    case Collective::AllReduce:
      return all_reduce(ctx, call);
    case Collective::ReduceScatter:
      return reduce_scatter(ctx, call);
    case Collective::AllGather:
      return all_gather(ctx, call);
    case Collective::Broadcast:
      return pass_on(ctx, call, call.peer);
    case Collective::Send:
    case Collective::Recv:
      return pass_on(ctx, call, 0);
  }
}

void WireLine::close() {
  const std::scoped_lock lock(mutex_);
  is_closed_ = true;
  if (!is_joined_) channel_->withdraw();
}

void WireLine::exchange() {
  const auto left = std::chrono::duration_cast<Timeout>(deadline_ - Clock::now());
  channel_->exchange(out_, in_, std::max(left, Timeout(1)));
  out_.clear();
  in_.clear();
}

// ---- openings, and calls that fit into them ----

int64_t WireLine::given_bytes(const CollectiveCall& call) const {
  return call.kind == Collective::ReduceScatter ? call.out.bytes() : call.in.bytes();
}

bool WireLine::is_small(const CollectiveCall& call) const {
  return given_bytes(call) <= static_cast<int64_t>(sizeof Opening::data);
}

// Whether the member has bytes for the others.
bool WireLine::gives(const CollectiveCall& call, int member) const {
  if (call.kind == Collective::Broadcast) return member == call.peer;
  if (call.kind == Collective::Send || call.kind == Collective::Recv) return member == 0;
  return true;
}

const void* WireLine::given(const CollectiveCall& call, int to) const {
  return call.kind == Collective::ReduceScatter ? offset(call.in.data, to * call.out.bytes())
                                                : call.in.data;
}

void WireLine::open(Context& ctx, const CollectiveCall& call) {
  stage_.turn();
  std::vector<Opening> own(ranks_.size(), Opening(call)), others(ranks_.size());  // by member
  const int64_t bytes = is_small(call) && gives(call, member_) ? given_bytes(call) : 0;
  const bool scatters = call.kind == Collective::ReduceScatter;  // else all get the same
  std::vector<std::span<const std::byte>> data;
  for (int to = 0; to < size(); ++to)
    data.push_back(to == 0 || scatters ? stage_.from(ctx, given(call, to), bytes) : data[0]);
  if (bytes > 0) stage_.ready(ctx);
  for (size_t to = 0; to < own.size(); ++to) {
    if (bytes > 0) std::memcpy(own[to].data, data[to].data(), static_cast<size_t>(bytes));
    if (static_cast<int>(to) == member_) continue;
    out_.push_back({static_cast<int>(to), std::as_bytes(std::span(&own[to], 1))});
    in_.push_back({static_cast<int>(to), std::as_writable_bytes(std::span(&others[to], 1))});
  }
  exchange();
  others[static_cast<size_t>(member_)] = own[static_cast<size_t>(member_)];
  check_agreement(others);
  {
    const std::scoped_lock lock(mutex_);
    check(!is_closed_, ErrorCode::Comm, "abandoned by this rank");
    is_joined_ = true;
  }
  if (is_small(call)) close_up(ctx, call, others);
}

void WireLine::check_agreement(const std::vector<Opening>& openings) const {
  for (size_t other = 1; other < openings.size(); ++other)
    check(openings[0].agrees_with(openings[other]), ErrorCode::Internal,
          "ranks call different collectives: rank {} {}, rank {} {}", ranks_[0], openings[0].str(),
          ranks_[other], openings[other].str());
}

// The values of a small call, from what came with the openings.
void WireLine::close_up(Context& ctx, const CollectiveCall& call,
                        const std::vector<Opening>& openings) {
  const int64_t bytes = given_bytes(call);
  if (bytes == 0) return;
  if (call.kind == Collective::AllReduce || call.kind == Collective::ReduceScatter) {
    std::vector<const void*> in;
    for (const Opening& opening : openings) in.push_back(opening.data);
    void* const out = stage_.into(call.out.data, bytes).data();
    reduce_in_order(call.in.dtype, call.reduce, in, call.out.numel(), std::span(&out, 1));
  } else {
    for (int from = 0; from < size(); ++from) {
      if (!gives(call, from)) continue;
      const bool gathers = call.kind == Collective::AllGather;
      if (from == member_ && !gathers) continue;
      std::byte* to = offset(call.out.data, gathers ? from * bytes : 0);
      std::memcpy(stage_.into(to, bytes).data(), openings[static_cast<size_t>(from)].data,
                  static_cast<size_t>(bytes));
    }
  }
  stage_.land(ctx);
}

// ---- calls in rounds ----

// Every member reduces a slice of its own, sent by all others, and sends it to them. A round's
// sums go out together with what the next round adds up.
void WireLine::all_reduce(Context& ctx, const CollectiveCall& call) {
  const int64_t n = call.in.numel(), step = chunk(call.in.dtype), width = size_of(call.in.dtype);
  struct Piece {
    std::byte* at;
    int64_t count, bytes;
  };
  const auto piece = [&](int member, int64_t round) {
    const MemberSlice slice = member_slice(n, ranks_.size(), member);
    const int64_t begin = std::min(slice.begin + round * step, slice.end);
    const int64_t end = std::min(begin + step, slice.end);
    return Piece{offset(call.in.data, begin * width), end - begin, (end - begin) * width};
  };
  const int64_t longest = (n + size() - 1) / size();
  const int64_t rounds = (longest + step - 1) / step;
  std::span<const std::byte> sums;  // this member's, of the last round
  for (int64_t round = 0; round <= rounds; ++round) {
    stage_.turn();
    const Piece own = piece(member_, round);
    std::vector<const void*> addends(ranks_.size());  // by member
    for (int other = 0; other < size(); ++other) {
      const Piece theirs = piece(other, round);
      const bool is_own = other == member_;
      if (round > 0 && !is_own) {
        const Piece last = piece(other, round - 1);
        out_.push_back({other, sums});
        in_.push_back({other, stage_.into(last.at, last.bytes)});
      }
      if (round == rounds) continue;
      const auto given = stage_.from(ctx, theirs.at, theirs.bytes);
      if (is_own) {
        addends[static_cast<size_t>(other)] = given.data();
        continue;
      }
      const auto room = stage_.room(own.bytes);
      addends[static_cast<size_t>(other)] = room.data();
      out_.push_back({other, given});
      in_.push_back({other, room});
    }
    stage_.ready(ctx);
    exchange();
    if (round < rounds) {
      const auto result = stage_.into(own.at, own.bytes);
      void* const to = result.data();
      reduce_in_order(call.in.dtype, call.reduce, addends, own.count, std::span(&to, 1));
      sums = result;
    }
    stage_.land(ctx);
  }
}

void WireLine::reduce_scatter(Context& ctx, const CollectiveCall& call) {
  const int64_t n = call.out.numel(), step = chunk(call.in.dtype), width = size_of(call.in.dtype);
  for (int64_t begin = 0; begin < n; begin += step) {
    const int64_t count = std::min(step, n - begin), bytes = count * width;
    stage_.turn();
    std::vector<const void*> addends(ranks_.size());  // by member
    for (int other = 0; other < size(); ++other) {
      const auto given = stage_.from(ctx, offset(call.in.data, (other * n + begin) * width), bytes);
      const auto room = other == member_ ? given : stage_.room(bytes);
      addends[static_cast<size_t>(other)] = room.data();
      if (other == member_) continue;
      out_.push_back({other, given});
      in_.push_back({other, {const_cast<std::byte*>(room.data()), room.size()}});
    }
    stage_.ready(ctx);
    exchange();
    void* const to = stage_.into(offset(call.out.data, begin * width), bytes).data();
    reduce_in_order(call.in.dtype, call.reduce, addends, count, std::span(&to, 1));
    stage_.land(ctx);
  }
}

void WireLine::all_gather(Context& ctx, const CollectiveCall& call) {
  const int64_t part = call.in.bytes(), step = stage_.chunk_bytes();
  copy_own_part(ctx, call);
  for (int64_t begin = 0; begin < part; begin += step) {
    const int64_t bytes = std::min(step, part - begin);
    stage_.turn();
    const auto own = stage_.from(ctx, offset(call.in.data, begin), bytes);
    for (int other = 0; other < size(); ++other) {
      if (other == member_) continue;
      out_.push_back({other, own});
      in_.push_back({other, stage_.into(offset(call.out.data, other * part + begin), bytes)});
    }
    stage_.ready(ctx);
    exchange();
    stage_.land(ctx);
  }
}

void WireLine::copy_own_part(Context& ctx, const CollectiveCall& call) {
  const int64_t part = call.in.bytes();
  std::byte* place = offset(call.out.data, member_ * part);
  if (call.in.data == place) return;
  if (ctx.cuda != nullptr)
    copy_bytes(*ctx.cuda, place, call.in.data, part);
  else
    std::memcpy(place, call.in.data, static_cast<size_t>(part));
}

void WireLine::pass_on(Context& ctx, const CollectiveCall& call, int from) {
  const int64_t all = call.in.bytes(), step = stage_.chunk_bytes();
  for (int64_t begin = 0; begin < all; begin += step) {
    const int64_t bytes = std::min(step, all - begin);
    std::byte* at = offset(call.in.data, begin);
    stage_.turn();
    if (member_ == from) {
      const auto given = stage_.from(ctx, at, bytes);
      for (int other = 0; other < size(); ++other)
        if (other != member_) out_.push_back({other, given});
      stage_.ready(ctx);
    } else {
      in_.push_back({from, stage_.into(at, bytes)});
    }
    exchange();
    stage_.land(ctx);
  }
}

}  // namespace ingot
