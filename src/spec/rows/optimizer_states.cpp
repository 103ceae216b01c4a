#include "spec/rows/optimizer_states.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/device/arena.h"
#include "core/error/error.h"
#include "spec/rows/matrix_owners.h"

namespace ingot {
namespace {

// What an optimizer declares; spec/settings/optimizers.inc lists them.
struct Declaration {
  bool (*takes)(const TensorSpec& parameter);
  std::vector<StateSpec> (*states)(const OptimConfig& config);
  UpdateScratch (*scratch)(const UpdateCase& update);
  std::vector<UpdateTable> (*tables)(const OptimConfig& config);
  bool whole_matrices = false;
};

bool takes_all(const TensorSpec&) {
  return true;
}
bool takes_matrices(const TensorSpec& parameter) {
  return parameter.role == Role::Matrix;
}

std::vector<StateSpec> states_of_adamw(const OptimConfig& config) {
  return {{"moment1", config.moments}, {"moment2", config.moments}};
}
// F32, whatever optim.moments says: it is the one state of a matrix.
std::vector<StateSpec> states_of_muon(const OptimConfig&) {
  return {{"moment1", DType::F32}};
}

UpdateScratch no_scratch(const UpdateCase&) {
  return {};
}

std::vector<UpdateTable> no_tables(const OptimConfig&) {
  return {};
}

// value(t) of t = 1, 2, … until it is 1, which it stays.
template <class Value>
std::vector<double> until_one(const Value& value) {
  std::vector<double> values;
  do values.push_back(value(static_cast<double>(values.size() + 1)));
  while (values.back() < 1.0);
  return values;
}

// Bias corrections; at β2 = 0.95 some 700 numbers, at 0.999 some 37,000.
std::vector<UpdateTable> tables_of_adamw(const OptimConfig& config) {
  const auto correction = [](double beta, double t) { return 1.0 - std::pow(beta, t); };
  const auto first = [&](double t) { return correction(config.beta1, t); };
  const auto root = [&](double t) { return std::sqrt(correction(config.beta2, t)); };
  return {{"corrections1", until_one(first)}, {"roots2", until_one(root)}};
}

int64_t bytes_of(const std::vector<ScratchSpec>& rows) {
  int64_t bytes = 0;
  for (const ScratchSpec& row : rows) bytes += align_up(row.shape.numel() * size_of(row.dtype));
  return bytes;
}

UpdateScratch scratch_of_muon(const UpdateCase& update) {
  const auto& [config, device, compute, parameters, layout] = update;
  if (layout.dp_shard > 1) {
    const std::vector<SlicedMatrix> matrices = sliced_matrices(parameters, config, layout);
    return {bytes_of(sliced_scratch(device, compute, matrices)), !matrices.empty()};
  }
  UpdateScratch most;
  for (const OwnedMatrix& one : matrix_owners(parameters, config, 1)) {
    most.bytes = std::max(most.bytes, bytes_of(muon_scratch(device, compute, one.shape)));
    most.gemms = true;
  }
  return most;
}

constexpr Declaration adamw_declaration = {takes_all, states_of_adamw, no_scratch, tables_of_adamw};
constexpr Declaration muon_declaration = {takes_matrices, states_of_muon, scratch_of_muon,
                                          no_tables, /*whole_matrices=*/true};

const Declaration& declaration_of(OptimKind kind) {
  switch (kind) {
#define OPTIMIZER(Kind, name) \
  case OptimKind::Kind:       \
    return name##_declaration;
#include "spec/settings/optimizers.inc"
#undef OPTIMIZER
  }
  throw Error(ErrorCode::Internal, "unknown optimizer");
}

}  // namespace

OptimKind optimizer_of(const OptimConfig& config, const TensorSpec& parameter) {
  return declaration_of(config.kind).takes(parameter) ? config.kind : OptimKind::AdamW;
}

bool needs_whole_matrices(OptimKind kind) {
  return declaration_of(kind).whole_matrices;
}

std::vector<StateSpec> optimizer_states(const OptimConfig& config, DType compute,
                                        const TensorSpec& parameter) {
  std::vector<StateSpec> states = declaration_of(optimizer_of(config, parameter)).states(config);
  for (StateSpec& state : states)
    if (compute == DType::F64) state.dtype = DType::F64;
  return states;
}

std::vector<UpdateTable> update_tables(const OptimConfig& config) {
  std::vector<UpdateTable> tables = declaration_of(OptimKind::AdamW).tables(config);
  if (config.kind != OptimKind::AdamW)
    for (UpdateTable& table : declaration_of(config.kind).tables(config))
      tables.push_back(std::move(table));
  return tables;
}

std::string update_table_row(const std::string& name) {
  return "update." + name;
}

void add_update_rows(TensorTable& table, const OptimConfig& config, bool offloaded) {
  constexpr int64_t kNumScalars = 5;  // ops/update/update_scalars.h
  const MemorySpace home = offloaded ? MemorySpace::Pinned : MemorySpace::Device;
  const auto add = [&](std::string_view name, int64_t n, DType dtype, MemorySpace space) {
    TensorSpec row;
    row.name = name;
    row.shape = {n};
    row.dtype = dtype;
    row.kind = TensorKind::Workspace;
    row.space = space;
    table.add(std::move(row));
  };
  add(kUpdateScalars, kNumScalars, DType::F64, MemorySpace::Device);
  add(kUpdateCount, 1, DType::I64, MemorySpace::Device);
  if (offloaded) {
    add(kHostUpdateScalars, kNumScalars, DType::F64, home);
    add(kHostUpdateCount, 1, DType::I64, home);
  }
  for (const UpdateTable& one : update_tables(config))
    add(update_table_row(one.name), static_cast<int64_t>(one.values.size()), DType::F64, home);
}

UpdateScratch update_scratch(const UpdateCase& update) {
  const UpdateScratch of_adamw = declaration_of(OptimKind::AdamW).scratch(update);
  const UpdateScratch own = declaration_of(update.config.kind).scratch(update);
  return {std::max(of_adamw.bytes, own.bytes), of_adamw.gemms || own.gemms};
}

std::vector<MatrixShape> matrices_of(const TensorSpec& parameter) {
  const int64_t rows = parameter.shape[0], cols = parameter.shape[1];
  if (parameter.parts.empty()) return {{rows, cols}};
  std::vector<MatrixShape> matrices;
  int64_t sum = 0;
  for (const int64_t part : parameter.parts) {
    matrices.push_back({part, cols});
    sum += part;
  }
  check(sum == rows, ErrorCode::Internal, "the parts of {} have {} rows, it has {}", parameter.name,
        sum, rows);
  return matrices;
}

std::vector<ScratchSpec> muon_scratch(DeviceKind device, DType compute, const MatrixShape& matrix) {
  constexpr int64_t kMostPartials = 1024;
  const DType acc = accumulation_dtype(compute);
  // The GEMMs need few bits (Jordan trained in BF16) and a GPU is 15 times faster with few.
  const DType dtype = device == DeviceKind::Cuda && acc == DType::F32 ? DType::BF16 : acc;
  const int64_t S = matrix.small();
  std::vector<ScratchSpec> rows = {{dtype, {matrix.rows, matrix.cols}},
                                   {dtype, {matrix.rows, matrix.cols}},
                                   {dtype, {S, S}},
                                   {dtype, {S, S}},
                                   {acc, {kMostPartials}}};
  if (matrix.tall() && dtype != acc) rows.push_back({acc, {S, S}});
  return rows;
}

}  // namespace ingot
