#include <list>
#include <utility>

#include "core/async/recorded_work.h"
#include "core/cuda/launch.h"
#include "core/device/cuda_backend.h"
#include "core/error/log.h"

namespace ingot {
namespace {

// A training run has two keys or four: first micro-step of a step or not, weights rounded anew or
// not. A decoder has one for each number of rows, of which there are 36 up to 512.
constexpr size_t kKeys = 40;

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using ReadyGraph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

class CudaGraphs final : public RecordedWork {
 public:
  explicit CudaGraphs(CudaContext& cuda) : cuda_(cuda) {}

  bool run(const std::string& key, const std::function<void()>& issue) override {
    for (auto known = known_.begin(); known != known_.end(); ++known) {
      if (known->key != key) continue;
      known_.splice(known_.begin(), known_, known);  // the latest first
      const bool recorded = known->graph != nullptr;
      if (!recorded) {
        known->graph = record(issue);
        log::debug("recorded as a CUDA graph", {{"key", key}});
      }
      cuda_check(cudaGraphLaunch(known->graph.get(), cuda_.stream()));
      return !recorded;
    }
    issue();
    known_.push_front({key, nullptr});
    if (known_.size() > kKeys) known_.pop_back();
    return true;
  }

 private:
  struct Known {
    std::string key;
    ReadyGraph graph;  // null until the key is met again
  };

  ReadyGraph record(const std::function<void()>& issue) {
    cuda_check(cudaStreamBeginCapture(cuda_.stream(), cudaStreamCaptureModeThreadLocal));
    try {
      issue();
    } catch (...) {
      end_capture();  // the stream must work again for whoever handles the error
      throw;
    }
    const auto [status, graph] = end_capture();
    cuda_check(status);
    cudaGraphExec_t ready = nullptr;
    cuda_check(cudaGraphInstantiate(&ready, graph.get(), 0));
    return ReadyGraph(ready);
  }
  std::pair<cudaError_t, Graph> end_capture() {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(cuda_.stream(), &graph);
    return {status, Graph(graph)};
  }

  CudaContext& cuda_;
  std::list<Known> known_;
};

}  // namespace

std::unique_ptr<RecordedWork> make_cuda_recorded_work(CudaContext& context) {
  return std::make_unique<CudaGraphs>(context);
}

}  // namespace ingot
