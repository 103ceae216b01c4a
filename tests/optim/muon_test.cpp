#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/device/arena.h"
#include "core/error/error.h"
#include "core/random/random.h"
#include "plan/workspace.h"
#include "spec/rows/store_rows.h"
#include "support/halves.h"
#include "support/toy_update.h"

namespace ingot {
namespace {

using testing::write_gradient;

// ---- the same update in double, written down plainly ----

struct Matrix {
  int64_t rows = 0, cols = 0;
  std::vector<double> v;
  Matrix(int64_t r, int64_t c) : rows(r), cols(c), v(static_cast<size_t>(r * c)) {}
  double& at(int64_t i, int64_t j) { return v[static_cast<size_t>(i * cols + j)]; }
  double at(int64_t i, int64_t j) const { return v[static_cast<size_t>(i * cols + j)]; }
};

Matrix transposed(const Matrix& a) {
  Matrix t(a.cols, a.rows);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < a.cols; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

Matrix multiply(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t k = 0; k < a.cols; ++k)
      for (int64_t j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

Matrix sum(double x, const Matrix& a, double y, const Matrix& b) {
  Matrix c = a;
  for (size_t i = 0; i < c.v.size(); ++i) c.v[i] = x * a.v[i] + y * b.v[i];
  return c;
}

double norm(const Matrix& a) {
  double squares = 0.0;
  for (const double x : a.v) squares += x * x;
  return std::sqrt(squares);
}

// Algorithm 1 of arXiv 2505.16932, on x itself whatever its shape.
Matrix polar_express(const Matrix& direction) {
  constexpr double kCoefficients[5][3] = {
      {8.28721201814563, -23.595886519098837, 17.300387312530933},
      {4.107059111542203, -2.9478499167379106, 0.5448431082926601},
      {3.9486908534822946, -2.908902115962949, 0.5518191394370137},
      {3.3184196573706015, -2.488488024314874, 0.51004894012372},
      {2.300652019954817, -1.6689039845747493, 0.4188073119525673}};
  Matrix x = sum(1.0 / (1.01 * norm(direction) + 1e-7), direction, 0.0, direction);
  for (const auto& [a, b, c] : kCoefficients) {
    const Matrix cube = multiply(multiply(x, transposed(x)), x);
    const Matrix fifth = multiply(multiply(x, transposed(x)), cube);
    x = sum(1.0, sum(a / 1.01, x, b / std::pow(1.01, 3), cube), c / std::pow(1.01, 5), fifth);
  }
  return x;
}

// One matrix under Muon.
struct Reference {
  Matrix weight, momentum;
  explicit Reference(const Matrix& initial)
      : weight(initial), momentum(initial.rows, initial.cols) {}

  void step(const Matrix& gradient, double lr, double beta, double decay) {
    momentum = sum(beta, momentum, 1.0 - beta, gradient);
    const Matrix x = polar_express(sum(beta, momentum, 1.0 - beta, gradient));
    const double aspect = static_cast<double>(weight.rows) / static_cast<double>(weight.cols);
    weight = sum(1.0 - lr * decay, weight, -lr * std::sqrt(std::max(1.0, aspect)), x);
  }
};

// By one-sided Jacobi rotations: the columns of a become orthogonal, their lengths are the values.
std::vector<double> singular_values(Matrix a) {
  if (a.rows < a.cols) a = transposed(a);
  for (int sweep = 0; sweep < 30; ++sweep)
    for (int64_t p = 0; p < a.cols; ++p)
      for (int64_t q = p + 1; q < a.cols; ++q) {
        double pp = 0, qq = 0, pq = 0;
        for (int64_t i = 0; i < a.rows; ++i) {
          pp += a.at(i, p) * a.at(i, p);
          qq += a.at(i, q) * a.at(i, q);
          pq += a.at(i, p) * a.at(i, q);
        }
        const double angle = 0.5 * std::atan2(2.0 * pq, pp - qq);
        const double c = std::cos(angle), s = std::sin(angle);
        for (int64_t i = 0; i < a.rows; ++i) {
          const double x = a.at(i, p), y = a.at(i, q);
          a.at(i, p) = c * x + s * y;
          a.at(i, q) = c * y - s * x;
        }
      }
  std::vector<double> values;
  for (int64_t j = 0; j < a.cols; ++j) {
    double squares = 0.0;
    for (int64_t i = 0; i < a.rows; ++i) squares += a.at(i, j) * a.at(i, j);
    values.push_back(std::sqrt(squares));
  }
  std::sort(values.begin(), values.end());
  return values;
}

// ---- one rank with Muon's rows and scratch ----

TensorSpec row_of(std::string name, Shape shape, int block, Role role,
                  std::vector<int64_t> parts = {}) {
  TensorSpec row = testing::weight_row(std::move(name), shape, block, role, 0.05);
  row.parts = std::move(parts);
  return row;
}

// Wide, tall, square and stacked matrices of odd sizes, beside what stays with AdamW.
TensorTable muon_parameters() {
  TensorTable table;
  table.add(row_of("embedding.weight", {7, 5}, 0, Role::Embedding));
  table.add(row_of("norm.weight", {5}, 1, Role::Norm));
  table.add(row_of("wide.weight", {9, 23}, 1, Role::Matrix));
  table.add(row_of("tall.weight", {37, 11}, 1, Role::Matrix));
  table.add(row_of("square.weight", {16, 16}, 1, Role::Matrix));
  table.add(row_of("stacked.weight", {40, 13}, 1, Role::Matrix, {24, 9, 7}));
  table.add(row_of("row.weight", {1, 6}, 1, Role::Matrix));
  table.add(row_of("column.weight", {6, 1}, 1, Role::Matrix));
  table.add(row_of("head.weight", {7, 5}, 2, Role::Head));
  return table;
}

TensorTable rows_of(const TensorTable& parameters, DType compute, const Layout& layout,
                    OptimKind optimizer) {
  TensorTable table;
  OptimConfig config;
  config.kind = optimizer;
  add_store_rows(table, parameters, compute, layout, {config});
  return table;
}

OptimConfig muon_config() {
  OptimConfig config;
  config.kind = OptimKind::Muon;
  config.clip = 0.0;
  return config;
}

// Element i of the gradient of parameter `row` at a step: a multiple of 1/8, which any number of
// ranks can sum exactly.
float gradient_of(int32_t row, int64_t step, int64_t i) {
  const float value =
      RandomStream(5, Purpose::Test, static_cast<uint32_t>(row), static_cast<uint64_t>(step))
          .normal(static_cast<uint64_t>(i));
  return std::round(value * 8.0f) / 8.0f;
}

class Rank {
 public:
  Rank(World& world, const OptimConfig& config, const Layout& ranks = {},
       DType compute = DType::F32, TensorTable table = muon_parameters())
      : parameters(std::move(table)),
        layout(ranks),
        world_(world),
        config_(config),
        pool_(2),
        ctx{.device = Device::cpu(), .pool = &pool_, .workspace = {}},
        bytes_(update_workspace_bytes(ctx.facts, compute, parameters, config, layout)),
        scratch_(Device::cpu(), std::max<int64_t>(1, bytes_)),
        placed_(rows_of(parameters, compute, layout, config.kind), Device::cpu()) {
    ctx.workspace = Workspace(scratch_.place(0, DType::U8, {bytes_}));
    store = make_parameter_store(ctx, world, parameters, layout, placed_, compute);
    init_weights(*store, parameters, 1);
  }

  template <class Value>
  void write_gradients(const Value& value) {
    store->start_step();
    for (int32_t row = 0; row < static_cast<int32_t>(parameters.rows().size()); ++row)
      write_gradient(store->gradient({row}), [&](int64_t i) { return value(row, i); });
    store->finish_gradients();
  }

  UpdateReport step(int64_t step, double lr) {
    // Every rank brings its share; eighths survive the division by 2.
    write_gradients([&](int32_t row, int64_t i) {
      return gradient_of(row, step, i) / static_cast<float>(world_.size());
    });
    return testing::ToyUpdater(*this, config_)({lr, step});
  }
  UpdateReport update() { return testing::ToyUpdater(*this, config_)({config_.lr, 1}); }

  const ParameterShard& shard(const std::string& name) const {
    return store->shards()[static_cast<size_t>(parameters.find(name).row)];
  }
  std::map<std::string, std::vector<float>> masters() const {
    std::map<std::string, std::vector<float>> values;
    for (const ParameterShard& shard : store->shards())
      values[parameters[shard.parameter].name].assign(
          shard.master.as<float>(), shard.master.as<float>() + shard.range.size());
    return values;
  }

  TensorTable parameters;
  Layout layout;
  std::unique_ptr<ParameterStore> store;

 private:
  World& world_;
  OptimConfig config_;
  ThreadPool pool_;

 public:
  Context ctx;

 private:
  int64_t bytes_;
  Arena scratch_;
  PlacedTensors placed_;
};

// Rows [begin, begin + rows) of a flat master, F32 or F64.
Matrix matrix_of(const Tensor& master, int64_t begin, int64_t rows, int64_t cols) {
  Matrix matrix(rows, cols);
  const auto copy = [&](const auto* values) {
    std::copy_n(values + begin * cols, rows * cols, matrix.v.begin());
  };
  if (master.dtype == DType::F64)
    copy(master.as<double>());
  else
    copy(master.as<float>());
  return matrix;
}

// ---- the promises ----

// Every shape, against the plain reference in double.
void expect_follows_reference(DType compute, double tolerance) {
  const auto world = single_world();
  OptimConfig config = muon_config();
  config.muon_lr = 0.03;
  config.muon_weight_decay = 0.2;
  config.muon_momentum = 0.9;
  for (const char* name : {"wide.weight", "tall.weight", "square.weight", "stacked.weight",
                           "row.weight", "column.weight"}) {
    SCOPED_TRACE(name);
    Rank one(*world, config, {}, compute);
    const TensorId id = one.parameters.find(name);
    const TensorSpec& row = one.parameters[id];
    const int64_t cols = row.shape[1];
    const std::vector<int64_t> parts = row.parts.empty() ? std::vector{row.shape[0]} : row.parts;
    const Tensor master = one.shard(name).master;
    std::vector<Reference> references;
    for (int64_t begin = 0; const int64_t part : parts) {
      references.emplace_back(matrix_of(master, begin, part, cols));
      begin += part;
    }
    for (int64_t step = 1; step <= 4; ++step) {
      const double factor = step == 3 ? 0.5 : 1.0;  // the schedule scales both learning rates
      one.step(step, config.lr * factor);
      int64_t at = 0;
      for (Reference& reference : references) {
        Matrix gradient(reference.weight.rows, cols);
        for (double& g : gradient.v) g = gradient_of(id.row, step, at++);
        reference.step(gradient, 0.03 * factor, 0.9, 0.2);
      }
    }
    for (int64_t begin = 0; const Reference& reference : references) {
      const Matrix got = matrix_of(master, begin, reference.weight.rows, cols);
      for (size_t i = 0; i < got.v.size(); ++i)
        EXPECT_NEAR(got.v[i], reference.weight.v[i], tolerance) << begin << " rows and " << i;
      begin += reference.weight.rows;
    }
  }
}

TEST(Muon, FollowsThePlainReferenceInDoubleForEveryShape) {
  expect_follows_reference(DType::F32, 2e-6);
}

TEST(Muon, InF64IsThePlainReference) {
  expect_follows_reference(DType::F64, 1e-13);
}

TEST(Muon, UpdatesHaveSingularValuesNearOneTimesTheLearningRate) {
  const auto world = single_world();
  for (const Shape& shape : {Shape{48, 48}, Shape{24, 72}, Shape{80, 30}, Shape{64, 63}}) {
    TensorTable table;
    table.add(row_of("m.weight", shape, 0, Role::Matrix));
    OptimConfig config = muon_config();
    config.muon_lr = 1.0;
    config.muon_weight_decay = 1.0;  // forgets the weight, so that the update is left
    Rank rank(*world, config, {}, DType::F32, table);
    rank.step(1, config.lr);
    const double scale =
        std::sqrt(std::max(1.0, static_cast<double>(shape[0]) / static_cast<double>(shape[1])));
    const Matrix update = matrix_of(rank.shard("m.weight").master, 0, shape[0], shape[1]);
    const std::vector<double> values = singular_values(update);
    EXPECT_GT(values.front() / scale, 0.7) << shape.str();
    EXPECT_LT(values.back() / scale, 1.2) << shape.str();
    // The direction is the gradient's own: tr(-update · gᵀ) is nearly the sum of g's values.
    Matrix gradient(shape[0], shape[1]);
    double along = 0.0, whole = 0.0;
    for (size_t i = 0; i < gradient.v.size(); ++i) {
      gradient.v[i] = gradient_of(0, 1, static_cast<int64_t>(i));
      along -= update.v[i] / scale * gradient.v[i];
    }
    for (const double value : singular_values(gradient)) whole += value;
    EXPECT_NEAR(along / whole, 1.0, 0.1) << shape.str();
  }
}

TEST(Muon, ThePolynomialsTakeEverySingularValueFromAThousandthToNearOne) {
  double least = 10.0, most = 0.0;
  for (double sigma = 1.0; sigma >= 1e-3; sigma *= 0.99) {
    // A diagonal matrix keeps its singular values apart: the second one fills the norm up to 1.
    Matrix pair(2, 2);
    pair.at(0, 0) = sigma;
    pair.at(1, 1) = std::sqrt(1.0 - sigma * sigma);
    const double got = polar_express(pair).at(0, 0);
    least = std::min(least, got);
    most = std::max(most, got);
  }
  EXPECT_GT(least, 0.84);
  EXPECT_LT(most, 1.13);
}

TEST(Muon, IgnoresTheGradientsScaleButNotTheMomentums) {
  const auto world = single_world();
  Rank plain(*world, muon_config()), scaled(*world, muon_config());
  plain.write_gradients([](int32_t row, int64_t i) { return gradient_of(row, 1, i); });
  scaled.write_gradients([](int32_t row, int64_t i) { return 256.0f * gradient_of(row, 1, i); });
  plain.update();
  scaled.update();
  for (const char* name : {"wide.weight", "tall.weight"}) {
    const ParameterShard &a = plain.shard(name), &b = scaled.shard(name);
    for (int64_t i = 0; i < a.range.size(); ++i) {
      EXPECT_NEAR(b.master.as<float>()[i], a.master.as<float>()[i], 1e-6f);
      EXPECT_FLOAT_EQ(b.states[0].as<float>()[i], 256.0f * a.states[0].as<float>()[i]);
    }
  }
}

TEST(Muon, ClippingScalesWhatEntersTheMomentum) {
  const auto world = single_world();
  OptimConfig config = muon_config();
  config.clip = 0.5;
  Rank rank(*world, config);
  const UpdateReport report = rank.step(1, config.lr);
  ASSERT_LT(report.clip_scale, 1.0);
  const ParameterShard& shard = rank.shard("wide.weight");
  for (int64_t i = 0; i < shard.range.size(); ++i)
    EXPECT_NEAR(shard.states[0].as<float>()[i],
                0.05 * report.clip_scale * gradient_of(shard.parameter.row, 1, i), 1e-8);
}

TEST(Muon, LeavesEverythingButMatricesToAdamW) {
  const auto world = single_world();
  OptimConfig adamw = muon_config();
  adamw.kind = OptimKind::AdamW;
  Rank with_muon(*world, muon_config()), without(*world, adamw);
  for (int64_t step = 1; step <= 3; ++step) {
    with_muon.step(step, 1e-3);
    without.step(step, 1e-3);
  }
  const auto a = with_muon.masters(), b = without.masters();
  for (const char* name : {"embedding.weight", "norm.weight", "head.weight"})
    EXPECT_EQ(a.at(name), b.at(name)) << name;
  EXPECT_NE(a.at("square.weight"), b.at("square.weight"));
}

TEST(Muon, AZeroGradientOnlyDecays) {
  const auto world = single_world();
  OptimConfig config = muon_config();
  config.muon_lr = 0.25;
  config.muon_weight_decay = 0.5;
  Rank rank(*world, config);
  const auto before = rank.masters();
  rank.write_gradients([](int32_t, int64_t) { return 0.0f; });
  rank.update();
  const auto after = rank.masters();
  for (size_t i = 0; i < before.at("tall.weight").size(); ++i)
    EXPECT_FLOAT_EQ(after.at("tall.weight")[i], 0.875f * before.at("tall.weight")[i]);
}

TEST(Muon, ReplicatedRanksUpdateAsOneRankDoesBitForBit) {
  std::vector<std::map<std::string, std::vector<float>>> all;
  for (const int ranks : {1, 2, 2}) {
    std::mutex mutex;
    run_local_ranks(ranks, Device::cpu(), [&](World& world) {
      Rank rank(world, muon_config(), {.dp_replicate = ranks});
      for (int64_t step = 1; step <= 3; ++step) rank.step(step, 1e-3);
      const std::scoped_lock lock(mutex);
      all.push_back(rank.masters());
    });
  }
  for (const auto& masters : all) EXPECT_EQ(masters, all.front());
}

TEST(Muon, WritesTheRoundedMasterAsWeight) {
  const auto world = single_world();
  Rank rank(*world, muon_config(), {}, DType::BF16);
  rank.step(1, 1e-3);
  for (const ParameterShard& shard : rank.store->shards()) {
    const Tensor exact = exact_weights(rank.store->context(), shard, 0, shard.range.size());
    for (int64_t i = 0; i < shard.range.size(); ++i)
      EXPECT_EQ(shard.weight.as<Bf16>()[i].bits, test::rounded_half(exact.as<float>()[i]));
  }
}

TEST(Muon, AGradientThatIsNotFiniteChangesNothing) {
  const auto world = single_world();
  Rank rank(*world, muon_config());
  const auto before = rank.masters();
  rank.write_gradients([](int32_t, int64_t) { return std::numeric_limits<float>::infinity(); });
  EXPECT_TRUE(rank.update().skipped);
  EXPECT_EQ(rank.masters(), before);
}

TEST(Muon, MatricesHaveNoSecondMoment) {
  const TensorTable parameters = muon_parameters();
  int64_t saved = 0;
  const TensorTable muon = rows_of(parameters, DType::BF16, {}, OptimKind::Muon);
  const TensorTable adamw = rows_of(parameters, DType::BF16, {}, OptimKind::AdamW);
  for (const TensorSpec& row : parameters.rows()) {
    const bool matrix = row.role == Role::Matrix;
    if (matrix) saved += 4 * align_elements(row.shape.numel());
  }
  EXPECT_EQ(plan_memory(adamw).total_bytes - plan_memory(muon).total_bytes, saved);
  const auto world = single_world();
  Rank rank(*world, muon_config());
  for (const ParameterShard& shard : rank.store->shards())
    EXPECT_EQ(shard.states.size(), rank.parameters[shard.parameter].role == Role::Matrix ? 1 : 2);
}

TEST(Muon, AsksForNoScratchUnderAdamW) {
  ThreadPool pool(1);
  const Context ctx{.device = Device::cpu(), .pool = &pool, .workspace = {}};
  const TensorTable parameters = muon_parameters();
  EXPECT_EQ(update_workspace_bytes(ctx.facts, DType::F32, parameters, OptimConfig{}, {}), 0);
  EXPECT_GT(update_workspace_bytes(ctx.facts, DType::F32, parameters, muon_config(), {}), 0);
}

}  // namespace
}  // namespace ingot
