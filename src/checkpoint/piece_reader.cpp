#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "checkpoint/elements.h"
#include "checkpoint/weights.h"
#include "core/error/error.h"

namespace ingot {
namespace {

// Several requests keep a disk busy; as many pieces again are read and wait to be taken. All of
// them fit into a processor's cache, where looking through them, hashing and writing find them.
constexpr size_t kThreads = 2, kSlots = 4;

struct Piece {
  const WeightsRange* of;
  ShardRange range;
};

struct Slot {
  std::vector<std::byte> bytes;
  Tensor piece;
  std::exception_ptr failed;
  bool is_ready = false;
};

}  // namespace

struct PieceReader::Impl {
  const Weights& weights;
  std::vector<WeightsRange> ranges;
  std::vector<Piece> pieces;
  size_t range = 0;  // the next one

  std::mutex mutex;  // of all that follows
  std::condition_variable changed;
  std::array<Slot, kSlots> slots;       // piece i is read into slot i % kSlots
  size_t num_begun = 0, num_taken = 0;  // pieces
  bool stopped = false;
  std::vector<std::thread> threads;

  Impl(const Weights& from, std::vector<WeightsRange> wanted)
      : weights(from), ranges(std::move(wanted)) {
    for (const WeightsRange& one : ranges) {
      const int64_t chunk = kPieceBytes / size_of(one.dtype);
      for (int64_t at = one.range.begin; at < one.range.end; at += chunk)
        pieces.push_back({&one, {at, std::min(at + chunk, one.range.end)}});
    }
    for (size_t i = 0; i < std::min(kThreads, pieces.size()); ++i)
      threads.emplace_back([this] { read_pieces(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex);
      stopped = true;
    }
    changed.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void read_pieces() {
    for (;;) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] {
        return stopped || num_begun == pieces.size() || num_begun < num_taken + kSlots;
      });
      if (stopped || num_begun == pieces.size()) return;
      const Piece& piece = pieces[num_begun];
      Slot& slot = slots[num_begun % kSlots];
      ++num_begun;
      lock.unlock();
      try {
        read(piece, slot);
      } catch (...) {
        slot.failed = std::current_exception();
      }
      lock.lock();
      slot.is_ready = true;
      lock.unlock();
      changed.notify_all();
    }
  }

  void read(const Piece& piece, Slot& slot) const {
    const auto& [name, whole, dtype] = *piece.of;
    slot.bytes.resize(static_cast<size_t>(piece.range.size() * size_of(dtype)));
    slot.piece = Tensor::contiguous(slot.bytes.data(), dtype, {piece.range.size()});
    weights.read(name, piece.range, slot.piece);
    const int64_t bad = first_not_finite(slot.piece);
    check(bad < 0, ErrorCode::Data,
          "{} is NaN or infinite at element {}: the weights are damaged, or too large for {}; get "
          "them again",
          name, piece.range.begin + bad, name_of(dtype));
  }

  void take_next(const TakePiece& take) {
    Slot& slot = slots[num_taken % kSlots];
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return slot.is_ready; });
    }
    if (slot.failed) std::rethrow_exception(slot.failed);
    take(slot.piece);
    {
      const std::lock_guard lock(mutex);
      slot.is_ready = false;
      ++num_taken;
    }
    changed.notify_all();
  }
};

PieceReader::PieceReader(const Weights& weights, std::vector<WeightsRange> ranges)
    : impl_(std::make_unique<Impl>(weights, std::move(ranges))) {}

PieceReader::~PieceReader() = default;

void PieceReader::next_range(const TakePiece& take) {
  const WeightsRange& range = impl_->ranges.at(impl_->range++);
  while (impl_->num_taken < impl_->pieces.size() && impl_->pieces[impl_->num_taken].of == &range)
    impl_->take_next(take);
}

void for_each_piece(const Weights& weights, const std::string& name, ShardRange range, DType dtype,
                    const TakePiece& take) {
  PieceReader(weights, {{name, range, dtype}}).next_range(take);
}

}  // namespace ingot
