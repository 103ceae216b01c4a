#include "spec/rows/transformer_table.h"

#include <algorithm>

#include "core/error/error.h"
#include "spec/rows/block_use.h"

namespace ingot {
namespace {

using Lives = std::vector<Lifetime>;

struct LayerRow {
  const char* name;
  Shape shape;
  DType dtype;
  Recompute recompute;
};

// What a layer writes on its way forward and reads on its way back, for B sequences of T tokens.
// Selective drops what comes back with another pass over memory (norms, act); Full also what takes
// a matrix product or attention. Under fp8 norms exist in 8 bits only, but for LayerNorm's, which
// are made of it.
std::vector<LayerRow> layer_rows(const ModelConfig& c, int64_t B, int64_t T, DType compute,
                                 bool fp8 = false) {
  const int64_t N = B * T;
  const DType wide = wide_dtype(compute);
  std::vector<LayerRow> rows = {{"residual", {N, c.dim}, compute, Recompute::Never}};
  const auto add = [&](const char* name, Shape shape, DType dtype, Recompute recompute) {
    rows.push_back({name, shape, dtype, recompute});
  };
  if (c.norm_before()) add("attn_rstd", {N}, wide, Recompute::Full);
  add("qkv", {N, c.qkv_rows()}, compute, Recompute::Full);
  add("attn", {N, c.heads * c.head_dim}, compute, Recompute::Full);
  add("lse", {B, c.heads, T}, wide, Recompute::Full);
  add("mid", {N, c.dim}, compute, Recompute::Full);
  if (c.norm_before()) add("mlp_rstd", {N}, wide, Recompute::Full);
  add("up", {N, c.up_rows()}, compute, Recompute::Full);
  // Under fp8 it exists in 8 bits too; here its gradient is put.
  add("act", {N, c.ffn}, compute, fp8 ? Recompute::Always : Recompute::Selective);
  if (c.norm_before() && (!fp8 || c.norm == NormKind::Layer)) {
    const Recompute rule = fp8 ? Recompute::Always : Recompute::Selective;
    add("attn_norm", {N, c.dim}, compute, rule);
    add("mlp_norm", {N, c.dim}, compute, rule);
  }
  if (c.qk_norm) {
    const bool head = c.qk_norm_span == QkNormSpan::Head;
    add("qk", {N, (c.heads + c.kv_heads) * c.head_dim}, compute, Recompute::Full);
    add("q_rstd", head ? Shape{N, c.heads} : Shape{N}, wide, Recompute::Full);
    add("k_rstd", head ? Shape{N, c.kv_heads} : Shape{N}, wide, Recompute::Full);
  }
  if (c.norm_after()) {
    add("attn_out", {N, c.dim}, compute, Recompute::Full);
    add("attn_post_rstd", {N}, wide, Recompute::Full);
    add("mlp_out", {N, c.dim}, compute, Recompute::Full);
    // Where the layer ends nothing is rebuilt.
    add("mlp_post_rstd", {N}, wide, Recompute::Never);
  }
  return rows;
}

bool drops(ActivationPolicy policy, Recompute rule) {
  switch (rule) {
    case Recompute::Never:
      return false;
    case Recompute::Selective:
      return policy != ActivationPolicy::None;
    case Recompute::Full:
      return policy == ActivationPolicy::Full;
    case Recompute::Always:
      return true;
  }
  throw Error(ErrorCode::Internal, "unknown recompute rule");
}

std::string shared_name(std::string_view what) {
  return "shared." + std::string(what);
}

class Builder {
 public:
  void add(TensorSpec spec) { table_.add(std::move(spec)); }
  void activation(std::string name, Shape shape, DType dtype, Lives lives,
                  Recompute recompute = Recompute::Never, MemorySpace space = MemorySpace::Device) {
    TensorSpec spec = row(std::move(name), shape, dtype, TensorKind::Activation);
    spec.lives = std::move(lives);
    spec.recompute = recompute;
    spec.space = space;
    table_.add(std::move(spec));
  }
  void lasting(std::string name, Shape shape, DType dtype, TensorKind kind) {
    table_.add(row(std::move(name), shape, dtype, kind));
  }
  void rope(int64_t context, int64_t head_dim, DType compute) {
    for (const char* name : {"rope.cos", "rope.sin"})
      lasting(name, {context, head_dim / 2}, wide_dtype(compute), TensorKind::Input);
  }
  TensorTable take() { return std::move(table_); }

 private:
  static TensorSpec row(std::string name, Shape shape, DType dtype, TensorKind kind) {
    TensorSpec spec;
    spec.name = std::move(name);
    spec.shape = shape;
    spec.dtype = dtype;
    spec.kind = kind;
    return spec;
  }
  TensorTable table_;
};

void check_compute(DType compute) {
  check(compute == DType::F64 || compute == DType::F32 || compute == DType::BF16 ||
            compute == DType::F16,
        ErrorCode::Internal, "a tensor table expected compute dtype f64, f32, bf16 or f16, got {}",
        name_of(compute));
}

// Operands of a layer's products in 8 bits, the widest of each kind, since one layer computes at a
// time; the weights' copies; and the scales of all of them.
void add_fp8_rows(Builder& b, const ModelConfig& c, int64_t N, bool head,
                  const Lives& every_layer) {
  const int64_t C = c.dim, widest = std::max({C, c.heads * c.head_dim, c.ffn});
  const int64_t widest_d = std::max(c.qkv_rows(), c.up_rows());
  const auto operand = [&](const char* name, Shape shape, DType dtype) {
    b.activation(name, shape, dtype, every_layer);
  };
  operand("fp8.x", {N, widest}, DType::F8E4M3);
  operand("fp8.xt", {widest, N}, DType::F8E4M3);
  operand("fp8.d", {N, C}, DType::F8E5M2);
  operand("fp8.dt", {C, N}, DType::F8E5M2);
  operand("fp8.wide_d", {N, widest_d}, DType::F8E5M2);
  operand("fp8.wide_dt", {widest_d, N}, DType::F8E5M2);

  const auto lasting = [&](std::string name, Shape shape, DType dtype) {
    b.lasting(std::move(name), shape, dtype, TensorKind::Quantized);
  };
  const TensorTable parameters = transformer_parameters(c);
  for (const TensorSpec& row : parameters.rows()) {
    const bool is_head = row.name == (c.tied ? "embedding.weight" : "head.weight");
    if (row.role != Role::Matrix && !(is_head && head)) continue;
    lasting("fp8:" + row.name, row.shape, DType::F8E4M3);
    lasting("fp8t:" + row.name, {row.shape[1], row.shape[0]}, DType::F8E4M3);
  }
  const int64_t S = kFp8PerLayer * c.layers + 1;
  for (const char* what : {"activations", "gradients", "weights"})
    for (const char* field : {"scale", "inverse"})
      lasting(fmt::format("fp8.{}.{}", what, field), {S, kFp8ScaleStride}, DType::F32);
  lasting("fp8.weights.amax", {S, kFp8ScaleStride}, DType::F32);
  lasting("fp8.maxima", {2, S, kFp8ScaleStride}, DType::F32);
  for (const char* what : {"activations", "gradients"})
    lasting(fmt::format("fp8.{}.history", what), {kFp8History, S}, DType::F32);
}

}  // namespace

ActivationPolicy policy_of(const TrainShape& shape, int64_t layer, int64_t num_layers) {
  return layer < num_layers - shape.keep_layers ? shape.policy : ActivationPolicy::None;
}

TensorTable transformer_train_table(const ModelConfig& c, const TrainShape& shape) {
  check_compute(shape.compute);
  check(shape.keep_layers == 0 || shape.offload_layers == 0, ErrorCode::Internal,
        "a tensor table expected layers to keep or to offload, got {} and {}", shape.keep_layers,
        shape.offload_layers);
  check(shape.slots == 1 || shape.offload_layers == 0, ErrorCode::Internal,
        "a tensor table expected one slot where layers are offloaded, got {}", shape.slots);
  const Ticks tick = ticks_of(c);
  const int L = tick.L;
  const int64_t B = shape.B, T = shape.T, N = B * T, C = c.dim;
  const int64_t HD = c.heads * c.head_dim;
  const DType compute = shape.compute, wide = wide_dtype(compute);
  Builder b;

  // What a micro-batch has to itself from its forward to its backward pass. Where there are several
  // of them, any may be held at any tick of another.
  const auto kept = [&](const std::string& name, Shape extent, DType dtype, Lifetime life,
                        Recompute recompute = Recompute::Never) {
    for (int64_t slot = 0; slot < shape.slots; ++slot)
      b.activation(slot_name(slot, name), extent, dtype, {shape.slots == 1 ? life : Lifetime{}},
                   recompute);
  };
  const auto input = [&](const char* name, Shape extent) {
    for (int64_t slot = 0; slot < shape.slots; ++slot)
      b.lasting(slot_name(slot, name), extent, DType::I32, TensorKind::Input);
  };

  input("tokens", {N});
  input("targets", {N});
  b.lasting("loss.scale", {1}, DType::F64, TensorKind::Input);
  const bool learned = c.positions == Positions::Learned;
  if (shape.document_mask) input("document_start", {B, T});
  if (shape.document_mask || learned) input("positions", {B, T});
  if (!learned) b.rope(T, c.head_dim, compute);
  b.lasting("workspace", {shape.workspace_bytes}, DType::U8, TensorKind::Workspace);

  // The end of a layer writes the residual of the next, hence forward - 1.
  const Lives every_layer{{tick.forward(0) - 1, tick.loss() - 1},
                          {tick.loss() + 1, tick.backward(0)}};
  for (const LayerRow& row : layer_rows(c, B, T, compute, shape.fp8)) {
    const auto dropped = [&](int layer) {
      return drops(policy_of(shape, layer, L), row.recompute);
    };
    // Later layers keep what the first one does, and more.
    if (dropped(0)) {
      b.activation(shared_name(row.name), row.shape, row.dtype, every_layer, row.recompute);
    } else {
      for (int64_t set = 0; set < std::min<int64_t>(shape.offload_layers, 2); ++set)
        b.activation(offload_name(set, row.name), row.shape, row.dtype,
                     {{tick.forward(0) - 1, tick.backward(0)}}, row.recompute);
    }
    for (int i = 0; i < L; ++i) {
      if (dropped(i)) continue;
      const auto place = offload_place(i, L, shape.offload_layers);
      if (!place)
        kept(layer_name(i, row.name), row.shape, row.dtype, {tick.forward(i) - 1, tick.backward(i)},
             row.recompute);
      else if (is_put_away(*place, shape.offload_layers))
        b.activation(host_name(*place, row.name), row.shape, row.dtype,
                     {{tick.forward(i), tick.backward(i)}}, row.recompute, MemorySpace::Pinned);
    }
  }

  if (shape.fp8) add_fp8_rows(b, c, N, shape.fp8_head, every_layer);

  b.activation("head_workspace", {shape.head_workspace_bytes}, DType::U8,
               {{tick.loss(), tick.loss()}});
  const Lifetime final_life{tick.forward(L - 1), tick.loss()};
  kept("final_residual", {N, C}, compute, final_life);
  kept("final_norm", {N, C}, compute, final_life);
  kept("final_rstd", {N}, wide, final_life);

  const Lifetime after_forward{tick.loss(), tick.last()};
  kept("losses", {N}, wide, after_forward);
  b.activation("d.residual", {N, C}, compute, {after_forward});
  const Lives layers_backward{{tick.backward(L - 1), tick.backward(0)}};
  b.activation("d.qkv", {N, c.qkv_rows()}, compute, layers_backward);
  if (c.qk_norm)
    b.activation("d.qk", {N, (c.heads + c.kv_heads) * c.head_dim}, compute, layers_backward);
  b.activation("d.attn", {N, HD}, compute, layers_backward);
  if (c.norm_before()) b.activation("d.norm", {N, C}, compute, layers_backward);
  if (c.norm_after()) b.activation("d.branch", {N, C}, compute, layers_backward);
  return b.take();
}

TensorTable transformer_infer_table(const ModelConfig& c, DType compute, int64_t context,
                                    int64_t chunk, int64_t workspace_bytes) {
  check_compute(compute);
  Builder b;
  const TensorTable parameters = transformer_parameters(c);
  for (TensorSpec row : parameters.rows()) {
    row.dtype = compute;
    b.add(std::move(row));
  }
  for (int64_t i = 0; i < c.layers; ++i)
    for (const char* what : {"cache.k", "cache.v"})
      b.lasting(layer_name(i, what), {1, context, c.kv_heads, c.head_dim}, compute,
                TensorKind::Cache);
  b.lasting("tokens", {chunk}, DType::I32, TensorKind::Input);
  if (c.positions == Positions::Learned)
    b.lasting("positions", {chunk}, DType::I32, TensorKind::Input);
  else
    b.rope(context, c.head_dim, compute);
  b.lasting("workspace", {workspace_bytes}, DType::U8, TensorKind::Workspace);

  // Ticks: 0 embedding and all layers, which share their rows; 1 final norm; 2 head.
  for (const LayerRow& row : layer_rows(c, 1, chunk, compute))
    b.activation(shared_name(row.name), row.shape, row.dtype, {{0, 1}});
  b.activation("final_norm", {chunk, c.dim}, compute, {{1, 2}});
  b.activation("final_rstd", {chunk}, wide_dtype(compute), {{1, 1}});
  b.activation("logits", {1, c.vocab}, wide_dtype(compute), {{2, 2}});
  return b.take();
}

std::optional<int64_t> offload_place(int64_t layer, int64_t num_layers, int64_t num_offloaded) {
  const int64_t place = (layer * num_offloaded + num_layers - 1) / num_layers;
  const bool is_offloaded = place < num_offloaded && place * num_layers / num_offloaded == layer;
  return is_offloaded ? std::optional(place) : std::nullopt;
}

TensorId layer_row(const TensorTable& table, int64_t layer, std::optional<int64_t> place,
                   std::string_view what, int64_t slot) {
  const std::string own =
      place ? offload_name(*place, what) : slot_name(slot, layer_name(layer, what));
  const TensorId found = table.try_find(own);
  return found.valid() ? found : table.try_find(shared_name(what));
}

std::string offload_name(int64_t place, std::string_view what) {
  return fmt::format("offload.{}.{}", place % 2, what);
}

bool is_put_away(int64_t place, int64_t num_offloaded) {
  return place >= 0 && place < num_offloaded - 2;
}

std::string host_name(int64_t place, std::string_view what) {
  return fmt::format("host.{}.{}", place, what);
}

std::string slot_name(int64_t slot, std::string_view name) {
  return slot == 0 ? std::string(name) : fmt::format("slot.{}.{}", slot, name);
}

}  // namespace ingot
