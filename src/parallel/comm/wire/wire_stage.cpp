#include "parallel/comm/wire/wire_stage.h"

#include "core/device/cuda_backend.h"

namespace ingot {

void WireStage::turn() {
  turn_ ^= 1;
  Half& half = halves_[turn_];
  if (half.free) half.free->wait();
  half = {};
  landings_.clear();
}

std::span<std::byte> WireStage::room(int64_t bytes) {
  if (bytes == 0) return {};
  if (!memory_) memory_.emplace(device_, 2 * half_bytes_, MemorySpace::Pinned);
  Half& half = halves_[turn_];
  const int64_t offset = static_cast<int64_t>(turn_) * half_bytes_ + half.used;
  half.used += align_up(bytes);
  auto* data = static_cast<std::byte*>(memory_->place(offset, DType::U8, {bytes}).data);
  return {data, static_cast<size_t>(bytes)};
}

std::span<const std::byte> WireStage::from(Context& ctx, const void* tensor, int64_t bytes) {
  if (ctx.cuda == nullptr || bytes == 0)
    return {static_cast<const std::byte*>(tensor), static_cast<size_t>(bytes)};
  const std::span<std::byte> copy = room(bytes);
  copy_bytes(*ctx.cuda, copy.data(), tensor, bytes);
  return copy;
}

std::span<std::byte> WireStage::into(void* tensor, int64_t bytes) {
  if (device_.kind == DeviceKind::Cpu || bytes == 0)
    return {static_cast<std::byte*>(tensor), static_cast<size_t>(bytes)};
  const std::span<std::byte> copy = room(bytes);
  landings_.push_back({tensor, copy});
  return copy;
}

void WireStage::ready(Context& ctx) {
  if (ctx.cuda != nullptr) record_event(*ctx.cuda)->wait();
}

void WireStage::land(Context& ctx) {
  if (ctx.cuda == nullptr) return;
  for (const Landing& landing : landings_)
    copy_bytes(*ctx.cuda, landing.tensor, landing.bytes.data(),
               static_cast<int64_t>(landing.bytes.size()));
  halves_[turn_].free = record_event(*ctx.cuda);
}

}  // namespace ingot
