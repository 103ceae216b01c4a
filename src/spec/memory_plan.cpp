#include <algorithm>
#include <map>

#include "core/arena.h"
#include "core/error.h"
#include "spec/tensor_table.h"

namespace ingot {
namespace {

int64_t add_bytes(int64_t a, int64_t b) {
  int64_t sum = 0;
  check(!__builtin_add_overflow(a, b, &sum), ErrorCode::Memory,
        "the tensors together are larger than any machine: lower the model, batch or context");
  return sum;
}

bool lives_touch(const Lifetime& a, const Lifetime& b) {
  const int first = std::max(a.first, b.first), last = std::min(a.last, b.last);
  if (first > last) return false;
  // Two gaps hide two ticks at most: of three, one is lived by both.
  for (int tick = first; tick <= std::min(last, first + 2); ++tick)
    if (a.at(tick) && b.at(tick)) return true;
  return false;
}

// Largest first, each at the lowest offset where it meets no row that lives at the same time. On
// the training tables this reaches the sum of what lives at the fullest tick (tested), so nothing
// cleverer is needed. Returns the bytes packed; offsets count from `base`.
int64_t pack_by_life(const std::vector<TensorSpec>& rows, std::vector<size_t> todo, int64_t base,
                     std::vector<int64_t>& offset) {
  std::stable_sort(todo.begin(), todo.end(),
                   [&](size_t a, size_t b) { return rows[a].bytes() > rows[b].bytes(); });
  std::vector<size_t> placed;  // by offset
  int64_t end = base;
  for (const size_t row : todo) {
    const int64_t bytes = align_up(rows[row].bytes());
    int64_t at = base;
    for (const size_t other : placed) {
      if (!lives_touch(rows[row].life, rows[other].life)) continue;
      if (offset[other] >= add_bytes(at, bytes)) break;
      at = std::max(at, offset[other] + align_up(rows[other].bytes()));
    }
    offset[row] = at;
    end = std::max(end, add_bytes(at, bytes));
    placed.insert(std::upper_bound(placed.begin(), placed.end(), row,
                                   [&](size_t a, size_t b) { return offset[a] < offset[b]; }),
                  row);
  }
  return end - base;
}

}  // namespace

MemoryPlan plan_memory(const TensorTable& table) {
  const std::vector<TensorSpec>& rows = table.rows();
  MemoryPlan plan;
  plan.offset.resize(rows.size());
  std::map<TensorKind, int64_t> bytes_of;
  std::vector<size_t> packed;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].life.whole_run()) {
      packed.push_back(i);
      continue;
    }
    const int64_t bytes = align_up(rows[i].bytes());
    plan.offset[i] = plan.total_bytes;
    plan.total_bytes = add_bytes(plan.total_bytes, bytes);
    bytes_of[rows[i].kind] += bytes;
  }
  if (!packed.empty()) {
    const int64_t peak = pack_by_life(rows, packed, plan.total_bytes, plan.offset);
    plan.total_bytes += peak;
    bytes_of[TensorKind::Activation] += peak;
  }
  for (const auto& [kind, bytes] : bytes_of) plan.categories.push_back({kind, bytes});
  return plan;
}

}  // namespace ingot
