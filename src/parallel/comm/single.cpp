#include <cstring>

#include "parallel/comm/collective_checks.h"
#include "parallel/comm/communicator.h"

namespace ingot {
namespace {

void copy_bytes(const Tensor& from, const Tensor& to) {
  if (from.numel() > 0) std::memmove(to.data, from.data, static_cast<size_t>(from.bytes()));
}

class SingleCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }

  void barrier() override {}
  void all_reduce_sum(const Tensor& tensor) override { check_summable(tensor); }
  void all_gather(const Tensor& part, const Tensor& whole) override {
    check_parts(part, whole, 1);
    copy_bytes(part, whole);
  }
  void reduce_scatter_sum(const Tensor& whole, const Tensor& part) override {
    check_summable(whole);
    check_parts(part, whole, 1);
    copy_bytes(whole, part);
  }
  void broadcast(const Tensor& tensor, int root) override {
    check_collective(tensor);
    check_root(root, 1);
  }
};

}  // namespace

std::unique_ptr<Communicator> single_communicator() {
  return std::make_unique<SingleCommunicator>();
}

}  // namespace ingot
