#include "checkpoint/weights.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "spec/model/transformer_parameters.h"

namespace ingot {
namespace {

class Restyled : public Weights {
 public:
  Restyled(const Weights& weights, RopeStyle style)
      : weights_(weights), model_(weights.model()), parameters_(transformer_parameters(model_)) {
    model_.rope.style = style;
  }

  const ModelConfig& model() const override { return model_; }
  DType dtype(const std::string& name) const override { return weights_.dtype(name); }

  void read(const std::string& name, ShardRange range, const Tensor& out) const override {
    const TensorSpec& row = parameters_[parameters_.find(name)];
    const int64_t width = row.shape.rank() > 1 ? row.shape[1] : 1;
    const int64_t head = model_.head_dim * width;  // elements
    const ShardRange turned{0, turned_rows(row) * width};
    const Tensor flat = out.reshape({range.size()});
    std::vector<std::byte> whole(static_cast<size_t>(head * size_of(out.dtype)));
    for (int64_t at = range.begin; at < range.end;) {
      if (at >= turned.end)
        return weights_.read(name, {at, range.end}, part(flat, range, at, range.end));
      const int64_t begin = at / head * head, end = std::min(begin + head, range.end);
      const Tensor source = Tensor::contiguous(whole.data(), out.dtype, {head});
      weights_.read(name, {begin, begin + head}, source);
      take(source, width, at - begin, part(flat, range, at, end));
      at = end;
    }
  }

 private:
  static Tensor part(const Tensor& flat, ShardRange range, int64_t begin, int64_t end) {
    return flat.slice(0, begin - range.begin, end - range.begin);
  }

  // Leading rows that are heads of queries and keys.
  int64_t turned_rows(const TensorSpec& row) const {
    const std::string_view name = row.name;
    if (model_.rope.style == weights_.model().rope.style) return 0;
    if (name.find(".qkv.") != std::string_view::npos)
      return (model_.heads + model_.kv_heads) * model_.head_dim;
    const bool is_norm = name.ends_with(".q_norm.weight") || name.ends_with(".k_norm.weight");
    return is_norm ? row.shape[0] : 0;
  }

  // Elements from `first` on of a head, (D, width), whose rows stand in the other order.
  void take(const Tensor& head, int64_t width, int64_t first, const Tensor& out) const {
    const int64_t half = model_.head_dim / 2, size = size_of(out.dtype);
    const auto* from = static_cast<const std::byte*>(head.data);
    auto* to = static_cast<std::byte*>(out.data);
    for (int64_t done = 0; done < out.numel();) {
      const int64_t row = (first + done) / width, column = (first + done) % width;
      const int64_t source = model_.rope.style == RopeStyle::HalfSplit
                                 ? (row < half ? 2 * row : 2 * (row - half) + 1)
                                 : row / 2 + row % 2 * half;
      const int64_t count = std::min(width - column, out.numel() - done);
      std::memcpy(to + done * size, from + (source * width + column) * size,
                  static_cast<size_t>(count * size));
      done += count;
    }
  }

  const Weights& weights_;
  ModelConfig model_;
  TensorTable parameters_;
};

class Watched : public Weights {
 public:
  Watched(const Weights& weights, WeightsProgress progress)
      : weights_(weights),
        progress_(std::move(progress)),
        elements_(parameter_count(weights.model())) {}

  const ModelConfig& model() const override { return weights_.model(); }
  DType dtype(const std::string& name) const override { return weights_.dtype(name); }
  void read(const std::string& name, ShardRange range, const Tensor& out) const override {
    weights_.read(name, range, out);
    const std::lock_guard lock(mutex_);
    // Who reads heads of other rotary pairs reads some elements twice.
    read_ = std::min(read_ + range.size(), elements_);
    if (progress_) progress_(read_, elements_);
  }

 private:
  const Weights& weights_;
  WeightsProgress progress_;
  int64_t elements_;
  mutable std::mutex mutex_;
  mutable int64_t read_ = 0;
};

}  // namespace

std::unique_ptr<Weights> with_rope_style(const Weights& weights, RopeStyle style) {
  return std::make_unique<Restyled>(weights, style);
}

std::unique_ptr<Weights> with_progress(const Weights& weights, WeightsProgress progress) {
  return std::make_unique<Watched>(weights, std::move(progress));
}

}  // namespace ingot
