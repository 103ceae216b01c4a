// Scores with a model in this process, by requests to its engine.
#pragma once

#include <functional>
#include <memory>

#include "eval/scorer.h"
#include "infer/engine_model.h"

namespace ingot {

class EngineScorer final : public Scorer {
 public:
  // Loads the model with room for sequences of `context` tokens; 0: of the model's own context.
  using Load = std::function<std::unique_ptr<EngineModel>(int64_t context)>;

  // Calls load(0), and load() again for sequences that are longer.
  explicit EngineScorer(Load load);
  // Uses `model` as it is: the beginning of longer sequences is cut off. It must outlive this.
  explicit EngineScorer(EngineModel& model) : model_(&model) {}

  void score(std::span<const ScoreItem> items, const OnItem& on_item) override;
  std::vector<int32_t> continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                         const IsDone& is_done) override;
  int64_t max_tokens() const override;

 private:
  struct Prepared;
  Prepared prepared(const ScoreItem& item);
  void score_group(std::span<Prepared> group);
  void reserve(int64_t tokens);
  void run();
  int64_t context() const { return model_->config().context; }

  Load load_;  // empty: the model stays
  std::unique_ptr<EngineModel> loaded_;
  EngineModel* model_;
};

}  // namespace ingot
