#include "shards/content_id.h"

#include <xxhash.h>

namespace ingot {

ContentHasher::ContentHasher(int32_t bos, int32_t eos)
    : bos_(bos), eos_(eos), state_(XXH3_createState()) {
  XXH3_128bits_reset(state_.get());
}

void ContentHasher::Free::operator()(XXH3_state_s* state) const {
  XXH3_freeState(state);
}

void ContentHasher::add(std::span<const int32_t> ids) {
  if (ids.empty()) return;
  if (holds_eos_) {  // it was text: the document continues after it
    XXH3_128bits_update(state_.get(), &eos_, sizeof(eos_));
    holds_eos_ = false;
  }
  if (at_begin_ && bos_ >= 0 && ids.front() == bos_) ids = ids.subspan(1);
  at_begin_ = false;
  if (!ids.empty() && eos_ >= 0 && ids.back() == eos_) {
    holds_eos_ = true;
    ids = ids.first(ids.size() - 1);
  }
  XXH3_128bits_update(state_.get(), ids.data(), ids.size_bytes());
}

ContentId ContentHasher::finish() {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
  XXH3_128bits_reset(state_.get());
  at_begin_ = true;
  holds_eos_ = false;
  return {hash.low64, hash.high64};
}

}  // namespace ingot
