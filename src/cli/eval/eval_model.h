// The model that `ingot eval` scores.
#pragma once

#include <memory>
#include <string>

#include "cli/start/machine.h"
#include "eval/engine_scorer.h"
#include "eval/harness/harness_prompts.h"
#include "eval/prompt_ids.h"

namespace ingot::cli {

class EvalModel {
 public:
  EvalModel(Context& ctx, const std::string& path);

  Scorer& scorer() { return scorer_; }
  const ModelConfig& config() const { return config_; }
  // Texts begin like documents in training data: after BOS, or after EOS if there is no BOS.
  PromptIds document_ids() const;
  // Texts begin as the model's files say: with BOS, or with nothing.
  PromptIds prompt_ids() const { return {*tokenizer_, first_id_}; }
  // The model's chat template. Throws ErrorCode::Data if it has none.
  RenderChat chat_template() const;

 private:
  std::string path_;
  EngineScorer scorer_;
  // Kept from the first load, because the scorer may load the model again.
  ModelConfig config_;
  AuxiliaryFiles files_;
  std::unique_ptr<Tokenizer> tokenizer_;
  int32_t first_id_;
};

}  // namespace ingot::cli
