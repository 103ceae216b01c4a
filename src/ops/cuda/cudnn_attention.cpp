// The only file that includes cuDNN's frontend, which takes a minute to compile.
#include "ops/cuda/cudnn_attention.h"

#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <vector>

#include "core/cuda/cuda_context.h"
#include "core/error.h"
#include "core/log.h"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // through which the frontend finds every function of cuDNN
}

namespace ingot::cuda {
namespace {

namespace fe = cudnn_frontend;

// What the workspace of a backward pass may take before it is run in pieces. On Hopper the
// deterministic one stores the T×T gradients of the scores: 3.2 GB at B 32, H 12, T 2048.
constexpr int64_t kPieceBytes = int64_t{1} << 30;

// Once for all contexts; the frontend remembers the functions it found.
void load_cudnn() {
  [[maybe_unused]] static const bool loaded = [] {
    fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
    check(fe::cudnn_dlhandle != nullptr, ErrorCode::Missing,
          "attention in bf16 on a GPU needs cuDNN 9 ({}): install it, or put its folder into "
          "LD_LIBRARY_PATH",
          dlerror());
    return true;
  }();
}

enum Uid : int64_t { kQ = 1, kK, kV, kOut, kLse, kScale, kDOut, kDQ, kDK, kDV };

// One tensor of heads, (B, T, heads, D), under the name the graph knows it by.
struct Operand {
  Uid uid;
  Tensor tensor;
};

// What a graph is built for. All but the addresses is part of the key it is kept under.
struct Problem {
  bool causal;
  int64_t window;
  bool deterministic;             // backward only
  std::vector<Operand> operands;  // q, k, v, out; backward adds dout, dq, dk, dv

  bool is_backward() const { return operands.size() > 4; }
  const Tensor& q() const { return operands[0].tensor; }

  std::vector<int64_t> key() const {
    std::vector<int64_t> key = {causal, window, deterministic, static_cast<int64_t>(q().dtype)};
    for (const Operand& operand : operands)
      for (int dim = 0; dim < 4; ++dim) {
        key.push_back(operand.tensor.shape[dim]);
        key.push_back(operand.tensor.strides[dim]);
      }
    return key;
  }

  std::string str() const {
    return fmt::format("{} of {}, causal {}, window {}", is_backward() ? "backward" : "forward",
                       q(), causal, window);
  }
};

using TensorPtr = std::shared_ptr<fe::graph::Tensor_attributes>;

// cuDNN's order is (B, heads, T, D).
fe::graph::Tensor_attributes describe(const Operand& operand) {
  const Shape &shape = operand.tensor.shape, &strides = operand.tensor.strides;
  return fe::graph::Tensor_attributes()
      .set_uid(operand.uid)
      .set_dim({shape[0], shape[2], shape[1], shape[3]})
      .set_stride({strides[0], strides[2], strides[1], 1});
}

// lse(B, H, T): cuDNN's statistics, max + ln(Σ exp(score - max)).
fe::graph::Tensor_attributes describe_lse(const Tensor& q) {
  const int64_t B = q.shape[0], T = q.shape[1], H = q.shape[2];
  return fe::graph::Tensor_attributes()
      .set_uid(kLse)
      .set_dim({B, H, T, 1})
      .set_stride({H * T, T, 1, 1})
      .set_data_type(fe::DataType_t::FLOAT);
}

void make_output(const TensorPtr& tensor, const fe::graph::Tensor_attributes& like) {
  tensor->set_output(true)
      .set_uid(like.get_uid())
      .set_dim(like.get_dim())
      .set_stride(like.get_stride());
}

// The scale is an argument of every run, so that it is no part of the key.
TensorPtr scale_tensor(fe::graph::Graph& graph) {
  return graph.tensor(fe::graph::Tensor_attributes()
                          .set_uid(kScale)
                          .set_dim({1, 1, 1, 1})
                          .set_stride({1, 1, 1, 1})
                          .set_is_pass_by_value(true)
                          .set_data_type(fe::DataType_t::FLOAT));
}

template <class Attributes>
void set_mask(const Problem& problem, Attributes& attributes) {
  if (!problem.causal) return;
  attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
      .set_diagonal_band_right_bound(0);
  // Query t sees keys beyond t - window.
  if (problem.window > 0) attributes.set_diagonal_band_left_bound(static_cast<int>(problem.window));
}

void add_forward(const Problem& problem, fe::graph::Graph& graph) {
  const std::vector<Operand>& operands = problem.operands;
  auto attributes = fe::graph::SDPA_attributes()
                        .set_name("attention")
                        .set_generate_stats(true)
                        .set_implementation(fe::AttentionImplementation_t::COMPOSITE)
                        .set_attn_scale(scale_tensor(graph));
  set_mask(problem, attributes);
  const auto [out, lse] =
      graph.sdpa(graph.tensor(describe(operands[0])), graph.tensor(describe(operands[1])),
                 graph.tensor(describe(operands[2])), attributes);
  make_output(out, describe(operands[3]));
  make_output(lse, describe_lse(problem.q()));
  lse->set_data_type(fe::DataType_t::FLOAT);
}

void add_backward(const Problem& problem, fe::graph::Graph& graph) {
  std::vector<TensorPtr> inputs;  // q, k, v, out, dout
  for (size_t i = 0; i < 5; ++i) inputs.push_back(graph.tensor(describe(problem.operands[i])));
  auto attributes = fe::graph::SDPA_backward_attributes()
                        .set_name("attention_backward")
                        .set_deterministic_algorithm(problem.deterministic)
                        .set_attn_scale(scale_tensor(graph));
  set_mask(problem, attributes);
  const auto gradients = graph.sdpa_backward(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4],
                                             graph.tensor(describe_lse(problem.q())), attributes);
  for (size_t i = 0; i < 3; ++i) make_output(gradients[i], describe(problem.operands[5 + i]));
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "no reason given" : text;
}

// The cuDNN handle of a context and the graphs built so far.
class CudnnAttention {
 public:
  struct Plan {
    std::unique_ptr<fe::graph::Graph> graph;  // null: cuDNN refused
    int64_t workspace_bytes = 0;
  };

  explicit CudnnAttention(CudaContext& cuda)
      : sm_version_(cuda.properties().major * 10 + cuda.properties().minor) {
    load_cudnn();
    const cudnnStatus_t created = fe::detail::create_handle(&handle_);
    check(created == CUDNN_STATUS_SUCCESS, ErrorCode::Device, "cuDNN does not start: {}",
          fe::detail::get_error_string(created));
    const cudnnStatus_t set = fe::detail::set_stream(handle_, cuda.stream());
    check(set == CUDNN_STATUS_SUCCESS, ErrorCode::Device, "cuDNN does not take our stream: {}",
          fe::detail::get_error_string(set));
  }
  ~CudnnAttention() {
    plans_.clear();
    if (handle_ != nullptr) fe::detail::destroy_handle(handle_);
  }
  CudnnAttention(const CudnnAttention&) = delete;
  CudnnAttention& operator=(const CudnnAttention&) = delete;

  const Plan& plan(const Problem& problem) {
    const auto [entry, is_new] = plans_.try_emplace(problem.key());
    if (is_new) entry->second = build(problem);
    return entry->second;
  }

  // False: refused. lse is contiguous over the problem's rows and heads.
  bool run(Context& ctx, const Problem& problem, double scale, const Tensor& lse) {
    const Plan& found = plan(problem);
    if (found.graph == nullptr) return false;
    auto scale_value = static_cast<float>(scale);
    std::unordered_map<int64_t, void*> pointers = {{kLse, lse.data}, {kScale, &scale_value}};
    for (const Operand& operand : problem.operands)
      pointers.emplace(operand.uid, operand.tensor.data);
    Workspace::Scope scope(ctx.workspace);
    const Tensor scratch = ctx.workspace.take(DType::U8, {found.workspace_bytes});
    const fe::error_t error = found.graph->execute(handle_, pointers, scratch.data);
    check(error.is_good(), ErrorCode::Device, "cuDNN: attention {} failed: {}", problem,
          error.err_msg);
    return true;
  }

 private:
  Plan build(const Problem& problem) const {
    const auto start = std::chrono::steady_clock::now();
    Plan plan;
    plan.graph = std::make_unique<fe::graph::Graph>();
    const std::string refusal = refusal_of(problem, *plan.graph);
    if (!refusal.empty()) {
      log::warn("cuDNN refuses, so our slower kernels run",
                {{"attention", problem.str()}, {"why", refusal}});
      return {};
    }
    plan.workspace_bytes = plan.graph->get_workspace_size();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    log::debug("cuDNN graph", {{"attention", problem.str()},
                               {"seconds", fmt::format("{:.2f}", seconds.count())},
                               {"workspace_bytes", std::to_string(plan.workspace_bytes)}});
    return plan;
  }

  // Fills and builds the graph; what cuDNN says against it, or nothing.
  std::string refusal_of(const Problem& problem, fe::graph::Graph& graph) const {
    const bool bf16 = problem.q().dtype == DType::BF16;
    graph.set_io_data_type(bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT)
        .set_sm_version(sm_version_);
    // Graphs live as long as the context. Otherwise the frontend would ask a second CUDA runtime,
    // which it looks for at run time, about captures at every call.
    graph.set_cuda_graph_retention(fe::CudaGraphRetention_t::NONE);
    try {
      if (problem.is_backward())
        add_backward(problem, graph);
      else
        add_forward(problem, graph);
      const fe::error_t error = graph.build(handle_, {fe::HeurMode_t::A});
      if (error.is_bad()) return one_line(error.err_msg);
    } catch (const std::exception& error) {  // a function that this cuDNN does not have
      return error.what();
    }
    // cuDNN up to 9.15.0 with T no multiple of 128: the frontend then copies sequence lengths from
    // pageable host memory at every call.
    if (!graph.cuda_graph_direct_population_eligible()) return "needs a copy from the host";
    return "";
  }

  int sm_version_;
  cudnnHandle_t handle_ = nullptr;
  std::map<std::vector<int64_t>, Plan> plans_;
};

// How much of the batch one backward call takes: whole rows, or where one row is too much some
// groups of heads of one row. Rows and groups are independent.
struct Piece {
  int64_t rows, groups;
};

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// Pieces of at most `fit`, all of one size if that costs no more than twice as many: every size
// needs a graph of its own.
int64_t piece_of(int64_t total, int64_t fit) {
  fit = std::min(total, fit);
  for (int64_t size = fit; 2 * size >= fit; --size)
    if (total % size == 0) return size;
  return ceil_div(total, ceil_div(total, fit));
}

Piece backward_piece(bool deterministic, int64_t B, int64_t T, int64_t H, int64_t G, int64_t D) {
  const int64_t padded = ceil_div(T, 128) * 128;
  // As cuDNN 9.19 takes them: Σ dout·out; the scores' gradients in 16 bits, or dq's sums in 32;
  // with grouped queries dk and dv of every head in 16.
  const int64_t head_bytes = padded * 4 + (deterministic ? padded * padded * 2 : padded * D * 4) +
                             (H == G ? 0 : padded * D * 4);
  const int64_t group_bytes = H / G * head_bytes;
  const int64_t fitting_rows = kPieceBytes / (G * group_bytes);
  if (fitting_rows > 0) return {piece_of(B, fitting_rows), G};
  return {1, piece_of(G, std::max<int64_t>(1, kPieceBytes / group_bytes))};
}

// Calls f(the problem of each piece, its part of lse); stops where f says false.
template <class F>
bool for_each_piece(const Problem& whole, const Tensor& lse, const F& f) {
  const Tensor& k = whole.operands[1].tensor;
  const int64_t B = whole.q().shape[0], T = whole.q().shape[1], H = whole.q().shape[2];
  const int64_t D = whole.q().shape[3], G = k.shape[2];
  const Piece piece = backward_piece(whole.deterministic, B, T, H, G, D);
  for (int64_t b = 0; b < B; b += piece.rows)
    for (int64_t g = 0; g < G; g += piece.groups) {
      const int64_t b_end = std::min(B, b + piece.rows), g_end = std::min(G, g + piece.groups);
      Problem part = whole;
      for (auto& [uid, tensor] : part.operands) {
        const int64_t heads = tensor.shape[2] / G;  // a group's
        tensor = tensor.slice(0, b, b_end).slice(2, g * heads, g_end * heads);
      }
      if (!f(part, lse.slice(0, b, b_end).slice(1, g * H / G, g_end * H / G))) return false;
    }
  return true;
}

Problem forward_problem(const AttentionOptions& options, const Tensor& q, const Tensor& k,
                        const Tensor& v, const Tensor& out) {
  // A window that reaches to the first key hides nothing.
  const int64_t window = options.window < k.shape[1] ? options.window : 0;
  return {options.causal, window, false, {{kQ, q}, {kK, k}, {kV, v}, {kOut, out}}};
}

Problem backward_problem(bool deterministic, const AttentionOptions& options, const Tensor& dout,
                         const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                         const Tensor& dq, const Tensor& dk, const Tensor& dv) {
  Problem problem = forward_problem(options, q, k, v, out);
  problem.deterministic = deterministic;
  for (const Operand& operand : {Operand{kDOut, dout}, {kDQ, dq}, {kDK, dk}, {kDV, dv}})
    problem.operands.push_back(operand);
  return problem;
}

// cuDNN reads and writes 16 bytes at a time; it checks strides itself.
bool is_aligned(const Problem& problem) {
  return std::ranges::all_of(problem.operands, [](const Operand& operand) {
    return reinterpret_cast<uintptr_t>(operand.tensor.data) % 16 == 0;
  });
}

}  // namespace

bool cudnn_attention_forward(Context& ctx, const Tensor& q, const Tensor& k, const Tensor& v,
                             const AttentionOptions& options, const Tensor& out,
                             const Tensor& lse) {
  const Problem problem = forward_problem(options, q, k, v, out);
  return is_aligned(problem) &&
         ctx.cuda->library<CudnnAttention>().run(ctx, problem, options.scale, lse);
}

bool cudnn_attention_backward(Context& ctx, const Tensor& dout, const Tensor& q, const Tensor& k,
                              const Tensor& v, const Tensor& out, const Tensor& lse,
                              const AttentionOptions& options, const Tensor& dq, const Tensor& dk,
                              const Tensor& dv) {
  const Problem whole =
      backward_problem(ctx.deterministic, options, dout, q, k, v, out, dq, dk, dv);
  if (!is_aligned(whole)) return false;
  auto& cudnn = ctx.cuda->library<CudnnAttention>();
  return for_each_piece(whole, lse, [&](const Problem& part, const Tensor& part_lse) {
    return cudnn.run(ctx, part, options.scale, part_lse);
  });
}

int64_t cudnn_attention_workspace_bytes(const Context& ctx, DType dtype, int64_t B, int64_t T,
                                        int64_t H, int64_t G, int64_t D) {
  // Views of packed rows without memory behind them: only extents and strides count here.
  const auto heads = [&](int64_t num_heads, int64_t row) {
    Tensor tensor = Tensor::contiguous(nullptr, dtype, {B, T, num_heads, D}, ctx.device);
    tensor.strides = {T * row, row, D, 1};
    return tensor;
  };
  const Tensor out = heads(H, H * D), q = heads(H, (H + 2 * G) * D), k = heads(G, (H + 2 * G) * D);
  const Tensor lse = Tensor::contiguous(nullptr, DType::F32, {B, H, T}, ctx.device);
  auto& cudnn = ctx.cuda->library<CudnnAttention>();
  int64_t bytes = cudnn.plan(forward_problem({}, q, k, k, out)).workspace_bytes;
  const Problem whole = backward_problem(ctx.deterministic, {}, out, q, k, k, out, q, k, k);
  for_each_piece(whole, lse, [&](const Problem& part, const Tensor&) {
    bytes = std::max(bytes, cudnn.plan(part).workspace_bytes);
    return true;
  });
  return bytes;
}

}  // namespace ingot::cuda
