// Scores with a model on this machine, by requests to its engine.
#pragma once

#include <functional>
#include <memory>

#include "eval/scorer.h"
#include "infer/model.h"

namespace ingot {

class EngineScorer final : public Scorer {
 public:
  // Loads the model with room for sequences of `context` tokens; 0: the model's own context.
  using Load = std::function<std::unique_ptr<LoadedModel>(int64_t context)>;

  // Calls load(0), and load() again for sequences that are longer.
  explicit EngineScorer(Load load);

  // Valid until the next call of another function.
  const LoadedModel& model() const { return *model_; }

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

  Load load_;
  std::unique_ptr<LoadedModel> model_;
};

}  // namespace ingot
