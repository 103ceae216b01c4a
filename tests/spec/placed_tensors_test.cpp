#include "spec/table/placed_tensors.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"
#include "spec/rows/transformer_table.h"

namespace ingot {
namespace {

TEST(PlacedTensors, PredictedBytesAreAllocatedBytes) {
  for (const ActivationPolicy policy :
       {ActivationPolicy::None, ActivationPolicy::Selective, ActivationPolicy::Full}) {
    TrainShape shape;
    shape.B = 2;
    shape.T = 16;
    shape.policy = policy;
    const TensorTable table = transformer_train_table(model_preset("llama_test"), shape);
    const PlacedTensors placed(table, Device::cpu());
    EXPECT_EQ(placed.allocated_bytes(), plan_memory(table).total_bytes);
  }
}

TEST(PlacedTensors, HostRowsLieInHostMemory) {
  ModelConfig c = model_preset("llama_tiny");
  TrainShape shape;
  shape.B = 2;
  shape.T = 16;
  shape.offload_layers = c.layers;
  const TensorTable table = transformer_train_table(c, shape);
  const PlacedTensors placed(table, Device::cpu());
  EXPECT_EQ(placed.allocated_bytes(), plan_memory(table).total_bytes);
  EXPECT_EQ(placed.pinned_bytes(), plan_memory(table).pinned_bytes);
  EXPECT_GT(placed.pinned_bytes(), 0);
  EXPECT_EQ(placed.host_bytes(), 0);
  const auto at = [&](std::string_view name) {
    return static_cast<char*>(placed.find(name).data) - static_cast<char*>(nullptr);
  };
  const auto begin = at("tokens");  // the first row of the device's arena
  EXPECT_TRUE(at("host.0.qkv") < begin || at("host.0.qkv") >= begin + placed.allocated_bytes());
}

TEST(PlacedTensors, TensorsHaveTheirRowsShapeAndPlace) {
  TrainShape shape;
  shape.B = 2;
  shape.T = 16;
  const ModelConfig c = model_preset("llama_test");
  const PlacedTensors placed(transformer_train_table(c, shape), Device::cpu());
  const Tensor qkv = placed.find("layers.1.qkv");
  EXPECT_EQ(qkv.shape, Shape({32, c.qkv_rows()}));
  EXPECT_EQ(qkv.dtype, DType::F32);
  const auto offset = [&](std::string_view name) {
    return plan_memory(placed.table()).offset[static_cast<size_t>(placed.table().find(name).row)];
  };
  const Tensor tokens = placed.find("tokens");
  EXPECT_EQ(static_cast<char*>(qkv.data) - static_cast<char*>(tokens.data),
            offset("layers.1.qkv") - offset("tokens"));
  EXPECT_FALSE(placed.try_find("layers.1.attn_norm").defined());
  EXPECT_EQ(error_text([&] { placed.find("layers.1.attn_norm"); }, ErrorCode::Internal),
            "the tensor table has no row named layers.1.attn_norm");
}

}  // namespace
}  // namespace ingot
