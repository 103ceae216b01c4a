// Matrices computed element by element and rounded to 8 bits in one pass. A block handles a tile of
// tokens and features, so that rows and their transposed copy are both written in whole sectors.
#pragma once

#include "ops/cuda/fp8/fp8.cuh"

namespace ingot::cuda {

// A Map has
//   kInputs, kOutputs  matrices of (N, C)
//   kMeasured          the number of outputs, from the first on, that amax measures
//   Type               their 8-bit type; further outputs, a rebuilt activation, are e4m3
//   apply<T>(in, out)  one element of each, as float; T is the dtype of the inputs
// Outputs are first rounded to T.

// (N, C), rows `stride` elements apart.
template <class T>
struct MapInput {
  const T* data;
  int64_t stride;
};

struct MapOutput {
  uint8_t* rows;        // (N, C), `stride` apart, or null
  uint8_t* transposed;  // (C, N), or null
  int64_t stride;
  const float* scale;
};

template <class T, class Map>
struct MapArguments {
  int64_t N;
  int C;
  MapInput<T> in[Map::kInputs];
  MapOutput out[Map::kOutputs];
  float* amax;  // (1), or null
};

inline constexpr int kMapThreads = 128;
inline constexpr int kMapTokens = 64, kMapFeatures = 128;  // of a tile
// As many blocks as have registers for the loads in flight (see kRowsInFlight). Without this bound
// ptxas saves registers and issues the second row's loads only after the first arrived.
template <class Map>
inline constexpr int kMapBlocksPerSm = Map::kInputs == 3 ? 7 : 10;

template <bool kAligned, class T>
__device__ __forceinline__ Packed load_elements(const T* from) {
  if constexpr (kAligned) {
    return load_packed(from);
  } else {
    Vec<T> elements;
#pragma unroll
    for (int i = 0; i < Vec<T>::kSize; ++i) elements.v[i] = from[i];
    return std::bit_cast<Packed>(elements);
  }
}

// One block per tile, features first: consecutive blocks fill the two halves of a line of
// `transposed` while it is in the L2.
template <class T, class Map, bool kAligned>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm<Map>)
    map_to_fp8_kernel(const __grid_constant__ MapArguments<T, Map> args) {
  constexpr int kSize = Vec<T>::kSize, kVectors = kMapFeatures / kSize;  // of a row
  constexpr int kRowsAtOnce = kMapThreads / kVectors;
  constexpr int kRowsInFlight = Map::kInputs == 1 ? 4 : 2;  // of a thread
  static_assert(kMapTokens % (kRowsInFlight * kRowsAtOnce) == 0, "a tile is whole rounds of loads");
  constexpr int kStride = tile_stride(kMapFeatures);
  __shared__ uint32_t tiles[Map::kOutputs][kMapTokens * kStride];
  __shared__ float warp_amax[kMapThreads / kWarp];

  const int feature_tiles = (args.C + kMapFeatures - 1) / kMapFeatures;
  const int64_t first_token = static_cast<int64_t>(blockIdx.x / feature_tiles) * kMapTokens;
  const int first_feature = static_cast<int>(blockIdx.x % feature_tiles) * kMapFeatures;
  const int vector = static_cast<int>(threadIdx.x) % kVectors;
  const int first_row = static_cast<int>(threadIdx.x) / kVectors;
  // Threads beyond the matrix repeat the last row or vector: they write the same bytes to the same
  // place and do not change the maximum.
  const int column = min(first_feature + vector * kSize, args.C - kSize);

  float scale[Map::kOutputs], amax = 0.0f;
#pragma unroll
  for (int o = 0; o < Map::kOutputs; ++o) scale[o] = *args.out[o].scale;
#pragma unroll 1
  for (int row = first_row; row < kMapTokens; row += kRowsInFlight * kRowsAtOnce) {
    Packed in[kRowsInFlight][Map::kInputs];
    int64_t tokens[kRowsInFlight];
#pragma unroll
    for (int r = 0; r < kRowsInFlight; ++r) {
      tokens[r] = min(first_token + row + r * kRowsAtOnce, args.N - 1);
#pragma unroll
      for (int i = 0; i < Map::kInputs; ++i)
        in[r][i] =
            load_elements<kAligned>(args.in[i].data + tokens[r] * args.in[i].stride + column);
    }
#pragma unroll
    for (int r = 0; r < kRowsInFlight; ++r) {
      Lanes<T, kSize> values[Map::kInputs], results[Map::kOutputs];
#pragma unroll
      for (int i = 0; i < Map::kInputs; ++i) values[i] = unpack<T>(in[r][i]);
#pragma unroll
      for (int lane = 0; lane < kSize; ++lane) {
        float from[Map::kInputs], to[Map::kOutputs];
#pragma unroll
        for (int i = 0; i < Map::kInputs; ++i) from[i] = values[i].v[lane];
        Map::template apply<T>(from, to);
#pragma unroll
        for (int o = 0; o < Map::kOutputs; ++o) results[o].v[lane] = to[o];
      }
#pragma unroll
      for (int o = 0; o < Map::kOutputs; ++o) {
        const bool measured = o < Map::kMeasured;
        const Lanes<T, kSize> rounded = unpack<T>(pack<T>(results[o]));
        Vec<uint32_t, kSize / 4> words;
#pragma unroll
        for (int w = 0; w < kSize / 4; ++w) {
          float v[4];
#pragma unroll
          for (int k = 0; k < 4; ++k) {
            v[k] = rounded.v[4 * w + k] * scale[o];
            if (measured) amax = MaxMagnitude{}(amax, rounded.v[4 * w + k]);
          }
          words.v[w] = measured ? quantize4<typename Map::Type>(v[0], v[1], v[2], v[3])
                                : quantize4<__nv_fp8_e4m3>(v[0], v[1], v[2], v[3]);
        }
        const MapOutput& out = args.out[o];
        if (out.rows != nullptr)
          store_vec(reinterpret_cast<uint32_t*>(out.rows + tokens[r] * out.stride + column), words);
        if (out.transposed != nullptr) {
          uint32_t* to = tiles[o] + (row + r * kRowsAtOnce) * kStride + vector * (kSize / 4);
#pragma unroll
          for (int w = 0; w < kSize / 4; ++w) to[w] = words.v[w];
        }
      }
    }
  }
  __syncthreads();
  const int features = min(kMapFeatures, args.C - first_feature);
#pragma unroll
  for (int o = 0; o < Map::kOutputs; ++o) {
    if (args.out[o].transposed == nullptr) continue;
    store_transposed<kMapThreads, kMapTokens>(tiles[o], kStride, features,
                                              args.out[o].transposed + first_feature * args.N,
                                              args.N, first_token);
  }
  if (args.amax != nullptr) raise_amax<kMapThreads>(amax, args.amax, warp_amax);
}

// Columns of a matrix from `first` on. Outputs must not share memory with inputs: a block writes,
// transposed, what another block has yet to read.
template <class T>
MapInput<T> map_input(const Tensor& x, int64_t first = 0) {
  return {static_cast<const T*>(x.data) + first, x.strides[0]};
}
inline MapOutput map_output(const Quantized& out, int64_t first = 0) {
  MapOutput view{nullptr, nullptr, 0, static_cast<const float*>(out.scale.data)};
  if (out.rows.defined()) {
    view.rows = static_cast<uint8_t*>(out.rows.data) + first;
    view.stride = out.rows.strides[0];
  }
  if (out.transposed.defined())
    view.transposed =
        static_cast<uint8_t*>(out.transposed.data) + first * out.transposed.strides[0];
  return view;
}

template <class Map, class T>
void map_to_fp8(Context& ctx, const MapArguments<T, Map>& args) {
  if (args.N == 0 || args.C == 0) return;
  const auto blocks =
      static_cast<unsigned>(blocks_for(args.N, kMapTokens) * blocks_for(args.C, kMapFeatures));
  bool aligned = true;
  for (const MapInput<T>& in : args.in) aligned = aligned && fits_vec(in.data, in.stride);
  launch({ctx, blocks, kMapThreads},
         aligned ? map_to_fp8_kernel<T, Map, true> : map_to_fp8_kernel<T, Map, false>, args);
}

}  // namespace ingot::cuda
