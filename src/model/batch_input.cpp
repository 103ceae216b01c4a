#include "model/batch_input.h"

#include <algorithm>

#include "core/error/error.h"
#include "model/layer.h"
#include "ops/memory.h"

namespace ingot {

BatchInput::BatchInput(Context& ctx, const ModelConfig& config, const TrainShape& shape,
                       const PlacedTensors& placed, int64_t slot)
    : ctx_(ctx),
      vocab_(config.vocab),
      N_(shape.B * shape.T),
      T_(shape.T),
      tokens_(placed.find(slot_name(slot, "tokens"))),
      targets_(placed.find(slot_name(slot, "targets"))),
      positions_row_(placed.try_find(slot_name(slot, "positions"))),
      rope_(rope_input(config, placed)) {
  rope_.positions = positions_row_;
  attention_ = attention_options(config);
  attention_.document_start = placed.try_find(slot_name(slot, "document_start"));
  unwindowed_ = attention_;
  unwindowed_.window = 0;
  if (!positions_row_.defined()) return;
  for (int64_t n = 0; n < N_; ++n) positions_.push_back(static_cast<int32_t>(n % T_));
  copy_from_host(ctx_, positions_.data(), positions_row_);
}

// Ids are checked here, in host memory: a GPU has no way to complain that would not cost a wait.
void BatchInput::check_ids(const MicroBatch& batch) const {
  for (int64_t n = 0; n < N_; ++n) {
    const int32_t token = batch.tokens[n], target = batch.targets[n];
    check(token >= 0 && token < vocab_ && (target == kNoTarget || (target >= 0 && target < vocab_)),
          ErrorCode::Data,
          "token {} or its target {} at position {} is outside the vocabulary of {}: was the data "
          "made with another tokenizer?",
          token, target, n, vocab_);
  }
}

void BatchInput::load(const MicroBatch& batch) {
  check_ids(batch);
  copy_from_host(ctx_, batch.tokens, tokens_);
  copy_from_host(ctx_, batch.targets, targets_);
  if (!attention_.document_start.defined()) return;
  check(batch.document_start != nullptr, ErrorCode::Internal,
        "a run with a document mask expected document_start, got a batch without");
  copy_from_host(ctx_, batch.document_start, attention_.document_start);
  attention_.num_documents = attention_.max_document_tokens = 0;
  for (size_t i = 0; i < positions_.size(); ++i) {
    positions_[i] = static_cast<int32_t>(static_cast<int64_t>(i) % T_) - batch.document_start[i];
    attention_.num_documents += positions_[i] == 0 ? 1 : 0;
    attention_.max_document_tokens =
        std::max<int64_t>(attention_.max_document_tokens, positions_[i] + 1);
  }
  unwindowed_.num_documents = attention_.num_documents;
  unwindowed_.max_document_tokens = attention_.max_document_tokens;
  copy_from_host(ctx_, positions_.data(), positions_row_);
}

}  // namespace ingot
