#include "train/batch_walk.h"

namespace ingot {

std::optional<int64_t> BatchWalk::next() {
  if (progress_.step >= horizon_.steps) return std::nullopt;
  const int64_t granule = batch_.micro_batch * batch_.seq * num_ranks_;
  const int64_t tokens = batch_tokens(batch_, progress_);
  const int64_t position = samples_ + (micro_ * num_ranks_ + rank_) * batch_.micro_batch;
  if (++micro_ == tokens / granule) {
    micro_ = 0;
    samples_ += tokens / batch_.seq;
    progress_.tokens += tokens;
    ++progress_.step;
  }
  return position;
}

}  // namespace ingot
