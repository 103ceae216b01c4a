#include "model/first_not_finite.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "core/error/error.h"
#include "core/tensor/visit_dtype.h"
#include "ops/memory.h"

namespace ingot {
namespace {

double value_at(const std::byte* data, DType dtype, int64_t i) {
  double value = 0.0;
  const bool known =
      visit_dtype<DType::F64, DType::F32, DType::BF16, DType::F16>(dtype, [&]<class T>(T element) {
        element = reinterpret_cast<const T*>(data)[i];
        if constexpr (std::is_floating_point_v<T>)
          value = static_cast<double>(element);
        else
          value = static_cast<double>(element.to_float());
      });
  check(known, ErrorCode::Internal, "activations expected floats, got {}", name_of(dtype));
  return value;
}

std::string place_of(std::string_view what, int64_t layer) {
  return layer < 0 ? std::string(what) : fmt::format("layer {}, {}", layer, what);
}

constexpr char kProjections[] = "projection to queries, keys and values";
constexpr char kAttention[] = "attention output";
constexpr char kMlp[] = "MLP output";

}  // namespace

bool FirstNotFinite::holds(const Tensor& tensor, bool (*bad)(double)) {
  if (!found_.empty() || !tensor.defined()) return false;
  host_.resize(static_cast<size_t>(tensor.bytes()));
  copy_to_host(ctx_, tensor, host_.data());
  for (int64_t i = 0; i < tensor.numel(); ++i)
    if (bad(value_at(host_.data(), tensor.dtype, i))) return true;
  return false;
}

void FirstNotFinite::look(std::string_view what, const Tensor& tensor, int64_t layer) {
  if (holds(tensor, [](double x) { return !std::isfinite(x); }))
    found_ = place_of(what, layer) + ": not finite";
}

void FirstNotFinite::look_at_norm(std::string_view normed, const Tensor& rstd, int64_t layer) {
  if (holds(rstd, [](double x) { return !std::isfinite(x) || x == 0.0; }))
    found_ = place_of(normed, layer) + ": not finite when it is squared for its norm";
}

void FirstNotFinite::look_at_layer(int64_t layer, const LayerTensors& x, const Tensor& next) {
  const bool is_first = layer == 0;
  look_at_norm(is_first ? "embedding" : kMlp, x.attn_rstd, is_first ? -1 : layer - 1);
  look(kProjections, x.qkv, layer);
  look_at_norm(kProjections, x.q_rstd, layer);
  look_at_norm(kProjections, x.k_rstd, layer);
  look("queries and keys", x.qk, layer);
  look("attention", x.attn.plain, layer);
  look(kAttention, x.attn_out, layer);
  look_at_norm(kAttention, x.attn_post_rstd, layer);
  look(kAttention, x.mid, layer);
  look_at_norm(kAttention, x.mlp_rstd, layer);
  look("MLP up projection", x.up, layer);
  look("MLP activation", x.act.plain, layer);
  look(kMlp, x.mlp_out, layer);
  look_at_norm(kMlp, x.mlp_post_rstd, layer);
  look(kMlp, next, layer);
}

void FirstNotFinite::look_at_final_norm(int64_t layers, const Tensor& normed, const Tensor& rstd) {
  look_at_norm(kMlp, rstd, layers - 1);
  look("final norm", normed);
}

}  // namespace ingot
