#include "feed/seen.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "feed/counting_source.h"
#include "ledger/records/run_ledger.h"
#include "support/files.h"

namespace ingot {
namespace {

using testing_support::CountingSource;
using testing_support::error_of;

constexpr int64_t T = 8;

SampleStream two_sources(const TokenSource& a, const TokenSource& b, Packing packing) {
  std::vector<StreamPart> parts;
  parts.push_back({&a, make_plan(packing, a, T, 1), 0.75});
  parts.push_back({&b, make_plan(packing, b, T, 1), 0.25});
  return {std::move(parts), T, 1};
}

// A ledger as the trainer writes it.
class RecordedRun {
 public:
  explicit RecordedRun(const DataIdentity& data) : data_(to_json(data)) {}

  void start(int64_t step) {
    ledger_.append(StartReport{.step = step, .config = "the config", .data = data_});
  }
  void steps(int64_t first, int64_t last, int64_t first_sample, int64_t samples_each) {
    for (int64_t step = first; step <= last; ++step, first_sample += samples_each)
      ledger_.append(
          StepReport{.step = step, .samples = {first_sample, first_sample + samples_each}});
  }
  void other_data() { data_["seed"] = 99; }
  RunSteps read() { return read_run_steps(*storage_, "ledger.jsonl"); }

 private:
  std::shared_ptr<Storage> storage_ = memory_storage();
  RunLedger ledger_{storage_, "ledger.jsonl", "the run"};
  nlohmann::json data_;
};

struct Fixture {
  CountingSource a{1'001, {0, 3, 40, 100, 107, 500, 900}}, b{201, {0, 10, 20, 150}};
  SampleStream stream;
  DataIdentity data;
  explicit Fixture(Packing packing = Packing::Concat)
      : stream(two_sources(a, b, packing)), data(identity_of(stream, packing, 1, {"a", "b"})) {}
};

TEST(Seen, StepsOfManyResumesAreFewRanges) {
  const Fixture f;
  RecordedRun ledger(f.data);
  int64_t step = 1, sample = 0;
  ledger.start(0);
  ledger.steps(1, 100, 0, 2);  // a ramp
  ledger.steps(101, 1'000, 200, 4);
  step = 1'001, sample = 200 + 900 * 4;
  for (int resume = 0; resume < 20; ++resume, step += 10, sample += 40) {
    ledger.start(step - 1);
    ledger.steps(step, step + 9, sample, 4);
  }
  const RunSteps run = ledger.read();
  EXPECT_EQ(run.held.size(), 2u);
  EXPECT_EQ(run.num_starts, 21);
  EXPECT_EQ(run.num_samples(), sample);
  EXPECT_TRUE(run.lost.empty());
  EXPECT_EQ(run.num_missing, 0);
  EXPECT_EQ(run.num_repeated, 0);
}

// Against a count of every draw; the sources' orders differ by their number.
TEST(Seen, SamplesOfSourcesOfEqualContentAreCountedTogether) {
  DataIdentity data = Fixture().data;
  data.sources.push_back(data.sources[0]);
  data.sources.push_back(data.sources[1]);
  EXPECT_EQ(first_of_equal_content(data), (std::vector<size_t>{0, 1, 0, 1}));
  std::vector<double> weights;
  for (const auto& source : data.sources) weights.push_back(source.weight);
  const Mixture mixture(weights);
  std::map<std::pair<size_t, int64_t>, int64_t> uses;
  const std::vector<size_t> first = first_of_equal_content(data);
  for (int64_t drawn = 0; drawn < 700; ++drawn) {
    const int64_t repeated =
        std::count_if(uses.begin(), uses.end(), [](const auto& use) { return use.second > 1; });
    if (drawn % 10 == 0) {
      ASSERT_EQ(samples_repeated(data, drawn), repeated) << drawn;
    }
    const Mixture::Draw draw = mixture.at(drawn);
    const auto source = static_cast<size_t>(draw.source);
    const SampleOrder order{data.sources[source].samples,
                            static_cast<uint64_t>(data.seed) + source};
    ++uses[{first[source], order.sample_at(draw.index)}];
  }
}

TEST(Seen, ARollbackTellsLostStepsFromThoseThatHold) {
  const Fixture f;
  RecordedRun ledger(f.data);
  ledger.start(0);
  ledger.steps(1, 30, 0, 4);
  ledger.start(20);  // back by ten steps
  ledger.steps(21, 25, 80, 4);
  ledger.start(10);  // and further
  ledger.steps(11, 40, 40, 4);
  const RunSteps run = ledger.read();
  ASSERT_EQ(run.held.size(), 1u);
  EXPECT_EQ(run.held[0].end_step(), 41);
  EXPECT_EQ(run.num_samples(), 160);
  EXPECT_EQ(run.num_lost_samples(), (10 + 15) * 4);
  EXPECT_EQ(run.num_repeated, 0);
  // Sample position 85 was trained at step 22 three times, twice in vain.
  std::vector<std::pair<int64_t, bool>> found;
  const auto place = f.stream.at(85);
  const int64_t begin = place.sample * T;
  for (const Use& use : uses_of(run, f.stream, place.part, begin, begin + 1))
    found.emplace_back(use.step, use.lost);
  EXPECT_EQ(found, (std::vector<std::pair<int64_t, bool>>{{22, true}, {22, true}, {22, false}}));
}

TEST(Seen, GapsAndRepetitionsInTheRecordsAreCounted) {
  const Fixture f;
  RecordedRun ledger(f.data);
  ledger.start(0);
  ledger.steps(1, 10, 0, 4);
  ledger.steps(11, 20, 50, 4);  // ten are missing
  ledger.steps(21, 30, 86, 4);  // four are used twice
  const RunSteps run = ledger.read();
  EXPECT_EQ(run.num_missing, 10);
  EXPECT_EQ(run.num_repeated, 4);
}

TEST(Seen, StepsBeyondAnyRunAreRefused) {
  const Fixture f;
  for (const int64_t step : {int64_t{-1}, INT64_MAX - 1}) {
    RecordedRun ledger(f.data);
    ledger.start(step);
    error_of(ErrorCode::Data, [&] { ledger.read(); });
  }
}

TEST(Seen, OtherDataWhileEarlierStepsHoldIsRefused) {
  const Fixture f;
  RecordedRun ledger(f.data);
  ledger.start(0);
  ledger.steps(1, 10, 0, 4);
  ledger.other_data();
  ledger.start(5);
  const auto message = error_of(ErrorCode::Data, [&] { ledger.read(); });
  EXPECT_NE(message.find("train.seed (was 1, is 99)"), std::string::npos) << message;
}

TEST(Seen, ANewBeginningMayHaveOtherData) {
  const Fixture f;
  RecordedRun ledger(f.data);
  ledger.start(0);
  ledger.steps(1, 10, 0, 4);
  ledger.other_data();
  ledger.start(0);
  ledger.steps(1, 2, 0, 4);
  EXPECT_EQ(ledger.read().data->seed, 99);
}

// Everything the command reports, against walking the stream sample by sample.
TEST(Seen, CountsEqualAWalkThroughTheStream) {
  for (const Packing packing : {Packing::Concat, Packing::BestFit})
    for (const int64_t num_samples : {0, 1, 50, 120, 400, 1'000}) {
      const Fixture f(packing);
      std::vector<std::map<int64_t, int64_t>> times(2);  // by sample
      std::vector<std::set<int64_t>> documents(2);
      std::vector<int64_t> tokens(2);
      std::vector<Piece> pieces;
      for (int64_t c = 0; c < num_samples; ++c) {
        const auto place = f.stream.at(c);
        ++times[place.part][place.sample];
        const StreamPart& part = f.stream.parts()[place.part];
        part.plan->pieces(place.sample, pieces);
        for (const Piece& piece : pieces) {
          tokens[place.part] += piece.length;
          for (int64_t p = piece.begin; p < piece.begin + piece.length; ++p)
            documents[place.part].insert(part.source->document_at(p));
        }
      }
      const auto seen = sources_seen(f.data, num_samples);
      for (int64_t part = 0; part < 2; ++part) {
        int64_t samples = 0, repeated = 0;
        for (const auto& [sample, count] : times[part]) {
          samples += count;
          repeated += count > 1 ? 1 : 0;
        }
        EXPECT_EQ(seen[part].samples, samples);
        EXPECT_EQ(seen[part].repeated, repeated);
        const DocumentsSeen found(f.stream, part, samples, [](double) {});
        EXPECT_EQ(found.num_documents(), static_cast<int64_t>(documents[part].size()));
        EXPECT_EQ(found.num_tokens(), tokens[part]);
        for (int64_t d = 0; d < f.stream.parts()[part].source->num_documents(); ++d)
          EXPECT_EQ(found.contains(d), documents[part].contains(d));
      }
    }
}

TEST(Seen, ADocumentsStepsAreThoseOfItsSamples) {
  for (const Packing packing : {Packing::Concat, Packing::BestFit}) {
    const Fixture f(packing);
    RecordedRun ledger(f.data);
    ledger.start(0);
    ledger.steps(1, 100, 0, 5);  // the second source several times over
    const RunSteps run = ledger.read();
    for (int64_t part = 0; part < 2; ++part) {
      const TokenSource& source = *f.stream.parts()[part].source;
      for (int64_t d = 0; d < source.num_documents(); ++d) {
        const int64_t begin = source.document_begin(d), end = source.document_begin(d + 1);
        std::multiset<int64_t> expected, found;
        std::vector<Piece> pieces;
        for (int64_t c = 0; c < 500; ++c) {
          const auto place = f.stream.at(c);
          if (place.part != part) continue;
          f.stream.parts()[part].plan->pieces(place.sample, pieces);
          for (const Piece& piece : pieces)
            if (piece.begin < end && begin < piece.begin + piece.length) expected.insert(c / 5 + 1);
        }
        for (const Use& use : uses_of(run, f.stream, part, begin, end)) found.insert(use.step);
        EXPECT_EQ(found, expected);
      }
    }
  }
}

}  // namespace
}  // namespace ingot
