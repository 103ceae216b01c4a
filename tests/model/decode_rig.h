// A paged decoder with its memory and weights, for tests.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/device/compute_device.h"
#include "core/random/random.h"
#include "core/tensor/kv_page.h"
#include "model/layer.h"
#include "model/paged_decoder.h"
#include "plan/workspace.h"
#include "spec/model/transformer_parameters.h"

namespace ingot::test {

struct DecodeOptions {
  WeightFormat weights = WeightFormat::F32;
  int64_t context = 32;
  int64_t pages = 0;  // 0: of every sequence the whole context
  int64_t max_sequences = 1;
  int64_t max_rows = 32;
  int64_t max_logit_rows = 32;
  int threads = 2;
  Device device = Device::cpu();
};

// Every parameter by its name: biases away from 0, norms away from 1.
inline std::vector<float> drawn_weight(const TensorSpec& row) {
  const RandomStream stream(11, Purpose::Test, tensor_id(row.name));
  std::vector<float> values(static_cast<size_t>(row.shape.numel()));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.4f * stream.normal(i) + (row.role == Role::Norm ? 1.0f : 0.0f);
  return values;
}

class DecodeRig {
 public:
  using WholeWeight = std::function<std::vector<float>(const TensorSpec& row)>;

  explicit DecodeRig(const ModelConfig& model, const DecodeOptions& options = {},
                     const WholeWeight& weight = drawn_weight)
      : parameters_(transformer_parameters(model)),
        compute_(options.device, options.threads, ""),
        ctx_(compute_.context()),
        shape_(shape_of(ctx_, model, options)),
        placed_(transformer_decode_table(model, shape_), options.device) {
    ctx_.workspace = Workspace(placed_.find("workspace"));
    decoder_ = std::make_unique<PagedDecoder>(ctx_, model, shape_, placed_);
    std::string name;
    std::vector<float> whole;
    decoder_->load([&](const std::string& of, int64_t begin, int64_t, std::span<float> values) {
      if (of != name) whole = weight(parameters_[parameters_.find(name = of)]);
      std::copy_n(whole.begin() + begin, values.size(), values.begin());
    });
    pages_.resize(static_cast<size_t>(shape_.pages));
    std::iota(pages_.begin(), pages_.end(), 0);
  }

  static DecodeShape shape_of(const Context& ctx, const ModelConfig& model,
                              const DecodeOptions& o) {
    DecodeShape shape;
    shape.weights = o.weights;
    shape.context = o.context;
    shape.max_sequences = o.max_sequences;
    shape.pages =
        o.pages > 0 ? o.pages : o.max_sequences * ((o.context + kPageTokens - 1) / kPageTokens);
    shape.max_rows = o.max_rows;
    shape.max_logit_rows = o.max_logit_rows;
    shape.packed = o.device.kind == DeviceKind::Cpu;
    shape.workspace_bytes = decode_workspace_bytes(ctx.facts, model, shape);
    return shape;
  }

  PagedDecoder& decoder() { return *decoder_; }
  Context& ctx() { return ctx_; }
  const DecodeShape& shape() const { return shape_; }
  const PlacedTensors& placed() const { return placed_; }
  int64_t predicted_bytes() const {
    return plan_memory(transformer_decode_table(decoder_->config(), shape_)).total_bytes;
  }

  // Dynamic scaling as of a sequence of T tokens, for all of them.
  void rotate_as_of(int64_t T) {
    rope_table(ctx_, rope_frequencies(decoder_->config().rope),
               placed_.find("rope.cos").slice(0, 0, T), placed_.find("rope.sin").slice(0, 0, T));
  }

  // One sequence, in the first pages: `ids` from this position on, logits of the last `num_logits`.
  std::vector<float> append(std::span<const int32_t> ids, int64_t position, int64_t num_logits) {
    const DecodeRows rows{
        .ids = ids, .first_position = position, .pages = pages_, .num_logits = num_logits};
    const auto logits = decoder_->run({&rows, 1});
    return {logits.begin(), logits.end()};
  }

 private:
  TensorTable parameters_;
  ComputeDevice compute_;
  Context ctx_;
  DecodeShape shape_;
  PlacedTensors placed_;
  std::unique_ptr<PagedDecoder> decoder_;
  std::vector<int32_t> pages_;
};

}  // namespace ingot::test
