#include "spec/rows/optimizer_states.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ingot {
namespace {

TensorSpec parameter(Role role, Shape shape) {
  TensorSpec row;
  row.name = "p";
  row.role = role;
  row.shape = shape;
  return row;
}

TEST(OptimizerStates, AreDeclaredByWhoUpdatesTheParameter) {
  OptimConfig config;
  config.moments = DType::BF16;
  const TensorSpec matrix = parameter(Role::Matrix, {4, 3}), norm = parameter(Role::Norm, {4});
  const std::vector<StateSpec> moments = {{"moment1", DType::BF16}, {"moment2", DType::BF16}};
  EXPECT_EQ(optimizer_states(config, DType::BF16, matrix), moments);
  config.kind = OptimKind::Muon;
  EXPECT_EQ(optimizer_of(config, matrix), OptimKind::Muon);
  EXPECT_EQ(optimizer_of(config, norm), OptimKind::AdamW);
  EXPECT_EQ(optimizer_states(config, DType::BF16, matrix),
            (std::vector<StateSpec>{{"moment1", DType::F32}}));
  EXPECT_EQ(optimizer_states(config, DType::BF16, norm), moments);
  for (const TensorSpec& one : {matrix, norm})
    for (const StateSpec& state : optimizer_states(config, DType::F64, one))
      EXPECT_EQ(state.dtype, DType::F64);
}

TEST(UpdateScratch, IsAsWideAsTheRunInF64) {
  for (const MatrixShape& matrix : {MatrixShape{4, 7}, MatrixShape{7, 4}}) {
    for (const ScratchSpec& row : muon_scratch(DeviceKind::Cpu, DType::F64, matrix))
      EXPECT_EQ(row.dtype, DType::F64);
    for (const DType compute : {DType::F32, DType::BF16})
      for (const ScratchSpec& row : muon_scratch(DeviceKind::Cpu, compute, matrix))
        EXPECT_EQ(row.dtype, DType::F32);
    EXPECT_EQ(muon_scratch(DeviceKind::Cuda, DType::F32, matrix)[kMuonX].dtype, DType::BF16);
  }
}

TEST(OptimizerStates, EveryOptimizerIsChosenByItsName) {
  for (const auto& [name, kind] : optim_kinds()) {
    const RunConfig config = parse_run_config("", "", {{"optim.kind", name}});
    EXPECT_EQ(config.optim.kind, kind) << name;
  }
}

TEST(UpdateTables, EndWhereTheNumbersNoLongerChange) {
  OptimConfig config;
  config.beta2 = 0.999;
  const std::vector<UpdateTable> tables = update_tables(config);
  ASSERT_EQ(tables.size(), 2u);
  const std::vector<double>&corrections = tables[0].values, &roots = tables[1].values;
  for (const double t : {1.0, 2.0, 100.0, 10'000.0}) {
    const auto at = [&](const std::vector<double>& table) {
      return table[std::min(static_cast<size_t>(t), table.size()) - 1];
    };
    EXPECT_EQ(at(corrections), 1.0 - std::pow(0.9, t)) << t;
    EXPECT_EQ(at(roots), std::sqrt(1.0 - std::pow(0.999, t))) << t;
  }
  for (const std::vector<double>* table : {&corrections, &roots}) {
    EXPECT_EQ(table->back(), 1.0);
    EXPECT_LT((*table)[table->size() - 2], 1.0);
  }
  for (const int64_t far : {10'000'000, 50'000'000}) {
    EXPECT_EQ(std::sqrt(1.0 - std::pow(0.999, static_cast<double>(far))), 1.0);
  }
}

TEST(UpdateTables, AreRowsOfTheirOwn) {
  TensorTable table;
  add_update_rows(table, {});
  EXPECT_EQ(table[table.find("update.count")].dtype, DType::I64);
  EXPECT_EQ(table[table.find("update.scalars")].shape.numel(), 5);
  const std::vector<UpdateTable> tables = update_tables({});
  for (const UpdateTable& one : tables)
    EXPECT_EQ(table[table.find(update_table_row(one.name))].shape.numel(),
              static_cast<int64_t>(one.values.size()));
}

}  // namespace
}  // namespace ingot
