// The bits of a sequence's logits depend on its own ids alone; cached logits equal uncached ones.
#include "model/paged_decoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/error/error.h"
#include "model/decode_rig.h"
#include "model/families.h"
#include "model/rig.h"
#include "model/run_steps.h"

namespace ingot::test {
namespace {

constexpr int64_t kT = 41;  // more than two pages, the last one not full

std::string name_of_format(WeightFormat format) {
  return std::string(name_of(format));
}

// How the tokens of some sequences come to a decoder.
struct Way {
  int64_t sequences = 1;
  int64_t own = 0;  // the one that is compared, among them
  int64_t chunk = 1;
  int64_t first_chunk = 0;  // 0: chunk
  bool reverse_pages = false;
  int threads = 1;
};

std::vector<int32_t> tokens_of(int64_t sequence, int64_t own, int64_t vocab) {
  return random_tokens(kT, vocab, sequence == own ? 1000 : static_cast<uint64_t>(sequence));
}

// Logits (T, V) of sequence `own`, whose ids are the same in every way.
std::vector<float> logits_by(const ModelConfig& model, WeightFormat format, const Way& way) {
  const int64_t pages_of_one = (kT + kPageTokens - 1) / kPageTokens;
  const int64_t widest = std::max(way.chunk, way.first_chunk);
  DecodeRig rig(model, {.weights = format,
                        .context = kT,
                        .max_sequences = way.sequences,
                        .max_rows = way.sequences * widest,
                        .max_logit_rows = way.sequences * widest,
                        .threads = way.threads});
  std::vector<std::vector<int32_t>> ids, pages;
  for (int64_t s = 0; s < way.sequences; ++s) {
    ids.push_back(tokens_of(s, way.own, model.vocab));
    std::vector<int32_t> own(static_cast<size_t>(pages_of_one));
    // Dealt like cards, so that no sequence has neighbouring pages.
    for (int64_t p = 0; p < pages_of_one; ++p)
      own[static_cast<size_t>(p)] = static_cast<int32_t>(p * way.sequences + s);
    if (way.reverse_pages) std::ranges::reverse(own);
    pages.push_back(own);
  }
  std::vector<float> all;
  for (int64_t done = 0; done < kT;) {
    const int64_t n =
        std::min(kT - done, done == 0 && way.first_chunk > 0 ? way.first_chunk : way.chunk);
    std::vector<DecodeRows> rows;
    for (size_t s = 0; s < ids.size(); ++s)
      rows.push_back(
          {.ids = std::span(ids[s]).subspan(static_cast<size_t>(done), static_cast<size_t>(n)),
           .first_position = done,
           .pages = pages[s],
           .num_logits = n});
    const auto logits = rig.decoder().run(rows);
    const auto own = logits.subspan(static_cast<size_t>(way.own * n * model.vocab),
                                    static_cast<size_t>(n * model.vocab));
    all.insert(all.end(), own.begin(), own.end());
    done += n;
  }
  return all;
}

// Widths that no vector length divides, and rows of Q8_0 that are whole blocks.
ModelConfig odd_model() {
  ModelConfig c = model_preset("llama_test");
  c.vocab = 77;
  c.dim = 96;
  c.heads = 6;
  c.kv_heads = 2;
  c.head_dim = 20;
  c.ffn = 160;
  return c;
}

class Bits : public ::testing::TestWithParam<WeightFormat> {};
INSTANTIATE_TEST_SUITE_P(PagedDecoder, Bits, ::testing::ValuesIn(kAllWeightFormats),
                         [](const auto& one) { return name_of_format(one.param); });

TEST_P(Bits, OfASequenceAreThoseOfItAlone) {
  const ModelConfig model = odd_model();
  const std::vector<float> alone = logits_by(model, GetParam(), {});
  const std::vector<std::pair<const char*, Way>> ways = {
      {"two threads", {.threads = 2}},
      {"in a batch of 7, first", {.sequences = 7, .own = 0}},
      {"in a batch of 7, last", {.sequences = 7, .own = 6, .threads = 2}},
      {"in a batch of 64", {.sequences = 64, .own = 37, .threads = 2}},
      {"all at once", {.chunk = kT}},
      {"in chunks of 5", {.chunk = 5}},
      {"chunks of others beside it", {.sequences = 3, .own = 1, .chunk = 16, .threads = 2}},
      {"a prompt, then one by one", {.first_chunk = 30}},
      {"pages in another order", {.sequences = 2, .own = 1, .reverse_pages = true}},
  };
  for (const auto& [what, way] : ways) EXPECT_EQ(logits_by(model, GetParam(), way), alone) << what;
}

TEST_P(Bits, OfEveryFamilyAreThoseOfItAlone) {
  for (Family family : families()) {
    ModelConfig& model = family.model;
    model.context = std::max(model.context, kT);  // rows of learned positions
    const std::vector<float> alone = logits_by(model, GetParam(), {});
    const Way beside{.sequences = 7, .own = 3, .chunk = 9, .threads = 2};
    EXPECT_EQ(logits_by(model, GetParam(), beside), alone) << family.name;
    EXPECT_EQ(logits_by(model, GetParam(), {.chunk = kT}), alone) << family.name;
  }
}

TEST_P(Bits, OfASharedAndACopiedPageAreThoseOfItsOwn) {
  const ModelConfig model = odd_model();
  DecodeRig rig(model, {.weights = GetParam(), .context = 48, .pages = 6, .max_sequences = 2});
  const auto ids = random_tokens(40, model.vocab, 3);
  rig.append(std::span(ids).first(30), 0, 1);
  const std::vector<float> own = rig.append(std::span(ids).subspan(30), 30, 10);
  // The first page is shared; of the second, 14 tokens are in it by now, the copy keeps 9 of them.
  const std::vector<int32_t> pages = {0, 4, 5};
  rig.decoder().copy_page(1, 4);
  const DecodeRows rows{
      .ids = std::span(ids).subspan(25), .first_position = 25, .pages = pages, .num_logits = 10};
  const auto again = rig.decoder().run({&rows, 1});
  EXPECT_EQ(std::vector<float>(again.begin(), again.end()), own);
}

// --- against the training forward pass, which has no cache

class Cached : public ::testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(PagedDecoder, Cached, ::testing::ValuesIn(families()),
                         [](const auto& one) { return one.param.name; });

// The log-probability of each target, of logits (T, V).
std::vector<double> nats_of(std::span<const float> logits, std::span<const int32_t> targets,
                            int64_t V) {
  std::vector<double> nats;
  for (size_t t = 0; t < targets.size(); ++t) {
    const auto row = logits.subspan(t * static_cast<size_t>(V), static_cast<size_t>(V));
    double sum = 0;
    for (const float logit : row) sum += std::exp(double{logit});
    nats.push_back(std::log(sum) - row[static_cast<size_t>(targets[t])]);
  }
  return nats;
}

TEST_P(Cached, LogitsGiveTheLossesOfTheWholeSequence) {
  const ModelConfig& model = GetParam().model;
  RigOptions options;
  options.model = model;
  options.B = 1, options.T = 16;
  const auto world = single_world();
  Rig rig(options, *world);
  rig.set_weights([&](const std::string& name) {
    return drawn_weight(rig.parameters()[rig.parameters().find(name)]);
  });
  const auto ids = random_tokens(17, model.vocab, 5);
  const auto targets = std::span(ids).subspan(1);
  // Where scaling follows the length of the sequence, each token is rotated as when it was last.
  if (model.rope.scaling == RopeScaling::Dynamic)
    for (int64_t p = 0; p < 16; ++p)
      rope_table(rig.ctx(), rope_frequencies(model.rope),
                 rig.placed().find("rope.cos").slice(0, p, p + 1),
                 rig.placed().find("rope.sin").slice(0, p, p + 1), p);

  DecodeRig decode(model, {.context = 16});
  std::vector<float> logits = decode.append(std::span(ids).first(7), 0, 7);
  for (int64_t t = 7; t < 16; ++t) {
    const auto next = decode.append(std::span(ids).subspan(static_cast<size_t>(t), 1), t, 1);
    logits.insert(logits.end(), next.begin(), next.end());
  }
  const std::vector<double> nats = nats_of(logits, targets, model.vocab);
  for (size_t t = 0; t < nats.size(); ++t) {
    std::vector<int32_t> one(16, kNoTarget);
    one[t] = targets[t];
    const StepLoss loss = rig.model().evaluate({ids.data(), one.data(), nullptr});
    EXPECT_NEAR(nats[t], loss.sum, 1e-5 * std::max(1.0, loss.sum)) << "token " << t;
  }
}

TEST_P(Cached, NarrowWeightsFollowWideOnes) {
  ModelConfig model = GetParam().model;
  const auto ids = random_tokens(16, model.vocab, 8);
  const auto logits = [&](WeightFormat format) {
    return DecodeRig(model, {.weights = format, .context = 16}).append(ids, 0, 16);
  };
  const std::vector<float> wide = logits(WeightFormat::F32);
  double norm = 0;
  for (const float x : wide) norm += double{x} * x;
  for (const WeightFormat format : {WeightFormat::BF16, WeightFormat::Q8_0}) {
    const std::vector<float> narrow = logits(format);
    double error = 0;
    for (size_t i = 0; i < wide.size(); ++i) error += std::pow(double{narrow[i]} - wide[i], 2);
    EXPECT_LT(std::sqrt(error / norm), 0.1) << name_of_format(format);
    EXPECT_GT(error, 0);
  }
}

TEST(PagedDecoder, AllocatesExactlyThePredictedBytes) {
  for (const WeightFormat format : kAllWeightFormats)
    for (const Family& family : families()) {
      const DecodeRig rig(family.model, {.weights = format, .context = 16, .max_sequences = 3});
      EXPECT_EQ(rig.placed().allocated_bytes(), rig.predicted_bytes()) << family.name;
    }
}

TEST(PagedDecoder, MemoryOfQ8WeightsIsAQuarterAndABit) {
  const ModelConfig model = model_preset("llama_10m");
  const auto weights = [&](WeightFormat format) {
    const TensorTable table =
        transformer_decode_table(model, {.weights = format, .context = 1, .pages = 1});
    for (const auto& category : plan_memory(table).categories)
      if (category.kind == TensorKind::Weight) return static_cast<double>(category.bytes);
    return 0.0;
  };
  EXPECT_NEAR(weights(WeightFormat::BF16) / weights(WeightFormat::F32), 0.5, 0.02);
  EXPECT_NEAR(weights(WeightFormat::Q8_0) / weights(WeightFormat::F32), 34.0 / 128, 0.02);
}

TEST(PagedDecoder, RefusesToOutgrowItsContext) {
  DecodeRig rig(model_preset("llama_test"), {.context = 8});
  const std::vector<int32_t> ids(8, 1);
  rig.append(ids, 0, 1);
  EXPECT_THROW(rig.append(std::span(ids).first(1), 8, 1), Error);
}

TEST(PagedDecoder, NamesTheFirstActivationThatIsNotFinite) {
  DecodeRig rig(model_preset("llama_test"), {}, [](const TensorSpec& row) {
    std::vector<float> values = drawn_weight(row);
    if (row.name == "layers.1.up.weight") values[5] = NAN;
    return values;
  });
  const std::vector<int32_t> ids = {3, 4};
  rig.append(ids, 0, 2);
  EXPECT_FALSE(rig.decoder().is_finite(0));
  FirstNotFinite search(rig.ctx());
  const std::vector<int32_t> pages = {0, 1};
  const DecodeRows rows{.ids = ids, .pages = pages};
  rig.decoder().run({&rows, 1}, &search);
  EXPECT_EQ(search.found(), "layer 1, MLP up projection: not finite");
}

}  // namespace
}  // namespace ingot::test
