#include "core/device/arena.h"
#include "core/device/cuda_facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "core/error/error.h"
#include "core/system/memory_info.h"

namespace ingot {
namespace {

ErrorCode code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::Internal;
}

TEST(Arena, HoldsExactlyTheBytesAskedForAndTheyAreZero) {
  const Arena arena(Device::cpu(), 1001);
  EXPECT_EQ(arena.bytes(), 1001);
  const Tensor all = arena.place(0, DType::U8, {1001});
  EXPECT_TRUE(std::all_of(all.as<uint8_t>(), all.as<uint8_t>() + 1001,
                          [](uint8_t byte) { return byte == 0; }));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(all.data) % kArenaAlignment, 0u);
  EXPECT_THROW(arena.place(0, DType::U8, {1002}), Error);
}

TEST(Arena, PlacesAtOffsetsAndRefusesWhatDoesNotFit) {
  const Arena arena(Device::cpu(), 1024);
  const Tensor t = arena.place(256, DType::F32, {4, 48});
  EXPECT_EQ(static_cast<char*>(t.data) - static_cast<char*>(arena.place(0, DType::U8, {1}).data),
            256);
  EXPECT_NO_THROW(arena.place(1024, DType::F32, {0}));
  EXPECT_THROW(arena.place(256, DType::F32, {193}), Error);
  EXPECT_THROW(arena.place(-256, DType::F32, {1}), Error);
  EXPECT_THROW(arena.place(2, DType::F32, {1}), Error);
}

TEST(Arena, MovesWithItsMemory) {
  Arena first(Device::cpu(), 512);
  const Tensor t = first.place(0, DType::F32, {128});
  t.as<float>()[5] = 7.0f;
  Arena second = std::move(first);
  EXPECT_EQ(second.bytes(), 512);
  EXPECT_EQ(second.place(0, DType::F32, {128}).as<float>()[5], 7.0f);
  Arena third(Device::cpu(), 8);
  third = std::move(second);
  EXPECT_EQ(third.place(0, DType::F32, {128}).as<float>()[5], 7.0f);
}

TEST(Arena, AnEmptyArenaIsValid) {
  EXPECT_EQ(Arena(Device::cpu(), 0).bytes(), 0);
}

TEST(Arena, MoreThanTheMachineHasIsAMemoryErrorAtOnce) {
  EXPECT_EQ(code_of([] { Arena(Device::cpu(), int64_t{1} << 50); }), ErrorCode::Memory);
  EXPECT_EQ(code_of([] { Arena(Device::cpu(), 2 * available_memory_bytes()); }), ErrorCode::Memory);
}

TEST(Arena, AGpuThatIsNotThereIsAnError) {
  const bool has_cuda = cuda_facts().has_value();
  try {
    Arena(Device::cuda(99), 16);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), has_cuda ? ErrorCode::Device : ErrorCode::Missing);
    const char* said = has_cuda ? "CUDA: " : "./run cuda";
    EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
  }
}

TEST(Workspace, ScopesGiveBackWhatWasTaken) {
  const Arena arena(Device::cpu(), 1024);
  Workspace workspace(arena.place(0, DType::U8, {1024}));
  const Tensor kept = workspace.take(DType::F32, {10});
  void* inner = nullptr;
  {
    const Workspace::Scope scope(workspace);
    inner = workspace.take(DType::F32, {100}).data;
    EXPECT_GE(static_cast<char*>(inner), static_cast<char*>(kept.data) + kept.bytes());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(inner) % kArenaAlignment, 0u);
  }
  EXPECT_EQ(workspace.take(DType::F32, {100}).data, inner);
}

TEST(Workspace, TakingMoreThanPlannedThrows) {
  const Arena arena(Device::cpu(), 512);
  Workspace workspace(arena.place(0, DType::U8, {512}));
  workspace.take(DType::U8, {1});
  EXPECT_NO_THROW(Workspace(workspace).take(DType::U8, {256}));
  EXPECT_THROW(workspace.take(DType::U8, {257}), Error);
  EXPECT_THROW(Workspace().take(DType::U8, {1}), Error);
}

TEST(MemoryInfo, SaysWhatIsThere) {
  EXPECT_GT(available_memory_bytes(), 0);
}

}  // namespace
}  // namespace ingot
