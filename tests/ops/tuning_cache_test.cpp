#include "ops/cuda/gemm/tuning_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot::cuda {
namespace {

constexpr uint64_t kVersion = 130100;
const std::string kDirectory = "cache/gpu";
const std::string kPath = "cache/gpu/gemm_NVIDIA_H200__x__130100.txt";

GemmKey weight_gradient() {
  return {.M = 768,
          .N = 2304,
          .K = 65536,
          .a_stride = 768,
          .b_stride = 2304,
          .c_stride = 2304,
          .a_dtype = DType::BF16,
          .b_dtype = DType::BF16,
          .c_dtype = DType::F32,
          .a_transposed = true,
          .b_transposed = false,
          .accumulate = true,
          .math = GemmMath::Full,
          .a_alignment = 256,
          .b_alignment = 16,
          .c_alignment = 256};
}

// The key above, and others that differ from it in one field each.
std::vector<GemmKey> different_keys() {
  std::vector<GemmKey> keys(18, weight_gradient());
  keys[1].M = 769;
  keys[2].N = 768;
  keys[3].K = int64_t{1} << 40;
  keys[4].a_stride = 1536;
  keys[5].b_stride = 4608;
  keys[6].c_stride = 4608;
  keys[7].a_dtype = DType::F16;
  keys[8].b_dtype = DType::F8E4M3;
  keys[9].c_dtype = DType::BF16;
  keys[10].a_transposed = false;
  keys[11].b_transposed = true;
  keys[12].accumulate = false;
  keys[13].math = GemmMath::Tf32;
  keys[14].math = GemmMath::FastFp8;
  keys[15].a_alignment = 2;
  keys[16].b_alignment = 256;
  keys[17].c_alignment = 4;
  return keys;
}

TunedGemm tuned(uint64_t seed) {
  TunedGemm result;
  for (size_t i = 0; i < result.algorithm.size(); ++i) {
    result.algorithm[i] = (seed + i) * 0x9e3779b97f4a7c15u;
  }
  result.microseconds = 12.25 + 0.1 * static_cast<double>(seed);
  return result;
}

TunedGemms different_gemms() {
  TunedGemms gemms;
  for (const GemmKey& key : different_keys()) gemms.emplace(key, tuned(gemms.size()));
  return gemms;
}

template <class F>
ErrorCode code_of(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::Internal;
}

void write_text(Storage& storage, const std::string& text) {
  storage.make_directories(kDirectory);
  storage.create(kPath)->append(std::as_bytes(std::span(text)));
}

TuningCache open_cache(const std::shared_ptr<Storage>& storage) {
  return TuningCache(kDirectory, "NVIDIA H200 (x)", kVersion, storage);
}

template <class F>
std::string captured(const F& f) {
  log::configure(log::Level::Info, log::Format::Text);
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

int64_t num_lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(TuningFile, EveryFieldComesBack) {
  const TunedGemms gemms = different_gemms();
  ASSERT_EQ(gemms.size(), different_keys().size());
  EXPECT_EQ(parse_tuned(format_tuned(gemms, kVersion), kVersion), gemms);
  EXPECT_EQ(parse_tuned(format_tuned({}, kVersion), kVersion), TunedGemms{});
}

TEST(TuningFile, ALineIsReadable) {
  TunedGemm simple;
  simple.algorithm = {0x1f, 2, 3, 4, 5, 6, 7, 0xffffffffffffffffu};
  simple.microseconds = 312.5;
  const std::string text = format_tuned({{weight_gradient(), simple}}, kVersion);
  EXPECT_TRUE(text.starts_with(
      "ingot-gemm-tuning 1 cublasLt 130100\n"
      "768 2304 65536 768 2304 2304 bf16 bf16 f32 t n add full 256 16 256"
      " 000000000000001f 0000000000000002 0000000000000003 0000000000000004"
      " 0000000000000005 0000000000000006 0000000000000007 ffffffffffffffff 312.5\n"
      "end 1 "))
      << text;
}

TEST(TuningFile, AnyChangedByteIsNoticed) {
  const std::string text =
      format_tuned({{weight_gradient(), tuned(1)}, {different_keys()[5], tuned(2)}}, kVersion);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string damaged = text;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_EQ(code_of([&] { parse_tuned(damaged, kVersion); }), ErrorCode::Data) << i;
  }
}

TEST(TuningFile, AnyCutIsNoticed) {
  const std::string text = format_tuned({{weight_gradient(), tuned(1)}}, kVersion);
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_EQ(code_of([&] { parse_tuned(text.substr(0, length), kVersion); }), ErrorCode::Data)
        << length;
  }
}

TEST(TuningFile, AnotherLibraryVersionIsRefused) {
  const std::string text = format_tuned(different_gemms(), kVersion);
  EXPECT_EQ(code_of([&] { parse_tuned(text, kVersion + 1); }), ErrorCode::Data);
}

TEST(GemmKey, DescribesTheProductAsItIsStored) {
  EXPECT_EQ(weight_gradient().str(), "f32 (768, 2304) += bf16 (65536, 768)ᵀ · bf16 (65536, 2304)");
}

TEST(GemmKey, EveryFieldIsHashed) {
  std::set<size_t> hashes;
  for (const GemmKey& key : different_keys()) hashes.insert(GemmKeyHash{}(key));
  EXPECT_EQ(hashes.size(), different_keys().size());
}

// The first cache is still there: a run may be killed any time.
TEST(TuningCache, WhatWasPutIsInTheFileAtOnce) {
  const auto storage = memory_storage();
  TuningCache cache = open_cache(storage);
  EXPECT_EQ(cache.path(), kPath);
  EXPECT_EQ(cache.find(weight_gradient()), nullptr);
  cache.put(weight_gradient(), tuned(1));
  cache.put(weight_gradient(), tuned(2));
  ASSERT_NE(cache.find(weight_gradient()), nullptr);
  EXPECT_EQ(*cache.find(weight_gradient()), tuned(2));
  EXPECT_EQ(storage->list(kDirectory), std::vector<std::string>{file_name(kPath)});
  const TuningCache again = open_cache(storage);
  ASSERT_NE(again.find(weight_gradient()), nullptr);
  EXPECT_EQ(*again.find(weight_gradient()), tuned(2));
  EXPECT_EQ(again.find(different_keys()[1]), nullptr);
}

TEST(TuningCache, WithoutADirectoryKeepsNothingButAnswers) {
  const auto storage = memory_storage();
  TuningCache cache("", "NVIDIA H200", kVersion, storage);
  cache.put(weight_gradient(), tuned(1));
  EXPECT_NE(cache.find(weight_gradient()), nullptr);
  EXPECT_TRUE(storage->list(".").empty());
}

TEST(TuningCache, NothingNewIsNotWritten) {
  const auto storage = memory_storage();
  { TuningCache cache = open_cache(storage); }
  EXPECT_FALSE(storage->exists(kPath));
}

TEST(TuningCache, KeepsWhatAnotherProcessSaved) {
  const auto storage = memory_storage();
  const GemmKey ours = different_keys()[1], theirs = different_keys()[2], both = weight_gradient();
  TuningCache first = open_cache(storage), second = open_cache(storage);
  first.put(ours, tuned(1));
  second.put(both, tuned(4));
  second.put(theirs, tuned(3));
  first.put(both, tuned(2));
  const TunedGemms expected = {{ours, tuned(1)}, {theirs, tuned(3)}, {both, tuned(2)}};
  EXPECT_EQ(parse_tuned(read_text(*storage, kPath), kVersion), expected);
}

TEST(TuningCache, ADamagedFileIsIgnoredWithOneWarningAndReplaced) {
  const auto storage = memory_storage();
  write_text(*storage, "ingot-gemm-tuning 1 cublasLt 130100\nnonsense\n");
  const std::string said = captured([&] {
    TuningCache cache = open_cache(storage);
    EXPECT_EQ(cache.find(weight_gradient()), nullptr);
    cache.put(weight_gradient(), tuned(1));
  });
  EXPECT_EQ(num_lines(said), 1) << said;
  EXPECT_NE(said.find("tuning file ignored"), std::string::npos) << said;
  const TunedGemms expected = {{weight_gradient(), tuned(1)}};
  EXPECT_EQ(parse_tuned(read_text(*storage, kPath), kVersion), expected);
}

TEST(TuningCache, AStorageThatRefusesIsAWarningNotAnError) {
  const auto storage = faulty_storage(memory_storage(), {.operations_before_cut = 0});
  const std::string said = captured([&] {
    TuningCache cache = open_cache(storage);
    cache.put(weight_gradient(), tuned(1));
    cache.put(weight_gradient(), tuned(2));
    EXPECT_NE(cache.find(weight_gradient()), nullptr);
  });
  EXPECT_EQ(num_lines(said), 1) << said;
  EXPECT_NE(said.find("tuning not saved"), std::string::npos) << said;
}

}  // namespace
}  // namespace ingot::cuda
