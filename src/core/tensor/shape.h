// A tensor's extents: up to five dimensions, stored inline.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace ingot {

class Shape {
 public:
  static constexpr int kMaxRank = 5;

  Shape() = default;
  Shape(
      std::initializer_list<int64_t> dims);  // throws Error beyond kMaxRank or on a negative extent

  int rank() const { return rank_; }
  int64_t operator[](int dim) const { return dims_[dim < 0 ? rank_ + dim : dim]; }  // -1 = last
  void set(int dim, int64_t extent) { dims_[dim < 0 ? rank_ + dim : dim] = extent; }
  void append(int64_t extent);  // a new last dim; throws as the constructor does
  int64_t numel() const;
  std::string str() const;  // "(2, 512, 256)"
  bool operator==(const Shape&) const = default;

 private:
  std::array<int64_t, kMaxRank> dims_{};  // unused extents stay 0 so that == compares whole arrays
  int rank_ = 0;
};

}  // namespace ingot
