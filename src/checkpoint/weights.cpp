#include "checkpoint/weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <vector>

#include "checkpoint/elements.h"
#include "checkpoint/hashed_file.h"
#include "core/error.h"
#include "spec/llama_table.h"

namespace ingot {
namespace {

class Restyled : public Weights {
 public:
  Restyled(const Weights& weights, RopeStyle style)
      : weights_(weights), model_(weights.model()), parameters_(llama_parameters(model_)) {
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

}  // namespace

std::unique_ptr<Weights> with_rope_style(const Weights& weights, RopeStyle style) {
  return std::make_unique<Restyled>(weights, style);
}

void for_each_piece(const Weights& weights, const std::string& name, ShardRange range, DType dtype,
                    const std::function<void(const Tensor&)>& take) {
  const int64_t chunk = kFileChunkBytes / size_of(dtype);
  const auto room = static_cast<size_t>(std::min(chunk, range.size()) * size_of(dtype));
  std::array<std::vector<std::byte>, 2> buffers;
  // The next piece is read while the one before is looked through and written.
  const auto read_at = [&](int64_t at, size_t turn) {
    buffers[turn].resize(room);
    const Tensor piece =
        Tensor::contiguous(buffers[turn].data(), dtype, {std::min(chunk, range.end - at)});
    weights.read(name, {at, at + piece.numel()}, piece);
    return piece;
  };
  std::future<Tensor> next;
  size_t turn = 0;
  for (int64_t at = range.begin; at < range.end; at += chunk, turn = 1 - turn) {
    const Tensor piece = next.valid() ? next.get() : read_at(at, turn);
    if (at + chunk < range.end)
      next = std::async(std::launch::async, read_at, at + chunk, 1 - turn);
    const int64_t bad = first_not_finite(piece);
    check(bad < 0, ErrorCode::Data,
          "{} is NaN or infinite at element {}: the weights are damaged, or too large for {}; get "
          "them again",
          name, at + bad, name_of(dtype));
    take(piece);
  }
}

}  // namespace ingot
