#include "train/step/not_finite.h"

#include <algorithm>
#include <vector>

namespace ingot {

std::string first_not_finite(Engine& engine, Control& control, const Loader& loader, int64_t B,
                             std::span<const int64_t> firsts, Timeout timeout) {
  FirstNotFinite search(engine.context());
  Batch batch;
  // All passes, whatever is found: fully sharded ranks gather weights in each.
  for (const int64_t first : firsts) {
    loader.fill(first, B, batch);
    engine.evaluate({batch.tokens.data(), batch.targets.data(),
                     batch.document_start.empty() ? nullptr : batch.document_start.data()},
                    &search);
  }
  const std::vector<std::string> all =
      control.gather("what is not finite", search.found(), timeout);
  const auto found = std::ranges::find_if(all, [](const auto& text) { return !text.empty(); });
  return found == all.end() ? std::string() : *found;
}

}  // namespace ingot
