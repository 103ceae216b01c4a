// What each optimizer keeps and needs, as plain data: which parameters it updates, their states,
// its scratch. Rows, plan, checkpoints and limits go by this; src/optim has the updates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/device.h"
#include "spec/layout/layout.h"
#include "spec/run/run_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// One tensor beside each element of a parameter, all of it saved in checkpoints. 0 at the start.
struct StateSpec {
  std::string name;  // "moment1": rows "moment1.DTYPE.BLOCK"
  DType dtype = DType::F32;
  bool operator==(const StateSpec&) const = default;
};

// Which optimizer updates `parameter`: config.kind where that takes it, AdamW otherwise.
OptimKind optimizer_of(const OptimConfig& config, const TensorSpec& parameter);
// Whether its update of an element depends on the whole matrix (spec/rows/matrix_owners.h).
bool needs_whole_matrices(OptimKind kind);

// The states that it keeps of `parameter`, F64 where compute is.
std::vector<StateSpec> optimizer_states(const OptimConfig& config, DType compute,
                                        const TensorSpec& parameter);

// Numbers that depend on how many updates were made: entry t - 1 serves update t, the last one all
// that follow, whose numbers are no others. The row "update.NAME" (n) F64.
struct UpdateTable {
  std::string name;
  std::vector<double> values;
};
// Of the optimizers that `config` uses.
std::vector<UpdateTable> update_tables(const OptimConfig& config);

// Rows that the update of a rank reads, besides those of each parameter: "update.scalars"
// (5) F64, "update.count" (1) I64, and those of update_tables(). Where the optimizer is offloaded
// the tables lie in host memory, as do the scalars that it goes by, "host.update.scalars" and
// "host.update.count".
inline constexpr std::string_view kUpdateScalars = "update.scalars";
inline constexpr std::string_view kUpdateCount = "update.count";
inline constexpr std::string_view kHostUpdateScalars = "host.update.scalars";
inline constexpr std::string_view kHostUpdateCount = "host.update.count";
std::string update_table_row(const std::string& name);
void add_update_rows(TensorTable& table, const OptimConfig& config, bool offloaded = false);

// A tensor that an update holds while it works on one parameter.
struct ScratchSpec {
  DType dtype = DType::F32;
  Shape shape;
};

// What scratch depends on.
struct UpdateCase {
  const OptimConfig& config;
  DeviceKind device = DeviceKind::Cpu;
  DType compute = DType::F32;
  const TensorTable& parameters;
  const Layout& layout;
};

// Scratch of the update that takes most, on any rank. `products`: matrix products run while it is
// held, whose own workspace comes on top.
struct UpdateScratch {
  int64_t bytes = 0;
  bool products = false;
};
UpdateScratch update_scratch(const UpdateCase& update);

// The matrices that a parameter is made of: its parts, or itself.
struct MatrixShape {
  int64_t rows = 0, cols = 0;
  int64_t numel() const { return rows * cols; }
  int64_t small() const { return rows < cols ? rows : cols; }
  bool tall() const { return rows > cols; }
};
std::vector<MatrixShape> matrices_of(const TensorSpec& parameter);

// Muon's scratch for one matrix; its rows by number.
enum MuonScratch {
  kMuonX,         // (rows, cols): the direction …
  kMuonY,         // (rows, cols): … and its next form
  kMuonGram,      // (S, S), S the smaller extent: x·xᵀ, or xᵀ·x when x is tall
  kMuonSquare,    // (S, S): gram², then the polynomial of it
  kMuonPartials,  // wide partial sums of the norm, at most so many as ops/update/muon.h cuts a
                  // matrix into
  kMuonWideGram   // (S, S) wide: only where the product that makes gram gives nothing else
};
// `compute`: of the weights; all of it is F64 where that is.
std::vector<ScratchSpec> muon_scratch(DeviceKind device, DType compute, const MatrixShape& matrix);

}  // namespace ingot
