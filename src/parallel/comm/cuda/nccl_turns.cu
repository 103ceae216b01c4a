#include "parallel/comm/cuda/nccl_turns.h"

#include <cstring>

#include "core/cuda/launch.h"

namespace ingot {
namespace {

struct Board {
  uint64_t turn;  // odd inside of a collective
  int64_t call;
};

__global__ void turn_kernel(volatile Board* board, int64_t call) {
  board->call = call;
  __threadfence_system();
  board->turn = board->turn + 1;
}

}  // namespace

NcclTurns::NcclTurns() : memory_(allocate_pinned(sizeof(Board))) {
  std::memset(memory_.get(), 0, sizeof(Board));
}

void NcclTurns::put(Context& ctx, int64_t call) {
  launch({ctx, 1, 1}, turn_kernel, static_cast<volatile Board*>(memory_.get()), call);
}

std::optional<NcclTurns::Inside> NcclTurns::inside() const {
  const auto* board = static_cast<const volatile Board*>(memory_.get());
  const uint64_t turn = board->turn;
  const int64_t call = board->call;
  // Read on the way from one to the next: whoever asks again sees it.
  if (turn % 2 == 0 || board->turn != turn) return std::nullopt;
  return Inside{call, turn};
}

}  // namespace ingot
