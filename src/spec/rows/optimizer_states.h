// What each optimizer declares, as plain data: the parameters it updates, its states and its
// scratch. Rows, plan, checkpoints and limits use this; src/optim implements the updates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/device.h"
#include "spec/layout/layout.h"
#include "spec/run/run_config.h"
#include "spec/table/tensor_table.h"

namespace ingot {

// A tensor with one element per element of a parameter. Starts at 0; checkpoints save all of it.
struct StateSpec {
  std::string name;  // "moment1": rows "moment1.DTYPE.BLOCK"
  DType dtype = DType::F32;
  bool operator==(const StateSpec&) const = default;
};

// The optimizer that updates `parameter`: config.kind if that supports it, AdamW otherwise.
OptimKind optimizer_of(const OptimConfig& config, const TensorSpec& parameter);
// Whether updating an element needs the unsharded matrix (spec/rows/matrix_owners.h).
bool needs_whole_matrices(OptimKind kind);

// The states of `parameter`; F64 if compute is F64.
std::vector<StateSpec> optimizer_states(const OptimConfig& config, DType compute,
                                        const TensorSpec& parameter);

// Values that depend on the number of updates. Entry t - 1 is used at update t; later updates reuse
// the last entry. The row is "update.NAME" (n) F64.
struct UpdateTable {
  std::string name;
  std::vector<double> values;
};
// The tables of all optimizers that `config` uses.
std::vector<UpdateTable> update_tables(const OptimConfig& config);

// Rows that a rank's update reads besides the rows of each parameter: "update.scalars" (5) F64,
// "update.count" (1) I64 and those of update_tables(). If the optimizer is offloaded, the tables
// lie in host memory, and its scalars are "host.update.scalars" and "host.update.count".
inline constexpr std::string_view kUpdateScalars = "update.scalars";
inline constexpr std::string_view kUpdateCount = "update.count";
inline constexpr std::string_view kHostUpdateScalars = "host.update.scalars";
inline constexpr std::string_view kHostUpdateCount = "host.update.count";
std::string update_table_row(const std::string& name);
void add_update_rows(TensorTable& table, const OptimConfig& config, bool offloaded = false);

// A tensor that an update needs while it works on one parameter.
struct ScratchSpec {
  DType dtype = DType::F32;
  Shape shape;
};

// The inputs that scratch sizes depend on.
struct UpdateCase {
  const OptimConfig& config;
  DeviceKind device = DeviceKind::Cpu;
  DType compute = DType::F32;
  const TensorTable& parameters;
  const Layout& layout;
};

// Scratch of the update that needs most, on any rank. `products`: the GEMMs run while it is held;
// their own workspace is added to it.
struct UpdateScratch {
  int64_t bytes = 0;
  bool gemms = false;
};
UpdateScratch update_scratch(const UpdateCase& update);

// The matrices of a parameter: its parts, or the parameter itself.
struct MatrixShape {
  int64_t rows = 0, cols = 0;
  int64_t numel() const { return rows * cols; }
  int64_t small() const { return rows < cols ? rows : cols; }
  bool tall() const { return rows > cols; }
};
std::vector<MatrixShape> matrices_of(const TensorSpec& parameter);

// Muon's scratch rows for one matrix, by number.
enum MuonScratch {
  kMuonX,         // (rows, cols): the direction
  kMuonY,         // (rows, cols): its next iterate
  kMuonGram,      // (S, S), S the smaller extent: x·xᵀ, or xᵀ·x when x is tall
  kMuonSquare,    // (S, S): gram², then the polynomial of it
  kMuonPartials,  // partial sums of the norm, accumulation dtype; at most one per part
                  // of ops/update/muon.h
  kMuonAccGram    // (S, S) accumulation dtype: only if the GEMM of gram gives no other
};
// `compute`: dtype of the weights; if it is F64, so is all scratch.
std::vector<ScratchSpec> muon_scratch(DeviceKind device, DType compute, const MatrixShape& matrix);

}  // namespace ingot
