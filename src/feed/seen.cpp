#include "feed/seen.h"

#include <algorithm>
#include <map>

namespace ingot {
namespace {

Mixture mixture_of(const DataIdentity& data) {
  std::vector<double> weights;
  for (const DataIdentity::Source& source : data.sources) weights.push_back(source.weight);
  return Mixture(weights);
}

// What was drawn of a source: whole epochs, and the first samples of another.
struct Drawn {
  SampleOrder order;
  int64_t epochs = 0, rest = 0;

  int64_t sample(int64_t i) const { return order.sample_at(epochs * order.num_samples + i); }
  bool rest_holds(int64_t sample) const {
    return order.index_of(sample, epochs) - epochs * order.num_samples < rest;
  }
};

// Of sources with the same samples, whose epochs together are no two.
int64_t repeated_in_rests(const std::vector<Drawn>& all, int64_t epochs) {
  // The use that is the second: of an epoch's samples the first in a rest, else the second there.
  const int64_t uses_before = epochs == 1 ? 0 : 1;
  int64_t repeated = 0;
  for (size_t i = 0; i < all.size(); ++i)
    for (int64_t k = 0; k < all[i].rest; ++k) {
      const int64_t sample = all[i].sample(k);
      const auto before = std::count_if(all.begin(), all.begin() + static_cast<ptrdiff_t>(i),
                                        [&](const Drawn& d) { return d.rest_holds(sample); });
      repeated += before == uses_before ? 1 : 0;
    }
  return repeated;
}

}  // namespace

std::vector<size_t> first_of_equal_content(const DataIdentity& data) {
  std::map<uint64_t, size_t> first;
  std::vector<size_t> firsts;
  for (size_t i = 0; i < data.sources.size(); ++i)
    firsts.push_back(first.emplace(data.sources[i].content, i).first->second);
  return firsts;
}

int64_t samples_repeated(const DataIdentity& data, int64_t num_samples) {
  const Mixture mixture = mixture_of(data);
  std::map<size_t, std::vector<Drawn>> by_content;
  const std::vector<size_t> firsts = first_of_equal_content(data);
  for (size_t i = 0; i < firsts.size(); ++i) {
    const int64_t n = data.sources[i].samples;
    const int64_t drawn = mixture.drawn(static_cast<int64_t>(i), num_samples);
    by_content[firsts[i]].push_back(
        {{n, static_cast<uint64_t>(data.seed) + static_cast<uint64_t>(i)}, drawn / n, drawn % n});
  }
  int64_t repeated = 0;
  for (const auto& [first, equal] : by_content) {
    int64_t epochs = 0;
    if (equal.size() == 1 && equal[0].epochs < 2) {
      repeated += equal[0].epochs * equal[0].rest;
      continue;
    }
    for (const Drawn& drawn : equal) epochs += drawn.epochs;
    repeated += epochs > 1 ? equal[0].order.num_samples : repeated_in_rests(equal, epochs);
  }
  return repeated;
}

std::vector<SourceSeen> sources_seen(const DataIdentity& data, int64_t num_samples) {
  const Mixture mixture = mixture_of(data);
  std::vector<SourceSeen> seen;
  for (size_t i = 0; i < data.sources.size(); ++i) {
    const int64_t n = data.sources[i].samples;
    const int64_t drawn = mixture.drawn(static_cast<int64_t>(i), num_samples);
    // The first epoch uses each sample once, the second begins to repeat them.
    seen.push_back({drawn, static_cast<double>(drawn) / static_cast<double>(n),
                    std::clamp<int64_t>(drawn - n, 0, n)});
  }
  return seen;
}

DocumentsSeen::DocumentsSeen(const SampleStream& stream, int64_t part, int64_t samples,
                             const std::function<void(double)>& progress) {
  const TokenSource& source = *stream.parts()[static_cast<size_t>(part)].source;
  const SamplePlan& plan = *stream.parts()[static_cast<size_t>(part)].plan;
  const SampleOrder order = stream.order(part);
  seen_.resize(static_cast<size_t>(source.num_documents()));
  const int64_t epochs = samples / order.num_samples, rest = samples % order.num_samples;
  const int64_t walked = epochs > 0 ? order.num_samples : rest;
  const TokenSource::Origins origins = source.origins();
  for (const std::string& name : origins.names) origins_.emplace_back(name, 0);
  std::vector<Piece> pieces;
  // In the order of the epoch that was not finished: its samples count once more than the others.
  for (int64_t i = 0; i < walked; ++i) {
    if (i % 65'536 == 0) progress(static_cast<double>(i) / static_cast<double>(walked));
    const int64_t times = epochs + (i < rest ? 1 : 0);
    plan.pieces(order.sample_at(epochs * order.num_samples + i), pieces);
    for (const Piece& piece : pieces) {
      num_tokens_ += piece.length * times;
      const int64_t end = piece.begin + piece.length;
      for (int64_t at = piece.begin; at < end;) {
        const auto document = static_cast<size_t>(source.document_at(at));
        const int64_t next = source.document_begin(static_cast<int64_t>(document) + 1);
        num_documents_ += seen_[document] ? 0 : 1;
        seen_[document] = true;
        if (!origins_.empty())
          origins_[origins.of_document[document]].second += (std::min(next, end) - at) * times;
        at = next;
      }
    }
  }
}

std::vector<Use> uses_of(const RunSteps& run, const SampleStream& stream, int64_t part,
                         int64_t begin, int64_t end) {
  int64_t last = run.num_samples();
  for (const StepRange& range : run.lost) last = std::max(last, range.end_sample());
  const int64_t drawn = stream.mixture().drawn(part, last);
  const SampleOrder order = stream.order(part);
  std::vector<Use> uses;
  for (const int64_t sample :
       stream.parts()[static_cast<size_t>(part)].plan->samples_of(begin, end))
    for (int64_t epoch = 0; epoch * order.num_samples < drawn; ++epoch) {
      const int64_t index = order.index_of(sample, epoch);
      if (index >= drawn) continue;
      const int64_t counter = stream.mixture().position(part, index);
      for (const bool lost : {true, false})
        for (const StepRange& range : lost ? run.lost : run.held)
          if (const auto step = range.step_of(counter))
            uses.push_back({*step, epoch, sample, lost});
    }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const Use& a, const Use& b) { return a.step < b.step; });
  return uses;
}

}  // namespace ingot
