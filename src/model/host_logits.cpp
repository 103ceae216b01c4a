#include "model/host_logits.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "ops/memory.h"
#include "spec/rows/decode_table.h"

namespace ingot {
namespace {

static_assert(kLikeliestWords == kTopLogitsWords,
              "the table has a row of words for each TopLogits");

// As integers in blocks, which compilers turn into vectors: logits of a step are up to some
// million.
bool all_finite(std::span<const float> values) {
  constexpr uint32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  constexpr size_t kBlock = 64;
  const auto magnitude = [&](size_t i) { return std::bit_cast<uint32_t>(values[i]) & kMagnitude; };
  const size_t whole = values.size() / kBlock * kBlock;
  for (size_t begin = 0; begin < whole; begin += kBlock) {
    uint32_t largest = 0;
    for (size_t i = 0; i < kBlock; ++i) largest = std::max(largest, magnitude(begin + i));
    if (largest >= kInfinity) return false;
  }
  for (size_t i = whole; i < values.size(); ++i)
    if (magnitude(i) >= kInfinity) return false;
  return true;
}

}  // namespace

HostLogits::HostLogits(Context& ctx, Tensor likeliest, double softcap)
    : ctx_(ctx), likeliest_(likeliest), softcap_(softcap) {}

const TopLogits* HostLogits::likeliest(int64_t row) const {
  if (!is_likeliest_[static_cast<size_t>(row)]) return nullptr;
  const Tensor all = pinned_likeliest_->place(0, DType::U8, {pinned_likeliest_->bytes()});
  return static_cast<const TopLogits*>(all.data) + row;
}

void HostLogits::copy_likeliest(int64_t n) {
  if (!pinned_likeliest_)
    pinned_likeliest_.emplace(ctx_.device, likeliest_.bytes(), MemorySpace::Pinned);
  const Tensor found = likeliest_.slice(0, 0, n);
  copy_to_host(ctx_, found, pinned_likeliest_->place(0, DType::I32, found.shape).data);
}

std::span<float> HostLogits::pinned_floats(int64_t count) {
  const int64_t bytes = count * size_of(DType::F32);
  if (!pinned_rows_ || pinned_rows_->bytes() < bytes) {
    pinned_rows_.reset();
    pinned_rows_.emplace(ctx_.device, bytes, MemorySpace::Pinned);
  }
  return {pinned_rows_->place(0, DType::F32, {count}).as<float>(), static_cast<size_t>(count)};
}

// Runs of rows that are wanted whole.
void HostLogits::copy_rows(const Tensor& logits) {
  const int64_t n = logits.shape[0], V = logits.shape[1];
  std::span<float> values(static_cast<float*>(logits.data), static_cast<size_t>(n * V));
  const bool on_gpu = ctx_.device.kind != DeviceKind::Cpu;
  if (on_gpu) values = pinned_floats(n * V);
  rows_ = values;
  for (int64_t begin = 0, end = 0; begin < n; begin = end + 1) {
    for (end = begin; end < n && !is_likeliest_[static_cast<size_t>(end)];) ++end;
    if (on_gpu && end > begin)
      copy_to_host(ctx_, logits.slice(0, begin, end), values.data() + begin * V);
    for (int64_t row = begin; row < end; ++row) {
      const auto own = values.subspan(static_cast<size_t>(row * V), static_cast<size_t>(V));
      finite_[static_cast<size_t>(row)] = all_finite(own);
      if (softcap_ == 0) continue;
      const auto cap = static_cast<float>(softcap_);
      for (float& value : own) value = cap * std::tanh(value / cap);
    }
  }
}

void HostLogits::read(const Tensor& logits, const std::vector<bool>& is_likeliest) {
  is_likeliest_ = is_likeliest;
  finite_.assign(is_likeliest.size(), true);
  rows_ = {};
  if (std::ranges::find(is_likeliest, true) != is_likeliest.end())
    copy_likeliest(std::ssize(is_likeliest));
  if (std::ranges::find(is_likeliest, false) != is_likeliest.end()) copy_rows(logits);
  for (size_t row = 0; row < is_likeliest.size(); ++row)
    if (is_likeliest[row]) finite_[row] = likeliest(static_cast<int64_t>(row))->all_finite != 0;
}

}  // namespace ingot
