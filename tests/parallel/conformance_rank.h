// One rank of a communicator under test, the numbers it sends, and what they must become.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "core/device/arena.h"
#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "ops/memory.h"
#include "parallel/comm/world.h"

namespace ingot::test {

using Body = std::function<void(World&)>;

// What not every backend can; promises that ask for it are left out where it is not.
struct Abilities {
  bool rank_order_sums = true;  // otherwise sums are equal on all ranks, and right to rounding
  bool compares_calls = true;   // ranks that make different calls are told
  bool releases = true;         // calls that a failed rank did not join fail, naming it
  std::vector<DType> unreduced = {};  // dtypes it does not reduce, of those that others do
};

struct Backend {
  std::string name;
  int ranks = 1;
  Device device;
  // The body on every rank that this process is; throws as run_local_ranks() does, or where ranks
  // are processes what this one failed with.
  std::function<void(const Body&, const LaneDelay&)> run;
  Abilities can = {};
  int own_rank = -1;  // that this process is; -1: all, as threads

  bool is_here(int rank) const { return own_rank < 0 || own_rank == rank; }

  void operator()(const Body& body) const { run(body, {}); }
  friend void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }
};

// One rank's communicator, lanes and memory.
class CommRank {
 public:
  explicit CommRank(World& world)
      : world_(world),
        compute_(world.process().device, 1, ""),
        memory_(world.process().device, kBytes),
        lane_(compute_lane(compute_.context())),
        comm_(world.everyone(compute_.context())) {
    comm_->expect_tensors_in(memory_.place(0, DType::U8, {kBytes}));
  }

  Communicator& comm() { return *comm_; }
  World& world() { return world_; }
  Lane& lane() { return *lane_; }
  Context& ctx() { return compute_.context(); }
  int rank() const { return comm_->rank(); }
  int size() const { return comm_->size(); }

  void forget() { used_ = 0; }  // all tensors
  template <class T>
  Tensor put(const std::vector<T>& values) {
    const Tensor tensor =
        memory_.place(used_, dtype_of<T>(), {static_cast<int64_t>(values.size())});
    used_ += align_up(tensor.bytes() + 1);
    if (!values.empty()) copy_from_host(ctx(), values.data(), tensor);
    return tensor;
  }
  template <class T>
  std::vector<T> get(const Tensor& tensor) {
    std::vector<T> values(static_cast<size_t>(tensor.numel()));
    if (!values.empty()) copy_to_host(ctx(), tensor, values.data());
    return values;
  }
  // When what this rank computed so far is ready.
  Ticket ready() { return lane_->mark("inputs"); }

 private:
  static constexpr int64_t kBytes = 64 << 20;
  World& world_;
  ComputeDevice compute_;
  Arena memory_;
  int64_t used_ = 0;
  std::unique_ptr<Lane> lane_;
  std::unique_ptr<Communicator> comm_;
};

// What sums and maxima of a dtype are taken in, written down anew.
template <class T>
struct Numbers {
  using Acc = int64_t;
  static T of(int rank, int64_t i) { return static_cast<T>((i * 7 + rank * 5 + 3) % 29); }
  static Acc wide(T value) { return static_cast<Acc>(value); }
  static T cut(Acc value) { return static_cast<T>(value); }
};
// Floats whose sum depends on the order it is taken in.
template <class T>
T unruly(T scale, int rank, int64_t i) {
  const T sign = rank % 2 == 0 ? T(1) : T(-1);
  return sign * (scale / T(rank + 1) + T(i % 9973) * T(0.37) + T(rank));
}
template <>
struct Numbers<double> {
  using Acc = double;
  static double of(int rank, int64_t i) { return unruly(1e16, rank, i); }
  static double wide(double value) { return value; }
  static double cut(double value) { return value; }
};
template <>
struct Numbers<float> {
  using Acc = float;
  static float of(int rank, int64_t i) { return unruly(1e8f, rank, i); }
  static float wide(float value) { return value; }
  static float cut(float value) { return value; }
};
template <class T>
struct SmallNumbers {
  using Acc = float;
  static T of(int rank, int64_t i) { return T::from_float(unruly(900.0f, rank, i % 500)); }
  static float wide(T value) { return value.to_float(); }
  static T cut(float value) { return T::from_float(value); }
};
template <>
struct Numbers<Bf16> : SmallNumbers<Bf16> {};
template <>
struct Numbers<F16> : SmallNumbers<F16> {};

template <class T>
std::vector<T> numbers(int rank, int64_t n) {
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(Numbers<T>::of(rank, i));
  return values;
}

// Elements [begin, begin + n) of what `ranks` ranks with numbers(rank, …) reduce to.
template <class T>
std::vector<T> reduced(const std::vector<int>& ranks, Reduce reduce, int64_t begin, int64_t n) {
  std::vector<T> values;
  for (int64_t i = begin; i < begin + n; ++i) {
    auto total = Numbers<T>::wide(Numbers<T>::of(ranks[0], i));
    for (size_t r = 1; r < ranks.size(); ++r) {
      const auto next = Numbers<T>::wide(Numbers<T>::of(ranks[r], i));
      total = reduce == Reduce::Sum ? total + next : std::max(total, next);
    }
    values.push_back(Numbers<T>::cut(total));
  }
  return values;
}

inline std::vector<int> first_ranks(int count) {
  std::vector<int> ranks;
  for (int rank = 0; rank < count; ++rank) ranks.push_back(rank);
  return ranks;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
constexpr bool kIsFloat = !std::is_integral_v<T>;

// A unit in the last place of 1.
template <class T>
constexpr double kUlp = std::numeric_limits<T>::epsilon();
template <>
inline constexpr double kUlp<Bf16> = 0x1p-7;
template <>
inline constexpr double kUlp<F16> = 0x1p-10;

// Every element within a rounding for each rank of Σ|x|, whatever order it was added in.
template <class T>
bool near(const std::vector<T>& got, const std::vector<int>& ranks, int64_t begin) {
  for (size_t i = 0; i < got.size(); ++i) {
    double total = 0, size = 0;
    for (const int rank : ranks) {
      const auto next = static_cast<double>(
          Numbers<T>::wide(Numbers<T>::of(rank, begin + static_cast<int64_t>(i))));
      total += next;
      size += std::abs(next);
    }
    const double error = std::abs(static_cast<double>(Numbers<T>::wide(got[i])) - total);
    if (!(error <= static_cast<double>(ranks.size()) * kUlp<T> * size)) return false;
  }
  return true;
}

// `got` is elements [begin, …) of what `ranks` reduce to.
template <class T>
bool is_reduced(const Backend& backend, const std::vector<T>& got, const std::vector<int>& ranks,
                Reduce reduce, int64_t begin = 0) {
  if (kIsFloat<T> && reduce == Reduce::Sum && !backend.can.rank_order_sums)
    return near(got, ranks, begin);
  return same_bits(got, reduced<T>(ranks, reduce, begin, static_cast<int64_t>(got.size())));
}

// The bits of `values` are the same on all ranks.
template <class T>
void expect_equal_everywhere(World& world, const std::vector<T>& values) {
  const std::string own(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  const auto all = world.control().gather("bits", std::to_string(std::hash<std::string>{}(own)));
  for (const std::string& hash : all) EXPECT_EQ(hash, all[0]);
}

// Fewer elements than ranks, uneven slices, one block, several blocks, many.
constexpr int64_t kSizes[] = {0, 1, 3, 7, 2048, 5003, 70001};

template <class Visit>
void for_reducible_dtypes(const Visit& visit, const std::vector<DType>& without = {}) {
  const auto maybe = [&](auto zero) {
    if (std::ranges::find(without, dtype_of<decltype(zero)>()) == without.end()) visit(zero);
  };
  maybe(double{});
  maybe(float{});
  maybe(Bf16{});
  maybe(F16{});
  maybe(int64_t{});
  maybe(int32_t{});
  maybe(uint32_t{});
  maybe(uint16_t{});
  maybe(uint8_t{});
}

template <class T>
std::string label(const char* what, int64_t n, const CommRank& rank) {
  return std::string(what) + " of " + std::to_string(n) + " " +
         std::string(name_of(dtype_of<T>())) + " on rank " + std::to_string(rank.rank());
}

}  // namespace ingot::test
