// The only file that includes cuDNN's frontend, which takes a minute to compile.
#include "ops/cuda/attention/cudnn.h"

#include <cudnn_frontend.h>
#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <map>
#include <span>
#include <vector>

#include "core/cuda/cuda_context.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "ops/cuda/attention/documents.h"
#include "ops/cuda/attention/scratch.h"

namespace cudnn_frontend {
void* cudnn_dlhandle = nullptr;  // through which the frontend finds every function of cuDNN
}

namespace ingot::cuda {
namespace {

namespace fe = cudnn_frontend;

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

enum Uid : int64_t {
  kQ = 1,
  kK,
  kV,
  kOut,
  kLse,
  kScale,
  kDOut,
  kDQ,
  kDK,
  kDV,
  kQueryLengths,
  kKeyLengths,
  kOffsets,  // and beyond: kOffsets + the uid of a tensor, where its documents begin
};

// One tensor of heads, (B, T, heads, D), under the name the graph knows it by.
struct Operand {
  Uid uid;
  Tensor tensor;
};

// What a graph is built for. All but the addresses and the limit is part of the key it is kept
// under.
struct Problem {
  bool causal;
  int64_t window;
  double softcap;                          // 0: none; with it no documents
  bool deterministic;                      // backward only
  std::vector<Operand> operands;           // q, k, v, out; backward adds dout, dq, dk, dv
  int64_t max_bytes = kCudnnForwardBytes;  // of workspace: a graph that asks for more is refused
  // Over documents: how many a call takes, the most tokens one has. Otherwise rows are the
  // sequences.
  int64_t num_documents = 0, document_tokens = 0;

  bool is_backward() const { return operands.size() > 4; }
  bool over_documents() const { return num_documents > 0; }
  const Tensor& q() const { return operands[0].tensor; }
  const Tensor& k() const { return operands[1].tensor; }
  int64_t num_sequences() const { return over_documents() ? num_documents : q().shape[0]; }
  int64_t sequence_tokens() const { return over_documents() ? document_tokens : q().shape[1]; }

  std::vector<int64_t> key() const {
    std::vector<int64_t> key = {
        causal,        window,          std::bit_cast<int64_t>(softcap), deterministic,
        num_documents, document_tokens, static_cast<int64_t>(q().dtype)};
    for (const Operand& operand : operands)
      for (int dim = 0; dim < 4; ++dim) {
        key.push_back(operand.tensor.shape[dim]);
        key.push_back(operand.tensor.strides[dim]);
      }
    return key;
  }

  std::string str() const {
    std::string text = fmt::format("{} of {}, causal {}, window {}",
                                   is_backward() ? "backward" : "forward", q(), causal, window);
    if (over_documents())
      text += fmt::format(", {} documents of up to {} tokens", num_documents, document_tokens);
    if (softcap > 0) text += fmt::format(", soft cap {}", softcap);
    if (is_backward()) text += deterministic ? ", deterministic" : ", fast";
    return text;
  }
};

using Attributes = fe::graph::Tensor_attributes;
using TensorPtr = std::shared_ptr<Attributes>;

// The tensors of one graph. cuDNN's order is (sequences, heads, tokens, D).
class GraphTensors {
 public:
  GraphTensors(const Problem& problem, fe::graph::Graph& graph)
      : problem_(problem), graph_(graph) {}

  TensorPtr input(size_t operand) const { return graph_.tensor(heads(operand)); }
  TensorPtr lse_input() const { return graph_.tensor(lse()); }
  void output(const TensorPtr& tensor, size_t operand) const { output(tensor, heads(operand)); }
  void lse_output(const TensorPtr& tensor) const {
    output(tensor, lse());
    tensor->set_data_type(fe::DataType_t::FLOAT);
  }

  // The scale is an argument of every run, so that it is no part of the key.
  TensorPtr scale() const {
    return graph_.tensor(Attributes()
                             .set_uid(kScale)
                             .set_dim({1, 1, 1, 1})
                             .set_stride({1, 1, 1, 1})
                             .set_is_pass_by_value(true)
                             .set_data_type(fe::DataType_t::FLOAT));
  }

  template <class Options>
  void set_mask(Options& options) const {
    if (problem_.softcap > 0) return;  // CappedScores masks
    if (problem_.over_documents())
      options.set_padding_mask(true)
          .set_seq_len_q(indices(kQueryLengths, problem_.num_documents, fe::DataType_t::INT32))
          .set_seq_len_kv(indices(kKeyLengths, problem_.num_documents, fe::DataType_t::INT32));
    if (!problem_.causal) return;
    options.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
        .set_diagonal_band_right_bound(0);
    // Query t sees keys beyond t - window.
    if (problem_.window > 0)
      options.set_diagonal_band_left_bound(static_cast<int>(problem_.window));
  }

 private:
  Attributes heads(size_t operand) const {
    const auto& [uid, tensor] = problem_.operands[operand];
    return sequences(uid, tensor.shape[2], tensor.shape[3],
                     {tensor.strides[0], tensor.strides[2], tensor.strides[1], 1});
  }

  // lse(B, H, T): cuDNN's statistics, max + ln(Σ exp(score - max)).
  Attributes lse() const {
    const int64_t T = problem_.q().shape[1], H = problem_.q().shape[2];
    return sequences(kLse, H, 1, {H * T, T, 1, 1}).set_data_type(fe::DataType_t::FLOAT);
  }

  // Over documents, cuDNN reads from the offsets where a sequence begins: the first stride is
  // unused.
  Attributes sequences(Uid uid, int64_t num_heads, int64_t width,
                       const std::vector<int64_t>& strides) const {
    Attributes tensor;
    tensor.set_uid(uid)
        .set_dim({problem_.num_sequences(), num_heads, problem_.sequence_tokens(), width})
        .set_stride(strides);
    if (problem_.over_documents())
      tensor.set_ragged_offset(
          indices(kOffsets + uid, problem_.num_documents + 1, fe::DataType_t::INT64));
    return tensor;
  }

  TensorPtr indices(int64_t uid, int64_t count, fe::DataType_t type) const {
    return graph_.tensor(Attributes()
                             .set_uid(uid)
                             .set_dim({count, 1, 1, 1})
                             .set_stride({1, 1, 1, 1})
                             .set_data_type(type));
  }

  static void output(const TensorPtr& tensor, Attributes like) {
    tensor->set_output(true)
        .set_uid(like.get_uid())
        .set_dim(like.get_dim())
        .set_stride(like.get_stride())
        .set_ragged_offset(like.get_ragged_offset());
  }

  const Problem& problem_;
  fe::graph::Graph& graph_;
};

// Scores under a soft cap. cuDNN has no word for it: it takes operations on scores instead, and
// then no mask of its own, so the mask is one of them. Lives as long as its graph is built.
class CappedScores {
 public:
  explicit CappedScores(const Problem& problem) : problem_(problem) {}

  auto forward() {
    return [this](const GraphPtr& graph, TensorPtr scores) {
      scores = cap_.forward(graph, scores, cap_value());
      if (!problem_.causal) return scores;
      namespace masks = fe::graph::attn::score_modifiers;
      if (problem_.window == 0) return masks::causal_mask(graph, scores);
      const int64_t T = problem_.sequence_tokens();
      return masks::sliding_window_mask(graph, scores, fe::DiagonalAlignment_t::TOP_LEFT,
                                        problem_.window, 0, T, T, nullptr, nullptr);
    };
  }
  auto backward() {
    return [this](const GraphPtr& graph, const TensorPtr& dscores) {
      return cap_.backward(graph, dscores, cap_value());
    };
  }

 private:
  using GraphPtr = std::shared_ptr<fe::graph::Graph>;

  TensorPtr cap_value() const {
    return std::make_shared<Attributes>(static_cast<float>(problem_.softcap));
  }

  const Problem& problem_;
  fe::graph::attn::score_modifiers::Softcap cap_;
};

void add_forward(const Problem& problem, CappedScores& capped, fe::graph::Graph& graph) {
  const GraphTensors tensors(problem, graph);
  auto options = fe::graph::SDPA_attributes()
                     .set_name("attention")
                     .set_generate_stats(true)
                     .set_implementation(fe::AttentionImplementation_t::COMPOSITE)
                     .set_attn_scale(tensors.scale());
  tensors.set_mask(options);
  if (problem.softcap > 0) options.set_score_mod(capped.forward());
  const auto [out, lse] = graph.sdpa(tensors.input(0), tensors.input(1), tensors.input(2), options);
  tensors.output(out, 3);
  tensors.lse_output(lse);
}

void add_backward(const Problem& problem, CappedScores& capped, fe::graph::Graph& graph) {
  const GraphTensors tensors(problem, graph);
  std::vector<TensorPtr> inputs;  // q, k, v, out, dout
  for (size_t i = 0; i < 5; ++i) inputs.push_back(tensors.input(i));
  auto options = fe::graph::SDPA_backward_attributes()
                     .set_name("attention_backward")
                     .set_deterministic_algorithm(problem.deterministic)
                     .set_attn_scale(tensors.scale());
  tensors.set_mask(options);
  if (problem.softcap > 0)
    options.set_score_mod(capped.forward()).set_score_mod_bprop(capped.backward());
  const auto gradients = graph.sdpa_backward(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4],
                                             tensors.lse_input(), options);
  for (size_t i = 0; i < 3; ++i) tensors.output(gradients[i], 5 + i);
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text.empty() ? "no reason given" : text;
}

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// The documents of a batch, on the device: see list_documents. The tensors are the problem's
// operands and, last, lse. Rows are padded to 16 bytes, which cuDNN takes every address for.
class DocumentList {
 public:
  DocumentList() = default;
  // For calls of problem.num_documents each, from memory of the workspace: document_list_bytes().
  DocumentList(Context& ctx, const Problem& problem, const Tensor& lse,
               const Tensor& document_start, int64_t num_documents) {
    std::vector<TokenStrides> strides;
    for (const auto& [uid, tensor] : problem.operands)
      strides.push_back({tensor.strides[0], tensor.strides[1]});
    strides.push_back({lse.strides[0], 1});
    const int64_t num_calls = ceil_div(num_documents, problem.num_documents);
    lengths_ = ctx.workspace.take(DType::I32, {num_calls, ceil_div(problem.num_documents, 4) * 4});
    offsets_ = ctx.workspace.take(DType::I64, {static_cast<int64_t>(strides.size()), num_calls,
                                               ceil_div(problem.num_documents + 1, 2) * 2});
    list_documents(ctx, document_start, strides, problem.num_documents, lengths_, offsets_);
  }

  int64_t num_calls() const { return lengths_.shape[0]; }
  // Adds what the graph of the problem reads in this call.
  void add(const Problem& problem, int64_t call,
           std::unordered_map<int64_t, void*>& pointers) const {
    pointers[kQueryLengths] = pointers[kKeyLengths] = lengths_.slice(0, call, call + 1).data;
    int64_t tensor = 0;
    const auto add_next = [&](Uid uid) {
      pointers[kOffsets + uid] =
          offsets_.slice(0, tensor, tensor + 1).slice(1, call, call + 1).data;
      ++tensor;
    };
    for (const Operand& operand : problem.operands) add_next(operand.uid);
    add_next(kLse);
  }

 private:
  Tensor lengths_;  // (calls, documents) I32
  Tensor offsets_;  // (tensors, calls, documents + 1) I64
};

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

  // False: refused. lse is the part of the problem's rows and heads. A problem over documents takes
  // those of one call.
  bool run(Context& ctx, const Problem& problem, double scale, const Tensor& lse,
           const DocumentList& documents = {}, int64_t call = 0) {
    const Plan& found = plan(problem);
    if (found.graph == nullptr) return false;
    auto scale_value = static_cast<float>(scale);
    std::unordered_map<int64_t, void*> pointers = {{kLse, lse.data}, {kScale, &scale_value}};
    for (const Operand& operand : problem.operands)
      pointers.emplace(operand.uid, operand.tensor.data);
    if (problem.over_documents()) documents.add(problem, call, pointers);
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
    CappedScores capped(problem);
    try {
      if (problem.is_backward())
        add_backward(problem, capped, graph);
      else
        add_forward(problem, capped, graph);
      const fe::error_t error = graph.build(handle_, {fe::HeurMode_t::A});
      if (error.is_bad()) return one_line(error.err_msg);
    } catch (const std::exception& error) {  // a function that this cuDNN does not have
      return error.what();
    }
    // cuDNN up to 9.15.0 with T no multiple of 128: the frontend then copies sequence lengths from
    // pageable host memory at every call.
    if (!graph.cuda_graph_direct_population_eligible()) return "needs a copy from the host";
    if (graph.get_workspace_size() > problem.max_bytes)
      return fmt::format("needs {} bytes of workspace, more than {}", graph.get_workspace_size(),
                         problem.max_bytes);
    return "";
  }

  int sm_version_;
  cudnnHandle_t handle_ = nullptr;
  std::map<std::vector<int64_t>, Plan> plans_;
};

// Calls f(the part of the problem in these rows and each of the pieces of `groups`, its part of
// lse); stops where f says false.
template <class F>
bool for_each_group(const Problem& whole, const Tensor& lse, int64_t b, int64_t b_end,
                    int64_t groups, const F& f) {
  const int64_t H = whole.q().shape[2], G = whole.k().shape[2];
  for (int64_t g = 0; g < G; g += groups) {
    const int64_t g_end = std::min(G, g + groups);
    Problem part = whole;
    for (auto& [uid, tensor] : part.operands) {
      const int64_t heads = tensor.shape[2] / G;  // a group's
      tensor = tensor.slice(0, b, b_end).slice(2, g * heads, g_end * heads);
    }
    if (!f(part, lse.slice(0, b, b_end).slice(1, g * H / G, g_end * H / G))) return false;
  }
  return true;
}

// The same for all pieces of a backward pass whose sequences are rows.
template <class F>
bool for_each_piece(Problem whole, const Tensor& lse, const F& f) {
  const Tensor& q = whole.q();
  const int64_t B = q.shape[0], T = q.shape[1], H = q.shape[2], D = q.shape[3];
  const int64_t G = whole.k().shape[2];
  const CudnnPiece piece = cudnn_row_piece(whole.deterministic, B, T, H, G, D);
  whole.max_bytes = cudnn_backward_bytes(piece, whole.deterministic, T, H, G, D);
  for (int64_t b = 0; b < B; b += piece.sequences)
    if (!for_each_group(whole, lse, b, std::min(B, b + piece.sequences), piece.groups, f))
      return false;
  return true;
}

// Graphs over documents are built for powers of two, lest each batch wants another.
bool run_documents(Context& ctx, Problem problem, const AttentionOptions& options,
                   const Tensor& lse) {
  if (!options.document_start.is_contiguous()) return false;
  const Tensor& q = problem.q();
  const int64_t B = q.shape[0], T = q.shape[1], H = q.shape[2], D = q.shape[3];
  const int64_t G = problem.k().shape[2];
  const int64_t num_documents = options.num_documents, longest = options.max_document_tokens;

  problem.max_bytes = cudnn_document_bytes(B, T, H, G, D);
  problem.document_tokens = T;
  while (longest > 0 && problem.document_tokens % 128 == 0 &&
         problem.document_tokens / 2 >= longest)
    problem.document_tokens /= 2;
  if (problem.window >= problem.document_tokens) problem.window = 0;
  CudnnPiece piece{static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(
                       std::clamp(num_documents, kMinDocuments, kMaxDocuments)))),
                   G};
  if (problem.is_backward())
    piece = cudnn_document_piece(problem.deterministic, piece.sequences, problem.document_tokens, B,
                                 T, H, G, D);
  problem.num_documents = piece.sequences;

  auto& cudnn = ctx.cuda->library<CudnnAttention>();
  const Workspace::Scope scope(ctx.workspace);
  const DocumentList list(ctx, problem, lse, options.document_start, num_documents);
  for (int64_t call = 0; call < list.num_calls(); ++call)
    if (!for_each_group(problem, lse, 0, B, piece.groups,
                        [&](const Problem& part, const Tensor& part_lse) {
                          return cudnn.run(ctx, part, options.scale, part_lse, list, call);
                        }))
      return false;
  return true;
}

Problem forward_problem(const AttentionTensors& t, const AttentionOptions& options) {
  // A window that reaches to the first key hides nothing.
  const int64_t window = options.window < t.k.shape[1] ? options.window : 0;
  return {options.causal,
          window,
          options.softcap,
          false,
          {{kQ, t.q}, {kK, t.k}, {kV, t.v}, {kOut, t.out}}};
}

Problem backward_problem(const AttentionTensors& t, const AttentionGradients& d,
                         const AttentionOptions& options, bool deterministic) {
  Problem problem = forward_problem(t, options);
  problem.deterministic = deterministic;
  for (const Operand& operand : {Operand{kDOut, d.dout}, {kDQ, d.dq}, {kDK, d.dk}, {kDV, d.dv}})
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

bool cudnn_attention_forward(Context& ctx, const AttentionTensors& t,
                             const AttentionOptions& options) {
  const Problem problem = forward_problem(t, options);
  if (!is_aligned(problem)) return false;
  if (options.document_start.defined()) return run_documents(ctx, problem, options, t.lse);
  return ctx.cuda->library<CudnnAttention>().run(ctx, problem, options.scale, t.lse);
}

bool cudnn_attention_backward(Context& ctx, const AttentionTensors& t, const AttentionGradients& d,
                              const AttentionOptions& options) {
  const Problem whole = backward_problem(t, d, options, ctx.deterministic);
  if (!is_aligned(whole)) return false;
  if (options.document_start.defined()) return run_documents(ctx, whole, options, t.lse);
  auto& cudnn = ctx.cuda->library<CudnnAttention>();
  return for_each_piece(whole, t.lse, [&](const Problem& part, const Tensor& part_lse) {
    return cudnn.run(ctx, part, options.scale, part_lse);
  });
}

}  // namespace ingot::cuda
