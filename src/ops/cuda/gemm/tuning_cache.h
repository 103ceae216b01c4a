// The fastest algorithm of each GEMM, kept in a file between runs. Free of CUDA headers: an
// algorithm is cuBLASLt's own opaque description of it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/storage/storage.h"
#include "core/tensor/dtype.h"

namespace ingot::cuda {

// The precision of a GEMM. Tf32: F32 operands rounded to 10 mantissa bits. FastFp8: sums of 8-bit
// GEMMs stay in the tensor cores' accumulators.
enum class GemmMath : uint8_t { Full, Tf32, FastFp8 };

// All that the choice of an algorithm depends on: c(M, N) = a(M, K) · b(K, N), or c += that, stored
// as in Gemm.
struct GemmKey {
  int64_t M = 0, N = 0, K = 0;
  int64_t a_stride = 0, b_stride = 0, c_stride = 0;  // elements between stored rows
  DType a_dtype = DType::F32, b_dtype = DType::F32, c_dtype = DType::F32;
  bool a_transposed = false, b_transposed = false, accumulate = false;
  GemmMath math = GemmMath::Full;
  uint16_t a_alignment = 0, b_alignment = 0, c_alignment = 0;  // bytes that divide the address

  auto operator<=>(const GemmKey&) const = default;
  std::string str() const;  // "f32 (768, 2304) += bf16 (65536, 768)ᵀ · bf16 (65536, 2304)"
};

struct GemmKeyHash {
  size_t operator()(const GemmKey& key) const;
};

struct TunedGemm {
  std::array<uint64_t, 8> algorithm{};
  double microseconds = 0;
  bool operator==(const TunedGemm&) const = default;
};

using TunedGemms = std::map<GemmKey, TunedGemm>;

// The file's text: a header with the format and the library's version, one line per GEMM, and a
// last line with their number and a checksum. parse_tuned throws ErrorCode::Data for text that is
// damaged, or of another format or library version.
std::string format_tuned(const TunedGemms& gemms, uint64_t library_version);
TunedGemms parse_tuned(std::string_view text, uint64_t library_version);

// The file for one GPU and library version in `directory`, created at the first save; an empty
// `directory` keeps nothing. File system errors never leave this class: if the cache cannot be read
// or written, it warns, and does not write again. Not thread-safe; several processes may share the
// file, and each replaces it as a whole.
class TuningCache {
 public:
  TuningCache(std::string directory, std::string_view gpu, uint64_t library_version,
              std::shared_ptr<Storage> storage = posix_storage());
  TuningCache(const TuningCache&) = delete;
  TuningCache& operator=(const TuningCache&) = delete;

  const std::string& path() const { return path_; }  // empty: nothing is kept
  const TunedGemm* find(const GemmKey& key) const;   // null if unknown; valid until put()
  // Is in the file when this returns: a run that is killed and resumed must find the same
  // algorithms. Entries that other processes saved meanwhile are kept.
  void put(const GemmKey& key, const TunedGemm& tuned);

 private:
  void save();
  TunedGemms on_disk() const;  // throws when the file is unusable

  std::string path_;
  uint64_t library_version_;
  std::shared_ptr<Storage> storage_;
  TunedGemms gemms_;
};

}  // namespace ingot::cuda
