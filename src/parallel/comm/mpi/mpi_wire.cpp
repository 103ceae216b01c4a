// Channels over MPI's messages. MPI cannot be made to abandon a message in flight and would
// continue reading and writing its memory. So it only ever gets memory of ours (pieces), which
// outlives a failed exchange. That costs a copy on each side.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "core/error/error.h"
#include "parallel/comm/mpi/mpi_library.h"
#include "parallel/comm/mpi/mpi_start.h"
#include "parallel/comm/mpi/mpi_wait.h"
#include "parallel/comm/wire/wire.h"

namespace ingot {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = size_t{1} << 20;
constexpr size_t kPieces = 2;  // of a stream under way at once: one travels while one is copied
// What a lost rank sent before it went may be under way for so long.
constexpr auto kGrace = std::chrono::seconds(1);

// Memory that MPI works on, and the message that it is in.
struct Piece {
  std::vector<std::byte> memory;
  std::unique_ptr<MpiTransfer> transfer;  // null: MPI is done with it
  size_t begin = 0, bytes = 0;            // of the stream
};

// Pieces that MPI did not give back when an exchange failed: kept to the end of the process.
void bury(Piece piece) {
  static std::mutex mutex;
  static auto* const buried = new std::vector<Piece>;
  const std::scoped_lock lock(mutex);
  buried->push_back(std::move(piece));
}

// What goes to one member, or comes from it, in an exchange: all spans as one stream of bytes,
// which both sides cut into the same pieces.
template <class Byte>
class Stream {
 public:
  void add(std::span<Byte> bytes) {
    spans_.push_back(bytes);
    total_ += bytes.size();
  }
  size_t total() const { return total_; }

  // The parts of [begin, begin + bytes) of it, as visit(span, offset in the piece).
  template <class Visit>
  void parts(size_t begin, size_t bytes, const Visit& visit) const {
    size_t at = 0;  // where a span begins
    for (const std::span<Byte>& span : spans_) {
      const size_t first = std::max(begin, at), last = std::min(begin + bytes, at + span.size());
      if (first < last) visit(span.subspan(first - at, last - first), first - begin);
      at += span.size();
    }
  }

 private:
  std::vector<std::span<Byte>> spans_;
  size_t total_ = 0;
};

// One direction of one member, with the pieces that it keeps from exchange to exchange.
class Direction {
 public:
  void begin(size_t total) {
    total_ = total;
    begun_ = done_ = 0;
  }
  bool is_over() const { return done_ == total_; }

  // Moves on as far as it can without waiting; true when something happened. `start` begins the
  // message of a piece, `finish` takes it when it is through.
  template <class Start, class Finish>
  bool advance(const Start& start, const Finish& finish) {
    bool moved = false;
    for (Piece& piece : pieces_) {
      if (piece.transfer && piece.transfer->done()) {
        piece.transfer.reset();
        finish(piece);
        done_ += piece.bytes;
        moved = true;
      }
    }
    for (Piece& piece : pieces_) {
      if (piece.transfer || begun_ == total_) continue;
      piece.begin = begun_;
      piece.bytes = std::min(kPieceBytes, total_ - begun_);
      if (piece.memory.size() < piece.bytes) piece.memory.resize(piece.bytes);
      start(piece);
      begun_ += piece.bytes;
      moved = true;
    }
    return moved;
  }

  void abandon() {
    for (Piece& piece : pieces_) {
      if (!piece.transfer) continue;
      bool given_back = false;
      try {
        given_back = piece.transfer->withdraw();
      } catch (const std::runtime_error&) {  // NOLINT: the failure that led here is told
      }
      if (!given_back) bury(std::move(piece));
      piece = {};
    }
  }

 private:
  size_t total_ = 0, begun_ = 0, done_ = 0;
  Piece pieces_[kPieces];
};

class MpiChannel final : public Channel {
 public:
  MpiChannel(MpiLibrary& mpi, HostPlane& plane, std::vector<int> ranks, int tag)
      : mpi_(mpi), plane_(plane), ranks_(std::move(ranks)), tag_(tag) {}

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in,
                Timeout timeout) override {
    std::map<int, Stream<const std::byte>> to;  // by member
    std::map<int, Stream<std::byte>> from;
    for (const Outgoing& one : out) to[one.member].add(one.bytes);
    for (const Incoming& one : in) from[one.member].add(one.bytes);
    try {
      carry(to, from, timeout);
    } catch (...) {
      mpi_failed();
      for (auto* directions : {&sends_, &receives_})
        for (auto& [member, direction] : *directions) direction.abandon();
      withdrawn_ = true;  // what comes next could not tell old bytes from new ones
      throw;
    }
  }

  void withdraw() override { withdrawn_ = true; }

 private:
  void carry(const std::map<int, Stream<const std::byte>>& to,
             const std::map<int, Stream<std::byte>>& from, Timeout timeout) {
    for (const auto& [member, stream] : to) sends_[member].begin(stream.total());
    for (const auto& [member, stream] : from) receives_[member].begin(stream.total());
    const auto begun = Clock::now();
    auto moved = begun;  // when something last did
    MpiPause pause;
    for (;;) {
      check(!withdrawn_, ErrorCode::Comm, "abandoned by this rank");
      const bool moves = move_all(to, from);
      const std::vector<int> needed = still_needed(to, from);
      if (needed.empty()) return;
      const auto now = Clock::now();
      if (moves) {
        moved = now;
        pause.something_came();
        continue;
      }
      const bool is_late = now - begun >= timeout;
      if (is_late || now - moved > kGrace) plane_.throw_if_lost(needed);
      if (is_late) plane_.throw_late(timeout, needed);
      pause.rest();
    }
  }

  bool move_all(const std::map<int, Stream<const std::byte>>& to,
                const std::map<int, Stream<std::byte>>& from) {
    bool moves = false;
    try {
      for (const auto& [member, stream] : from) moves |= receive(member, stream);
      for (const auto& [member, stream] : to) moves |= send(member, stream);
    } catch (const std::runtime_error& error) {
      plane_.throw_if_lost();  // says more than MPI can
      throw Error(ErrorCode::Comm, fmt::format("MPI: {}", error.what()));
    }
    return moves;
  }

  // The ranks whose bytes did not come, or that did not take theirs.
  std::vector<int> still_needed(const std::map<int, Stream<const std::byte>>& to,
                                const std::map<int, Stream<std::byte>>& from) {
    std::vector<int> needed;
    for (size_t at = 0; at < ranks_.size(); ++at) {
      const int member = static_cast<int>(at);
      const bool receives = from.contains(member) && !receives_[member].is_over();
      const bool sends = to.contains(member) && !sends_[member].is_over();
      if (receives || sends) needed.push_back(ranks_[at]);
    }
    return needed;
  }

  bool receive(int member, const Stream<std::byte>& stream) {
    return receives_[member].advance(
        [&](Piece& piece) {
          piece.transfer = mpi_.receive({piece.memory.data(), piece.bytes},
                                        ranks_[static_cast<size_t>(member)], tag_);
        },
        [&](const Piece& piece) {
          stream.parts(piece.begin, piece.bytes, [&](std::span<std::byte> part, size_t at) {
            std::copy_n(piece.memory.data() + at, part.size(), part.data());
          });
        });
  }

  bool send(int member, const Stream<const std::byte>& stream) {
    return sends_[member].advance(
        [&](Piece& piece) {
          stream.parts(piece.begin, piece.bytes, [&](std::span<const std::byte> part, size_t at) {
            std::copy(part.begin(), part.end(), piece.memory.data() + at);
          });
          piece.transfer = mpi_.send({piece.memory.data(), piece.bytes},
                                     ranks_[static_cast<size_t>(member)], tag_);
        },
        [](const Piece&) {});
  }

  MpiLibrary& mpi_;
  HostPlane& plane_;
  const std::vector<int> ranks_;  // by member
  const int tag_;
  std::atomic<bool> withdrawn_ = false;
  std::map<int, Direction> sends_, receives_;  // by member
};

class MpiWire final : public Wire {
 public:
  explicit MpiWire(HostPlane& plane)
      : mpi_(mpi_library({plane.deadlines().start, machine_name(plane.process())})), plane_(plane) {
    check_mpi_process(plane.process(), plane.deadlines().start);
    // Messages of a world that failed may wait for ever; another in the same processes must not
    // take them for its own.
    static std::atomic<int64_t> worlds = 0;
    if (plane.process().rank == 0) plane.post("mpi world", std::to_string(worlds++));
    first_tag_ = std::stoll(plane.await("mpi world", plane.deadlines().start)) * kMostChannels;
  }
  ~MpiWire() override {
    if (plane_.lost()) mpi_failed();
  }

  std::string name() const override { return "mpi"; }

  std::unique_ptr<Channel> open(const std::string& name, const std::vector<int>& ranks) override {
    const int64_t number = plane_.number_of(name), tag = first_tag_ + number;
    check(number < kMostChannels && tag <= mpi_.max_tag(), ErrorCode::Internal,
          "mpi: expected less than {} channels and a tag of at most {}, got {} and {}",
          kMostChannels, mpi_.max_tag(), number, tag);
    return std::make_unique<MpiChannel>(mpi_, plane_, ranks, static_cast<int>(tag));
  }

 private:
  static constexpr int64_t kMostChannels = 1 << 16;
  MpiLibrary& mpi_;
  HostPlane& plane_;
  int64_t first_tag_ = 0;
};

}  // namespace

std::unique_ptr<Wire> mpi_wire(HostPlane& plane) {
  return std::make_unique<MpiWire>(plane);
}

}  // namespace ingot
