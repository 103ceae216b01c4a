// The model that `ingot eval` scores.
#pragma once

#include <memory>
#include <string>

#include "cli/start/machine.h"
#include "eval/engine_scorer.h"
#include "eval/prompt_ids.h"
#include "infer/model.h"
#include "tokenizer/chat/chat_format.h"

namespace ingot::cli {

class EvalModel {
 public:
  EvalModel(Context& ctx, const std::string& path, WeightFormat weights);

  Scorer& scorer() { return scorer_; }
  const ModelConfig& config() const { return config_; }
  // Texts begin like documents in training data: after BOS, or after EOS if there is no BOS.
  PromptIds document_ids() const;
  // Texts begin as the model's files say: with BOS, or with nothing.
  PromptIds prompt_ids() const { return {*tokenizer_, first_id_}; }
  // The model's chat template, or ChatML if it has none; refers to this model's tokenizer.
  ChatFormat chat_format() const;

 private:
  void take_facts(const LoadedModel& model);

  std::string path_;
  // Kept from the first load, by the scorer's constructor: the scorer may load the model again.
  ModelConfig config_;
  AuxiliaryFiles files_;
  std::unique_ptr<Tokenizer> tokenizer_;
  int32_t first_id_ = -1;
  std::vector<int32_t> stop_ids_;
  EngineScorer scorer_;
};

}  // namespace ingot::cli
