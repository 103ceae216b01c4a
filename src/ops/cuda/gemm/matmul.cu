// GEMMs that cuBLASLt does not support, and the noise for timing its algorithms.
#include "ops/cuda/fp8/fp8.cuh"
#include "ops/cuda/gemm/blas_lt.h"

namespace ingot::cuda {
namespace {

constexpr int kTile = 16;  // a block computes (kTile, kTile) of c, a thread one element

// Element (i, j) lies at i·row + j·col.
struct Matrix {
  void* data;
  DType dtype;
  int64_t row, col;
};

// The dtype is looked at for every element: speed is not what this kernel is for, and one kernel
// for each mixture would be 64 of them. V: float or double.
template <class V>
__device__ V load_as(const Matrix& matrix, int64_t i, int64_t j) {
  const int64_t at = i * matrix.row + j * matrix.col;
  switch (matrix.dtype) {
    case DType::F64:
      return static_cast<V>(static_cast<const double*>(matrix.data)[at]);
    case DType::BF16:
      return static_cast<V>(to_float(static_cast<const __nv_bfloat16*>(matrix.data)[at]));
    case DType::F16:
      return static_cast<V>(to_float(static_cast<const __half*>(matrix.data)[at]));
    default:
      return static_cast<V>(static_cast<const float*>(matrix.data)[at]);
  }
}

template <class V>
__device__ void store_as(const Matrix& matrix, int64_t i, int64_t j, V value) {
  const int64_t at = i * matrix.row + j * matrix.col;
  const float rounded = static_cast<float>(value);
  switch (matrix.dtype) {
    case DType::F64:
      static_cast<double*>(matrix.data)[at] = static_cast<double>(value);
      break;
    case DType::BF16:
      static_cast<__nv_bfloat16*>(matrix.data)[at] = from_float<__nv_bfloat16>(rounded);
      break;
    case DType::F16:
      static_cast<__half*>(matrix.data)[at] = from_float<__half>(rounded);
      break;
    default:
      static_cast<float*>(matrix.data)[at] = rounded;
  }
}

// c(M, N) = a(M, K) · b(K, N), or addend, which may be c, plus that; blocks are the tiles of c, row
// by row. Each element is summed in the order of k.
template <class V>
__global__ void __launch_bounds__(kTile* kTile)
    plain_gemm_kernel(Matrix a, Matrix b, Matrix c, Matrix addend, int64_t M, int64_t N,
                      int64_t K) {
  __shared__ V a_tile[kTile][kTile];  // rows of c, k
  __shared__ V b_tile[kTile][kTile];  // k, columns of c
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int64_t tiles_across = (N + kTile - 1) / kTile;
  const int64_t i = blockIdx.x / tiles_across * kTile + y;
  const int64_t j = blockIdx.x % tiles_across * kTile + x;
  V sum = 0;
  for (int64_t first = 0; first < K; first += kTile) {
    a_tile[y][x] = i < M && first + x < K ? load_as<V>(a, i, first + x) : V{0};
    b_tile[y][x] = first + y < K && j < N ? load_as<V>(b, first + y, j) : V{0};
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTile; ++k) sum += a_tile[y][k] * b_tile[k][x];
    __syncthreads();
  }
  if (i >= M || j >= N) return;
  if (addend.data != nullptr) sum += load_as<V>(addend, i, j);
  store_as(c, i, j, sum);
}

template <class T>
__global__ void noise_kernel(T* data, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    // The finalizer of MurmurHash3.
    uint32_t bits = static_cast<uint32_t>(i);
    bits = (bits ^ bits >> 16) * 0x85ebca6bu;
    bits = (bits ^ bits >> 13) * 0xc2b2ae35u;
    bits ^= bits >> 16;
    data[i] = from_float<T>(static_cast<float>(static_cast<int32_t>(bits)) * 0x1p-31f);
  }
}

Matrix view_of(const GemmOperand& operand) {
  const int64_t row = operand.transposed ? 1 : operand.stride;
  const int64_t col = operand.transposed ? operand.stride : 1;
  return {const_cast<void*>(operand.data), operand.dtype, row, col};
}

}  // namespace

void plain_gemm(Context& ctx, const Gemm& gemm) {
  const Matrix a = view_of(gemm.a), b = view_of(gemm.b);
  const Matrix c{gemm.c, gemm.c_dtype, gemm.c_stride, 1};
  bool wide = false;
  for (const DType dtype : {a.dtype, b.dtype, c.dtype}) {
    with_device_type(dtype, [](auto) {});  // throws for others than it names
    wide = wide || dtype == DType::F64;
  }
  const auto kernel = wide ? plain_gemm_kernel<double> : plain_gemm_kernel<float>;
  const unsigned tiles = blocks_for(gemm.M, kTile) * blocks_for(gemm.N, kTile);
  Matrix addend = c;
  if (gemm.addend != nullptr || !gemm.accumulate) addend.data = const_cast<void*>(gemm.addend);
  launch({ctx, tiles, dim3(kTile, kTile)}, kernel, a, b, c, addend, gemm.M, gemm.N, gemm.K);
}

void fill_noise(Context& ctx, DType dtype, int64_t count, void* data) {
  constexpr unsigned kThreads = 256, kBlocksPerSm = 8;
  const unsigned blocks = kBlocksPerSm * static_cast<unsigned>(ctx.cuda->num_sms());
  with_any_float_type(dtype, [&](auto element) {
    using T = decltype(element);
    launch({ctx, blocks, kThreads}, noise_kernel<T>, static_cast<T*>(data), count);
  });
}

}  // namespace ingot::cuda
