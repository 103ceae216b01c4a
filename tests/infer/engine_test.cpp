#include "infer/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "core/error/error.h"
#include "infer/engine_rig.h"

namespace ingot::test {
namespace {

Request request(std::vector<int32_t> prompt, int64_t max_tokens, uint64_t seed = 1) {
  Request r{.prompt = std::move(prompt), .max_tokens = max_tokens};
  r.sampling.seed = seed;
  return r;
}

// Prompts of many lengths, some of which begin alike, with filters of several kinds.
std::vector<Request> many_requests(int64_t count) {
  std::vector<Request> all;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int32_t> prompt = some_ids(20, static_cast<uint64_t>(i % 3));
    const std::vector<int32_t> own = some_ids(1 + i % 17, static_cast<uint64_t>(100 + i));
    prompt.insert(prompt.end(), own.begin(), own.end());
    Request r = request(std::move(prompt), 5 + i % 40, static_cast<uint64_t>(i));
    if (i % 4 == 1) r.sampling.temperature = 0;
    if (i % 4 == 2) r.sampling.top_k = 5, r.sampling.repetition_penalty = 1.3;
    if (i % 4 == 3) r.sampling.top_p = 0.9, r.sampling.min_p = 0.05, r.slide = true;
    all.push_back(std::move(r));
  }
  return all;
}

std::vector<std::vector<int32_t>> replies_one_by_one(const std::vector<Request>& requests,
                                                     const DecodeOptions& options) {
  std::vector<std::vector<int32_t>> ids;
  for (const Request& r : requests) ids.push_back(EngineRig(options).finished(r)->ids());
  return ids;
}

TEST(ReplyEngine, AReplyDoesNotDependOnThoseBesideIt) {
  const std::vector<Request> requests = many_requests(70);
  const auto alone = replies_one_by_one(requests, {.context = 64, .max_rows = 7});
  struct Case {
    const char* what;
    DecodeOptions options;
  };
  for (const auto& [what, options] : std::vector<Case>{
           {"batches of 7", {.context = 64, .max_sequences = 7, .max_rows = 16}},
           {"batches of 64",
            {.context = 64, .max_sequences = 64, .max_rows = 200, .max_logit_rows = 64}},
           {"few pages", {.context = 64, .pages = 9, .max_sequences = 8, .threads = 1}},
           {"one page more than a reply needs", {.context = 64, .pages = 5, .max_sequences = 4}}}) {
    EngineRig rig(options);
    std::vector<std::shared_ptr<Heard>> heard;
    for (const Request& r : requests) heard.push_back(rig.submit(r));
    rig.engine.run();
    for (size_t i = 0; i < heard.size(); ++i)
      EXPECT_EQ(heard[i]->ids(), alone[i]) << what << ", reply " << i;
    const EngineStats stats = rig.engine.stats();
    EXPECT_EQ(stats.finished, 70) << what;
    EXPECT_EQ(stats.pages_in_use, 0) << what;
    EXPECT_EQ(stats.queued + stats.running, 0) << what;
  }
}

TEST(ReplyEngine, ARequestGivesItsPagesToOlderOnesAndIsComputedAgain) {
  EngineRig rig({.context = 64, .pages = 6, .max_sequences = 3});
  std::vector<std::shared_ptr<Heard>> heard;
  for (uint64_t i = 0; i < 3; ++i) heard.push_back(rig.submit(request(some_ids(20, i), 44, i)));
  rig.engine.run();
  EXPECT_GT(rig.engine.stats().preemptions, 0);
  for (uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(heard[i]->ids(),
              EngineRig({.context = 64}).finished(request(some_ids(20, i), 44, i))->ids());
}

TEST(ReplyEngine, APromptThatWasSeenIsNotComputedAgain) {
  EngineRig rig({.context = 64});
  const auto first = rig.finished(request(some_ids(40, 1), 8));
  const int64_t computed = rig.engine.stats().computed_tokens;
  EXPECT_EQ(computed, 40 + 7);  // the reply's last token is not read
  const auto again = rig.finished(request(some_ids(40, 1), 8));
  EXPECT_EQ(again->ids(), first->ids());
  EXPECT_EQ(again->finish->reused_tokens, 39);  // the last one's logits are wanted
  EXPECT_EQ(rig.engine.stats().computed_tokens, computed + 1 + 7);

  // One that parts from it in the middle of a page.
  std::vector<int32_t> other = some_ids(40, 1);
  other.resize(25);
  other.push_back((some_ids(40, 1)[25] + 1) % 64);
  const auto parted = rig.finished(request(other, 8));
  EXPECT_EQ(parted->finish->reused_tokens, 25);
  EXPECT_EQ(parted->ids(), EngineRig({.context = 64}).finished(request(other, 8))->ids());
  // The first one's page was copied, not written to.
  EXPECT_EQ(rig.finished(request(some_ids(40, 1), 8))->ids(), first->ids());
}

TEST(ReplyEngine, RequestsThatBeginAlikeComputeThatOnce) {
  EngineRig rig({.context = 64, .max_sequences = 8});
  const std::vector<int32_t> prefix = some_ids(37, 2);
  for (int32_t i = 0; i < 8; ++i) {
    std::vector<int32_t> prompt = prefix;
    prompt.push_back(i);
    rig.submit(request(prompt, 1));
  }
  rig.engine.run();
  EXPECT_EQ(rig.engine.stats().computed_tokens, 37 + 8);
}

// --- scores

TEST(ReplyEngine, ScoresAreLogProbabilitiesOfTheUnfilteredDistribution) {
  const std::vector<int32_t> prompt = some_ids(30, 3);
  DecodeRig decode(engine_model(), {.context = 64});
  const std::vector<float> logits = decode.append(prompt, 0, 30);
  const auto row = [&](size_t t) { return std::span(logits).subspan(t * 64, 64); };

  EngineRig rig({.context = 64, .max_rows = 16, .max_logit_rows = 3});
  Request r = request(prompt, 1);
  r.sampling.temperature = 0.3;
  r.sampling.top_k = 2;
  r.sampling.logit_bias = {{7, 3.0f}};
  r.prompt_scores_from = 11;
  r.next_ids = {4, 60};
  r.top_logprobs = 3;
  const auto heard = rig.finished(r);
  EXPECT_EQ(heard->order, "pntf");
  ASSERT_EQ(heard->prompt_scores.size(), 19u);
  for (size_t i = 0; i < 19; ++i) {
    const TokenScore& score = heard->prompt_scores[i];
    const int32_t id = prompt[11 + i];
    EXPECT_EQ(score.id, id);
    EXPECT_DOUBLE_EQ(score.logprob,
                     row(10 + i)[static_cast<size_t>(id)] - log_sum_exp(row(10 + i)));
    EXPECT_EQ(score.is_likeliest, likeliest(row(10 + i), 1)[0] == id);
    ASSERT_EQ(score.likeliest.size(), 3u);
    EXPECT_EQ(score.likeliest[2].id, likeliest(row(10 + i), 3)[2]);
  }
  const double total = log_sum_exp(row(29));
  ASSERT_EQ(heard->next_scores.size(), 2u);
  EXPECT_DOUBLE_EQ(heard->next_scores[1].logprob, row(29)[60] - total);
  ASSERT_EQ(heard->tokens.size(), 1u);
  const TokenScore& token = heard->tokens[0];
  EXPECT_DOUBLE_EQ(token.logprob, row(29)[static_cast<size_t>(token.id)] - total);
}

TEST(ReplyEngine, ScoringComputesNoTokenTwiceAndLogitsOnlyWhereScored) {
  EngineRig rig({.context = 64, .max_sequences = 4});
  const std::vector<int32_t> prefix = some_ids(35, 4);
  std::vector<std::vector<int32_t>> choices;
  for (uint64_t i = 0; i < 4; ++i) choices.push_back(some_ids(3 + static_cast<int64_t>(i), 50 + i));

  Request first{.prompt = prefix};
  for (const auto& choice : choices) first.next_ids.push_back(choice[0]);
  const auto next = rig.finished(first);
  EXPECT_EQ(next->order, "nf");
  EXPECT_EQ(rig.engine.stats().computed_tokens, 35);
  EXPECT_EQ(rig.engine.stats().logit_rows, 1);

  std::vector<std::shared_ptr<Heard>> rest;
  for (const auto& choice : choices) {
    Request r{.prompt = prefix, .prompt_scores_from = 36};
    r.prompt.insert(r.prompt.end(), choice.begin(), choice.end());
    rest.push_back(rig.submit(r));
  }
  rig.engine.run();
  // Of 3 + 4 + 5 + 6 ids, the last of each is not read and the first is scored already.
  EXPECT_EQ(rig.engine.stats().computed_tokens, 35 + 2 + 3 + 4 + 5);
  EXPECT_EQ(rig.engine.stats().logit_rows, 1 + 2 + 3 + 4 + 5);

  for (size_t i = 0; i < choices.size(); ++i) {
    Request whole{.prompt = prefix, .prompt_scores_from = 35};
    whole.prompt.insert(whole.prompt.end(), choices[i].begin(), choices[i].end());
    const auto at_once = EngineRig({.context = 64}).finished(whole);
    ASSERT_EQ(at_once->prompt_scores.size(), choices[i].size());
    EXPECT_EQ(at_once->prompt_scores[0].logprob, next->next_scores[i].logprob);
    for (size_t t = 1; t < choices[i].size(); ++t)
      EXPECT_EQ(at_once->prompt_scores[t].logprob, rest[i]->prompt_scores[t - 1].logprob);
  }
}

TEST(ReplyEngine, ScoresSurviveAPreemption) {
  const auto scored = [](uint64_t which) {
    Request r = request(some_ids(50, which), 10, which);
    r.prompt_scores_from = 1;
    return r;
  };
  EngineRig rig({.context = 64, .pages = 7, .max_sequences = 4, .max_rows = 8});
  std::vector<std::shared_ptr<Heard>> heard;
  for (uint64_t i = 0; i < 4; ++i) heard.push_back(rig.submit(scored(i)));
  rig.engine.run();
  for (uint64_t i = 0; i < 4; ++i) {
    const auto alone = EngineRig({.context = 64}).finished(scored(i));
    ASSERT_EQ(heard[i]->prompt_scores.size(), 49u);
    for (size_t t = 0; t < 49; ++t)
      EXPECT_EQ(heard[i]->prompt_scores[t].logprob, alone->prompt_scores[t].logprob);
    EXPECT_EQ(heard[i]->ids(), alone->ids());
  }
}

TEST(ReplyEngine, OnePromptTokenHasNoScore) {
  EngineRig rig;
  Request r{.prompt = {3}, .prompt_scores_from = 0};
  const auto heard = rig.finished(r);
  EXPECT_EQ(heard->order, "pf");
  EXPECT_EQ(rig.engine.stats().computed_tokens, 0);
}

// --- ends

TEST(ReplyEngine, StopIdsEndAReplyAndAreNotPartOfIt) {
  EngineRig rig({.context = 64});
  const auto whole = rig.finished(request(some_ids(9, 6), 30));
  ASSERT_EQ(whole->tokens.size(), 30u);
  EXPECT_EQ(whole->finish->reason, FinishReason::Length);
  Request r = request(some_ids(9, 6), 30);
  r.stop_ids = {99, whole->tokens[12].id};
  const auto stopped = rig.finished(r);
  EXPECT_EQ(stopped->finish->reason, FinishReason::Stop);
  EXPECT_EQ(stopped->finish->stop_id, whole->tokens[12].id);
  const auto ids = whole->ids();
  const auto end = std::ranges::find(ids, whole->tokens[12].id);
  EXPECT_EQ(stopped->ids(), std::vector(ids.begin(), end));
}

TEST(ReplyEngine, ASinkThatHasEnoughEndsItsReply) {
  EngineRig rig({.context = 64});
  const auto heard = rig.submit(request(some_ids(9, 6), 30), 4);
  rig.engine.run();
  EXPECT_EQ(heard->tokens.size(), 4u);
  EXPECT_EQ(heard->finish->reason, FinishReason::Stop);
  EXPECT_EQ(heard->finish->stop_id, -1);
}

TEST(ReplyEngine, AFullContextEndsAReplyOrDropsTheOldestHalf) {
  EngineRig rig({.context = 32});
  const auto full = rig.finished(request(some_ids(20, 7), 100));
  EXPECT_EQ(full->tokens.size(), 13u);  // the last one does not lie in a page
  EXPECT_EQ(full->finish->reason, FinishReason::Length);
  Request r = request(some_ids(20, 7), 100);
  r.sampling.temperature = 0;
  r.slide = true;
  const auto slid = rig.finished(r);
  ASSERT_EQ(slid->tokens.size(), 100u);
  // After the first slide it is what the newest half continues with.
  std::vector<int32_t> tokens = some_ids(20, 7);
  for (size_t i = 0; i < 13; ++i) tokens.push_back(slid->tokens[i].id);
  Request half = request({tokens.end() - 16, tokens.end()}, 17);
  half.sampling.temperature = 0;
  const auto ids = slid->ids();
  EXPECT_EQ(EngineRig({.context = 32}).finished(half)->ids(),
            std::vector(ids.begin() + 13, ids.begin() + 30));
}

TEST(ReplyEngine, ACancelledRequestFreesItsPagesWithinAStep) {
  EngineRig rig({.context = 64, .pages = 4, .max_sequences = 2});
  const auto running = rig.submit(request(some_ids(40, 1), 20));
  const RequestId first = rig.last;
  const auto queued = rig.submit(request(some_ids(40, 2), 20));
  const RequestId second = rig.last;
  rig.engine.step();
  rig.engine.step();
  EXPECT_GT(rig.engine.stats().pages_in_use, 0);
  EXPECT_EQ(rig.engine.stats().queued, 1);
  rig.engine.cancel(first);
  rig.engine.cancel(second);
  rig.engine.cancel(12345);
  EXPECT_FALSE(rig.engine.step());
  EXPECT_EQ(running->finish->reason, FinishReason::Cancelled);
  EXPECT_GT(running->finish->new_tokens, 0);
  EXPECT_EQ(queued->order, "f");
  EXPECT_EQ(rig.engine.stats().pages_in_use, 0);
  EXPECT_EQ(rig.engine.stats().cancelled, 2);
}

TEST(ReplyEngine, RefusesWhatCanNeverRunNamingTheField) {
  EngineRig rig({.context = 32});
  const auto refuses = [&](const std::string& field, const auto& change) {
    Request r = request(some_ids(5, 1), 4);
    change(r);
    try {
      rig.submit(r);
      ADD_FAILURE() << field << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Usage);
      EXPECT_TRUE(std::string(error.what()).starts_with(field + ":")) << error.what();
    }
  };
  refuses("prompt", [](Request& r) { r.prompt.clear(); });
  refuses("prompt", [](Request& r) { r.prompt = some_ids(33, 1); });
  refuses("prompt", [](Request& r) { r.prompt[2] = 64; });
  refuses("prompt", [](Request& r) { r.prompt[2] = -1; });
  refuses("next_ids", [](Request& r) { r.next_ids = {64}; });
  refuses("max_tokens", [](Request& r) { r.max_tokens = -1; });
  refuses("top_logprobs", [](Request& r) { r.top_logprobs = 65; });
  refuses("prompt_scores_from", [](Request& r) { r.prompt_scores_from = 5; });
  refuses("top_p", [](Request& r) { r.sampling.top_p = 0; });
  EXPECT_FALSE(rig.engine.step());
  EXPECT_EQ(rig.finished(request(some_ids(32, 1), 4))->tokens.size(), 1u);
}

TEST(ReplyEngine, IdsBeyondTheTokenizersAreNeverDrawn) {
  EngineRig rig({.context = 64}, engine_model(), {.drawn_vocab = 5});
  Request r = request(some_ids(4, 1), 60);
  r.sampling.temperature = 100;  // nearly all alike
  for (const int32_t id : rig.finished(r)->ids()) EXPECT_LT(id, 5);
}

TEST(ReplyEngine, LogitsThatAreNotFiniteFailTheRequestAndNameTheActivation) {
  DecodeRig decode(engine_model(), {.context = 64}, [](const TensorSpec& row) {
    std::vector<float> values = drawn_weight(row);
    // Of one id's embedding: only who reads it is damaged.
    if (row.name == "embedding.weight") values[9 * 32] = INFINITY;
    return values;
  });
  ReplyEngine engine(decode.decoder());
  const auto bad = std::make_shared<Heard>(), good = std::make_shared<Heard>();
  engine.submit(request({1, 9, 2}, 3), bad);
  engine.run();
  EXPECT_EQ(bad->order, "f");
  EXPECT_EQ(bad->finish->reason, FinishReason::Failed);
  EXPECT_TRUE(bad->finish->error.starts_with("embedding: not finite")) << bad->finish->error;
  Request r = request({1, 3, 2}, 3);
  r.sampling.logit_bias = {{9, -INFINITY}};
  engine.submit(r, good);
  engine.run();
  EXPECT_EQ(good->order, "tttf");
  EXPECT_EQ(engine.stats().failed, 1);
}

TEST(ReplyEngine, ABiasThatForbidsAllFailsItsRequestAlone) {
  EngineRig rig({.max_sequences = 2});
  Request r = request({1, 2}, 3);
  for (int32_t id = 0; id < 64; ++id) r.sampling.logit_bias.emplace_back(id, -INFINITY);
  const auto bad = rig.submit(r), good = rig.submit(request({1, 2}, 3));
  rig.engine.run();
  EXPECT_EQ(bad->finish->reason, FinishReason::Failed);
  EXPECT_TRUE(bad->finish->error.find("logit_bias") != std::string::npos) << bad->finish->error;
  EXPECT_EQ(good->tokens.size(), 3u);
}

TEST(ReplyEngine, ManyThreadsSubmitAndCancelWhileItSteps) {
  EngineRig rig({.context = 64, .pages = 20, .max_sequences = 6});
  constexpr uint64_t kThreads = 4, kEach = 25;
  std::vector<std::vector<std::shared_ptr<Heard>>> heard(kThreads);
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < kEach; ++i) {
        heard[t].push_back(std::make_shared<Heard>());
        const RequestId id = rig.engine.submit(request(some_ids(20, i), 6, t), heard[t].back());
        if (i % 3 == 0) rig.engine.cancel(id);
        (void)rig.engine.stats();
      }
      rig.engine.wake();
    });
  int64_t done = 0;
  while (done < static_cast<int64_t>(kThreads * kEach)) {
    rig.engine.step();
    const EngineStats stats = rig.engine.stats();
    done = stats.finished + stats.cancelled;
  }
  for (std::thread& thread : threads) thread.join();
  for (uint64_t t = 0; t < kThreads; ++t)
    for (uint64_t i = 0; i < kEach; ++i) {
      ASSERT_TRUE(heard[t][i]->finish.has_value());
      if (heard[t][i]->finish->reason == FinishReason::Length) {
        EXPECT_EQ(heard[t][i]->tokens.size(), 6u);
      }
    }
  EXPECT_EQ(rig.engine.stats().pages_in_use, 0);
}

}  // namespace
}  // namespace ingot::test
