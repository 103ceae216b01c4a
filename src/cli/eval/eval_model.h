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
  // As documents in training data: behind BOS, or behind EOS where the tokenizer has no BOS.
  PromptIds document_ids() const;
  // As the model's files say: BOS, or nothing.
  PromptIds prompt_ids() const { return {*tokenizer_, first_id_}; }
  // The model's chat template, or ChatML if it has none; refers to this model's tokenizer.
  ChatFormat chat_format() const;

 private:
  void take_facts(const LoadedModel& model);

  std::string path_;
  // Of the first load, which the scorer's constructor makes: it may read the model again.
  ModelConfig config_;
  AuxiliaryFiles files_;
  std::unique_ptr<Tokenizer> tokenizer_;
  int32_t first_id_ = -1;
  std::vector<int32_t> stop_ids_;
  EngineScorer scorer_;
};

}  // namespace ingot::cli
