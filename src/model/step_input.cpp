#include "model/step_input.h"

#include <algorithm>
#include <string>

#include "core/error/error.h"
#include "core/tensor/kv_page.h"
#include "ops/memory.h"

namespace ingot {

StepInput::StepInput(Context& ctx, const DecodeShape& shape, const PlacedTensors& placed,
                     std::string_view prefix)
    : ctx_(ctx),
      extents_(step_inputs(shape)),
      context_(shape.context),
      on_gpu_(!shape.packed),
      host_(static_cast<size_t>(on_gpu_ ? extents_.total() : 2 * extents_.rows)) {
  const auto row = [&](std::string_view name) {
    return placed.find(std::string(prefix) + std::string(name));
  };
  if (on_gpu_) {
    memory_[0] = row("step_inputs");
  } else {
    memory_[0] = row("tokens");
    memory_[1] = row("positions");
  }
}

Tensor StepInput::part(int64_t index) const {
  if (!on_gpu_) return memory_[index].slice(0, 0, n_);
  return memory_[0].slice(0, index * extents_.rows, index * extents_.rows + n_);
}

PagedBatch StepInput::batch() const {
  PagedBatch batch{.sequences = sequences_};
  if (on_gpu_)
    batch.rows = {.ends = part(2),
                  .first_pages = part(3),
                  .page_ids = memory_[0].slice(0, 4 * extents_.rows, extents_.total()),
                  .context = context_};
  return batch;
}

void StepInput::send(std::span<const DecodeRows> sequences, int64_t n) {
  sequences_.clear();
  n_ = n;
  int64_t row = 0, page = 0;
  const auto put = [&](int32_t id, int64_t position) {
    host(0)[row] = id;
    host(1)[row] = static_cast<int32_t>(position);
  };
  for (const DecodeRows& s : sequences) {
    const int64_t end = s.first_position + std::ssize(s.ids);
    const auto pages = s.pages.first(static_cast<size_t>((end + kPageTokens - 1) / kPageTokens));
    sequences_.push_back({.pages = pages,
                          .first_position = s.first_position,
                          .first_row = row,
                          .num_rows = std::ssize(s.ids)});
    for (size_t i = 0; i < s.ids.size(); ++i, ++row) {
      const int64_t position = s.first_position + static_cast<int64_t>(i);
      put(s.ids[i], position);
      if (!on_gpu_) continue;
      host(2)[row] = static_cast<int32_t>(position + 1);
      host(3)[row] = static_cast<int32_t>(page);
    }
    if (on_gpu_) std::ranges::copy(pages, host(4) + page);
    page += std::ssize(pages);
  }
  for (; row < n; ++row) {
    put(0, 0);
    host(2)[row] = host(3)[row] = 0;
  }
  if (!on_gpu_) {
    copy_from_host(ctx_, host(0), tokens());
    copy_from_host(ctx_, host(1), positions());
  } else {
    copy_from_host(ctx_, host_.data(), memory_[0].slice(0, 0, 4 * extents_.rows + page));
  }
}

}  // namespace ingot
