// A store that forwards to another one; derived classes override what differs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "parallel/shard/parameter_store.h"

namespace ingot {

class ForwardingStore : public ParameterStore {
 public:
  explicit ForwardingStore(std::unique_ptr<ParameterStore> inner) : inner_(std::move(inner)) {}

  Context& context() const override { return inner_->context(); }
  const ShardMap& shard_map() const override { return inner_->shard_map(); }
  Communicator& shard_group() override { return inner_->shard_group(); }
  void begin(std::span<const BlockUse> order, bool last) override { inner_->begin(order, last); }
  void end() override { inner_->end(); }
  void acquire(const BlockUse& use) override { inner_->acquire(use); }
  void release(const BlockUse& use) override { inner_->release(use); }
  Tensor weight(TensorId parameter) const override { return inner_->weight(parameter); }
  GradientSlot gradient(TensorId parameter) override { return inner_->gradient(parameter); }
  void release_gradients(int block) override { inner_->release_gradients(block); }
  std::optional<std::string> record_key(bool last) const override {
    return inner_->record_key(last);
  }
  void note_record(bool last) override { inner_->note_record(last); }
  void finish_gradients() override { inner_->finish_gradients(); }
  void start_step() override { inner_->start_step(); }
  std::span<const ParameterShard> shards() const override { return inner_->shards(); }

 protected:
  void gather_new_weights() override { inner_->publish_weights(); }
  std::unique_ptr<ParameterStore> inner_;
};

}  // namespace ingot
