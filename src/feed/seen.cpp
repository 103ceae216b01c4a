#include "feed/seen.h"

#include <algorithm>

namespace ingot {
namespace {

Mixture mixture_of(const DataIdentity& data) {
  std::vector<double> weights;
  for (const DataIdentity::Source& source : data.sources) weights.push_back(source.weight);
  return Mixture(weights);
}

}  // namespace

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
