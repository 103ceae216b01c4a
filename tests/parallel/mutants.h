// Stores and worlds with one mistake each, for tests that show the mistake to be seen. Everything
// else they hand on.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "parallel/shard/forwarding_store.h"
#include "support/forwarding_world.h"

namespace ingot::test {

// Elements of a tensor on the CPU, F32 or F64.
template <class F>
void for_each_element(const Tensor& tensor, const F& f) {
  const auto visit = [&](auto* data) {
    for (int64_t i = 0; i < tensor.numel(); ++i) f(data[i]);
  };
  if (tensor.dtype == DType::F64) return visit(tensor.as<double>());
  visit(tensor.as<float>());
}

// Means where sums are asked for: every gradient is divided by the number of ranks once more.
class WrongScale final : public ForwardingStore {
 public:
  WrongScale(std::unique_ptr<ParameterStore> inner, int ranks)
      : ForwardingStore(std::move(inner)), ranks_(ranks) {}
  void finish_gradients() override {
    inner_->finish_gradients();
    for (const ParameterShard& shard : inner_->shards())
      for_each_element(shard.gradient,
                       [this](auto& value) { value /= static_cast<decltype(+value)>(ranks_); });
  }

 private:
  int ranks_;
};

// The norm is summed over all ranks, replicas among them.
class NormOfReplicas final : public ForwardingStore {
 public:
  NormOfReplicas(std::unique_ptr<ParameterStore> inner, World& world)
      : ForwardingStore(std::move(inner)), everyone_(world.everyone(inner_->context())) {}
  Communicator& shard_group() override { return *everyone_; }

 private:
  std::unique_ptr<Communicator> everyone_;
};

// Where whole weights stay: nobody hears that the shards have changed.
class StaleWeights final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

 private:
  void gather_new_weights() override {
    if (++changes_ <= 1) inner_->publish_weights();
  }
  int changes_ = 0;
};

// Gradients that go nowhere.
class LostGradients : public ForwardingStore {
 public:
  LostGradients(std::unique_ptr<ParameterStore> inner, const TensorTable& parameters)
      : ForwardingStore(std::move(inner)), parameters_(parameters) {}
  GradientSlot gradient(TensorId parameter) override {
    if (!is_lost(parameter)) return inner_->gradient(parameter);
    const Shape& shape = parameters_[parameter].shape;
    std::vector<double>& room = rooms_[parameter.row];
    room.resize(static_cast<size_t>(shape.numel()));
    const DType dtype = inner_->shards().front().gradient.dtype;
    return {Tensor::contiguous(room.data(), dtype, shape), Accumulate::No};
  }

 private:
  virtual bool is_lost(TensorId parameter) = 0;

  const TensorTable parameters_;
  std::map<int32_t, std::vector<double>> rooms_;
};

// Of a tied embedding the head's part.
class LostTiedGradient final : public LostGradients {
 public:
  using LostGradients::LostGradients;
  void acquire(const BlockUse& use) override {
    inner_->acquire(use);
    in_loss_ = use.pass == Pass::Loss;
  }

 private:
  bool is_lost(TensorId parameter) override { return parameter.row == 0 && in_loss_; }
  bool in_loss_ = false;
};

// A step's first micro-step.
class DroppedMicroStep final : public LostGradients {
 public:
  using LostGradients::LostGradients;
  void start_step() override {
    inner_->start_step();
    micro_step_ = 0;
  }
  void begin(std::span<const BlockUse> order, bool last) override {
    inner_->begin(order, last);
    ++micro_step_;
  }

 private:
  bool is_lost(TensorId) override { return micro_step_ == 1; }
  int micro_step_ = 0;
};

// Replicas sum gradients in every micro-step, and so sums again.
class SumsAgain final : public ForwardingStore {
 public:
  SumsAgain(std::unique_ptr<ParameterStore> inner, World& world)
      : ForwardingStore(std::move(inner)), everyone_(world.everyone(inner_->context())) {}
  void begin(std::span<const BlockUse> order, bool last) override {
    inner_->begin(order, last);
    last_ = last;
  }
  void end() override {
    inner_->end();
    if (last_) return;
    for (const ParameterShard& shard : inner_->shards())
      everyone_->all_reduce(shard.gradient, Reduce::Sum, {}).wait();
  }

 private:
  std::unique_ptr<Communicator> everyone_;
  bool last_ = false;
};

// Every gather delivers what the one before it would have: the first of a step what there was
// before the update.
class StaleGathers final : public ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;

 private:
  Ticket start(const CollectiveCall& call, const Ticket& after) override {
    if (call.kind != Collective::AllGather) return ForwardingCommunicator::start(call, after);
    after.wait();
    const auto* data = static_cast<const std::byte*>(call.in.data);
    const std::vector<std::byte> now(data, data + call.in.bytes());
    auto& before = before_.try_emplace(call.in.data, now).first->second;
    CollectiveCall stale = call;
    stale.in = Tensor::contiguous(before.data(), call.in.dtype, call.in.shape);
    const Ticket done = ForwardingCommunicator::start(stale, {});
    done.wait();
    before = now;
    return done;
  }

  std::map<const void*, std::vector<std::byte>> before_;  // by shard
};

class StaleWorld final : public ForwardingWorld {
 public:
  using ForwardingWorld::ForwardingWorld;
  std::unique_ptr<Communicator> communicator(std::span<const int> ranks,
                                             Context& compute) override {
    return std::make_unique<StaleGathers>(ForwardingWorld::communicator(ranks, compute));
  }
};

}  // namespace ingot::test
