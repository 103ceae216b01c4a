// score_bench MODEL CORE_FOLDER [ITEMS] [THREADS]: seconds to score the first ITEMS items of each
// task of CORE, as `ingot eval` does and one prompt at a time, without anything that prompts share,
// in turn.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>

#include "checkpoint/auxiliary_files.h"
#include "core/tensor/kv_page.h"
#include "eval/core/core_run.h"
#include "eval/engine_scorer.h"
#include "eval/task_list.h"
#include "infer/model.h"

namespace {

using namespace ingot;

// Knows only how long the longest sequence is.
class Longest final : public Scorer {
 public:
  void score(std::span<const ScoreItem> items, const OnItem& on_item) override {
    for (size_t i = 0; i < items.size(); ++i) {
      Scores scores;
      for (const auto& [ids, first_scored] : items[i].sequences) {
        tokens = std::max(tokens, std::ssize(ids));
        scores.emplace_back(ids.size() - std::min(ids.size(), first_scored));
      }
      on_item(i, scores);
    }
  }
  std::vector<int32_t> continue_greedily(std::span<const int32_t>, int64_t,
                                         const IsDone&) override {
    return {};
  }
  int64_t max_tokens() const override { return std::numeric_limits<int64_t>::max(); }
  int64_t tokens = 0;
};

// All first sequences of the items, then all second ones: when the next one of an item comes, the
// pages that held what it shares with the last one hold another prompt.
class OneByOne final : public Scorer {
 public:
  explicit OneByOne(Scorer& own) : own_(own) {}
  void score(std::span<const ScoreItem> items, const OnItem& on_item) override {
    std::vector<Scores> scores(items.size());
    bool any = true;
    for (size_t s = 0; any; ++s) {
      any = false;
      for (size_t i = 0; i < items.size(); ++i) {
        if (s >= items[i].sequences.size()) continue;
        any = true;
        const std::vector<ScoreItem> alone = {{{items[i].sequences[s]}}};
        own_.score(alone, [&](size_t, const Scores& of) { scores[i].push_back(of.front()); });
      }
    }
    for (size_t i = 0; i < items.size(); ++i) on_item(i, scores[i]);
    counts_ = own_.counts();
  }
  std::vector<int32_t> continue_greedily(std::span<const int32_t> ids, int64_t max_new,
                                         const IsDone& is_done) override {
    return own_.continue_greedily(ids, max_new, is_done);
  }
  int64_t max_tokens() const override { return own_.max_tokens(); }

 private:
  Scorer& own_;
};

struct Timed {
  double seconds = 0;
  double accuracy = 0;
  int64_t computed = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return fmt::print("usage: score_bench MODEL CORE_FOLDER [ITEMS] [THREADS]\n"), 2;
  const size_t items = argc > 3 ? std::stoul(argv[3]) : 128;
  ThreadPool pool(argc > 4 ? std::stoi(argv[4]) : 1);
  Context ctx;
  ctx.pool = &pool;
  const auto load = [&](int64_t context, int64_t tokens) {
    return std::make_unique<LoadedModel>(ctx, posix_storage(), argv[1],
                                         ModelOptions{.context = context,
                                                      .max_sequences = 16,
                                                      .pages = tokens / kPageTokens + 1,
                                                      .beyond_context = true});
  };
  const auto tokenizer = tokenizer_of(load(0, 1 << 14)->auxiliary_files());
  const TaskList tasks = read_task_list(*posix_storage(), {argv[2]});
  fmt::print("{:<30}{:>7}{:>10}{:>12}{:>8}{:>22}\n", "task", "items", "shared, s", "one by one",
             "ratio", "tokens computed");
  for (const auto& [task, examples] : tasks.core) {
    const auto run = [&](Scorer& by) {
      return run_core_task(*task, examples, items, document_ids(*tokenizer), by,
                           [](const CoreItemResult&, size_t, size_t) {});
    };
    Longest longest;
    run(longest);
    const auto timed = [&](bool is_alone, int64_t tokens) {
      const auto model = load(longest.tokens + 1, tokens);  // which has computed nothing yet
      EngineScorer scorer(*model);
      OneByOne one_by_one(scorer);
      const auto begin = std::chrono::steady_clock::now();
      const double accuracy =
          (is_alone ? run(one_by_one) : run(static_cast<Scorer&>(scorer))).accuracy().value;
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      return Timed{took.count(), accuracy, scorer.counts().computed};
    };
    const Timed together = timed(false, std::max(longest.tokens + 1, int64_t{1} << 15));
    const Timed alone = timed(true, longest.tokens + 1);
    fmt::print("{:<30}{:>7}{:>10.2f}{:>12.2f}{:>7.2f}x{:>11} of{:>8}{}\n", task->label,
               std::min(items, examples.size()), together.seconds, alone.seconds,
               alone.seconds / together.seconds, together.computed, alone.computed,
               together.accuracy == alone.accuracy ? "" : "  other accuracy");
  }
}
