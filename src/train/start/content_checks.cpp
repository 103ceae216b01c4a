#include "train/start/content_checks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"
#include "feed/same_content.h"
#include "feed/same_passages.h"
#include "shards/manifest.h"

namespace ingot {
namespace {

void refuse(Doubts doubts, const char* event, const std::string& what, const std::string& advice) {
  check(doubts == Doubts::Warn, ErrorCode::Config, "{}; {}", what, advice);
  log::warn(event, {{"what", what}});
}

std::vector<Overlap> equal_sources(const std::vector<NamedSource>& sources) {
  std::vector<Overlap> equal;
  for (size_t of = 0; of < sources.size(); ++of)
    for (size_t in = 0; in < sources.size(); ++in)
      if (of != in && sources[of].source->content_hash() == sources[in].source->content_hash())
        equal.push_back({of, in, sources[of].source->num_documents(), true});
  return equal;
}

// Of the passages looked for, one in so many is worth a word; fewer are phrases that texts share.
constexpr int64_t kSaidFrom = 8;
// One in so many: what is held out is for the most part in what is trained on.
constexpr int64_t kRefusedFrom = 2;

std::string passages_text(int64_t found, int64_t looked_for) {
  return fmt::format("{} of {} passages of {} tokens that were looked for", format_count(found),
                     format_count(looked_for), kPassageTokens);
}

std::string documents_text(int64_t count) {
  return fmt::format("{} document{}", format_count(count), count == 1 ? "" : "s");
}

// One source of a mixture and those that hold all its documents.
class Repeated {
 public:
  Repeated(const RunData& data, const DataConfig& config, size_t of, std::vector<size_t> in,
           int64_t documents)
      : data_(data), config_(config), of_(of), in_(std::move(in)), documents_(documents) {}

  void check(const std::vector<SourceEpochs>& epochs, Doubts doubts) const {
    double passes = epochs[of_].epochs, limit = limit_of(of_);
    for (const size_t in : in_) {
      passes += epochs[in].epochs;
      limit = std::min(limit, limit_of(in));
    }
    if (limit == 0)
      refuse(doubts, "same_content", what(),
             fmt::format("remove one of them from {} and give the other both weights; to pass over "
                         "it more often on purpose, say how often: the passes of all count against "
                         "max_epochs, here {:.5g}, which --set data.max_epochs={} allows",
                         config_.train, passes, std::ceil(passes)));
    else if (passes > limit)
      refuse(doubts, "same_content",
             fmt::format("{}; the run would pass over it {:.5g} times in all, max_epochs allows {}",
                         what(), passes, limit),
             "train shorter, remove one of them, or raise max_epochs");
    else
      log::warn("same_content", {{"what", what()}, {"passes", fmt::format("{:.5g}", passes)}});
  }

 private:
  double limit_of(size_t source) const {
    const double own = data_.mixture[source].max_epochs;
    return own > 0 ? own : config_.max_epochs;
  }
  const std::string& name(size_t source) const { return data_.whole[source].name; }
  std::string what() const {
    std::vector<std::string> others;
    for (const size_t in : in_) others.push_back(name(in));
    return fmt::format("the mixture names the same content twice: all of {} ({}) is in {}",
                       name(of_), documents_text(documents_), fmt::join(others, " and "));
  }

  const RunData& data_;
  const DataConfig& config_;
  size_t of_;
  std::vector<size_t> in_;
  int64_t documents_;
};

// Sources whose documents are not known by hashes, compared by their passages.
class SharedPassages {
 public:
  SharedPassages(const std::vector<NamedSource>& sources, const Tokenizer& tokenizer)
      : sources_(sources) {
    is_needed_ = !std::all_of(sources.begin(), sources.end(), [](const NamedSource& named) {
      return records_documents(*named.source);
    });
    if (is_needed_) counts_ = same_passages(sources, sources, tokenizer);
  }

  // Adds the sources all of whose passages are in another, and says of the rest how many are.
  void add_to(std::vector<Overlap>& overlaps) const {
    for (size_t of = 0; is_needed_ && of < sources_.size(); ++of)
      for (size_t in = 0; in < sources_.size(); ++in) {
        const bool is_known = std::any_of(overlaps.begin(), overlaps.end(), [&](const Overlap& o) {
          return o.of == of && o.in == in;
        });
        const int64_t found = counts_.found[of][in], looked_for = counts_.looked_for[of];
        if (is_known || of == in || found * kSaidFrom < looked_for || found == 0) continue;
        if (found == looked_for)
          overlaps.push_back({of, in, sources_[of].source->num_documents(), true});
        else
          log::warn("shared_passages", {{"of", sources_[of].name},
                                        {"in", sources_[in].name},
                                        {"passages", passages_text(found, looked_for)}});
      }
    if (is_needed_ && !counts_.not_read.empty())
      log::warn("passages_not_all_compared",
                {{"sources", fmt::format("{}", fmt::join(counts_.not_read, ", "))},
                 {"why", "too large to read at a start"}});
  }

 private:
  const std::vector<NamedSource>& sources_;
  PassageCounts counts_;
  bool is_needed_ = false;
};

void say_what_is_shared(const RunData& data, const std::vector<Overlap>& overlaps) {
  constexpr size_t kMostLines = 10;
  size_t lines = 0;
  for (const Overlap& overlap : overlaps) {
    if (overlap.all || overlap.of > overlap.in) continue;
    if (lines++ == kMostLines) return log::warn("shared_documents", {{"more", "not listed"}});
    log::warn("shared_documents",
              {{"of", data.whole[overlap.of].name},
               {"in", data.whole[overlap.in].name},
               {"documents",
                fmt::format("{} of {}", format_count(overlap.documents),
                            documents_text(data.whole[overlap.of].source->num_documents()))}});
  }
}

std::vector<NamedSource> trained_sources(const RunData& data) {
  std::vector<NamedSource> sources;
  for (size_t i = 0; i < data.mixture.size(); ++i)
    sources.push_back({data.mixture[i].path, data.train->parts()[i].source});
  return sources;
}

constexpr const char* kHowToHoldOut =
    "take other documents to validate on (ingot data mix makes splits without common documents), "
    "or "
    "leave data.valid empty to hold out the tail of data.train; to accept it, add --set "
    "data.valid_in_train=true";

// True where it was.
bool check_equal_sources(const RunData& data, Doubts doubts) {
  for (const NamedSource& held_out : data.held_out)
    for (const NamedSource& trained : data.whole) {
      if (held_out.source->content_hash() != trained.source->content_hash()) continue;
      refuse(doubts, "valid_in_train",
             fmt::format("data.valid {} has the content of {} in data.train: the validation loss "
                         "would be of what is trained on",
                         held_out.name, trained.name),
             kHowToHoldOut);
      return true;
    }
  return false;
}

void check_documents(const RunData& data) {
  const SharedDocuments shared = documents_in_both(data.held_out, data.whole);
  check(shared.documents == 0, ErrorCode::Config,
        "data.valid: {} of its {} are in data.train too, the first as {} of {} and {} of {}; {}",
        format_count(shared.documents), documents_text(shared.of), shared.held_out.document,
        shared.held_out.source, shared.trained.document, shared.trained.source, kHowToHoldOut);
  if (!shared.not_compared.empty())
    log::warn("valid_not_all_compared",
              {{"sources", fmt::format("{}", fmt::join(shared.not_compared, ", "))},
               {"why", "they have no hashes of documents and are too large to read at a start"}});
}

// What is held out stands in what is trained on without being a document of it: as a part of one,
// or where documents are not known.
void check_passages(const RunData& data, const std::vector<NamedSource>& trained, bool refuses) {
  const auto is_known = [](const NamedSource& named) { return records_documents(*named.source); };
  if (std::all_of(trained.begin(), trained.end(), is_known) &&
      std::all_of(data.held_out.begin(), data.held_out.end(), is_known))
    return;
  const PassageCounts counts = same_passages(data.held_out, trained, *data.tokenizer);
  for (size_t of = 0; of < data.held_out.size(); ++of)
    for (size_t in = 0; in < trained.size(); ++in) {
      const int64_t found = counts.found[of][in], looked_for = counts.looked_for[of];
      if (found == 0 || found * kSaidFrom < looked_for) continue;
      check(!refuses || found * kRefusedFrom < looked_for, ErrorCode::Config,
            "data.valid {}: {} stand word for word in {} of data.train; {}", data.held_out[of].name,
            passages_text(found, looked_for), trained[in].name, kHowToHoldOut);
      log::warn("valid_in_train", {{"held_out", data.held_out[of].name},
                                   {"in", trained[in].name},
                                   {"passages", passages_text(found, looked_for)}});
    }
  if (!counts.not_read.empty())
    log::warn("valid_not_all_compared",
              {{"sources", fmt::format("{}", fmt::join(counts.not_read, ", "))},
               {"why", "too large to look for passages in them at a start"}});
}

// Head and tail of one corpus: what stands in both was in it twice.
void count_in_tails(const RunData& data) {
  int64_t documents = 0;
  for (const NamedSource& source : data.whole) {
    if (!records_documents(*source.source))
      return check_passages(data, trained_sources(data), /*refuses=*/false);
    documents += source.source->num_documents();
  }
  if (documents > static_cast<int64_t>(kMostHashesKept)) return;
  const SharedDocuments shared = documents_in_both(data.held_out, trained_sources(data));
  if (shared.documents == 0) return;
  log::warn("valid_in_train",
            {{"documents", fmt::format("{} of {} held out", format_count(shared.documents),
                                       documents_text(shared.of))},
             {"first", fmt::format("{} of {}", shared.held_out.document, shared.held_out.source)},
             {"advice", "data.train has them twice: ingot data dedup removes copies"}});
}

}  // namespace

void check_mixture(const RunData& data, const DataConfig& config, int64_t num_samples,
                   Doubts doubts) {
  if (data.whole.size() < 2) return;
  std::vector<Overlap> overlaps =
      doubts == Doubts::Warn ? equal_sources(data.whole) : overlaps_among(data.whole);
  SharedPassages(data.whole, *data.tokenizer).add_to(overlaps);
  std::map<size_t, std::pair<std::vector<size_t>, int64_t>> repeated;
  for (const Overlap& overlap : overlaps) {
    if (!overlap.all) continue;
    repeated[overlap.of].first.push_back(overlap.in);
    repeated[overlap.of].second = overlap.documents;
  }
  const std::vector<SourceEpochs> epochs = epochs_of(data, num_samples);
  for (const auto& [of, found] : repeated)
    Repeated(data, config, of, found.first, found.second).check(epochs, doubts);
  say_what_is_shared(data, overlaps);
}

void check_held_out(const RunData& data, const DataConfig& config, Doubts doubts) {
  if (config.valid_in_train || data.held_out.empty()) return;
  if (config.valid.empty()) {
    if (doubts == Doubts::Refuse) count_in_tails(data);
    return;
  }
  if (check_equal_sources(data, doubts)) return;
  const bool refuses = doubts == Doubts::Refuse;
  if (refuses) check_documents(data);
  check_passages(data, data.whole, refuses);
}

void warn_of_different_marks(Storage& storage, const RunData& data) {
  std::vector<NamedSource> all = data.whole;
  all.insert(all.end(), data.held_out.begin(), data.held_out.end());
  std::string first, marks_of_first;
  for (const NamedSource& named : all) {
    if (!storage.exists(join_path(named.name, kShardManifestName))) continue;
    const ShardManifest manifest = read_manifest(storage, named.name);
    const auto mark = [](int32_t id) { return id < 0 ? "none" : std::to_string(id); };
    const std::string marks = fmt::format("BOS {}, EOS {}", mark(manifest.bos), mark(manifest.eos));
    if (first.empty()) {
      first = named.name;
      marks_of_first = marks;
    }
    if (marks == marks_of_first) continue;
    return log::warn("marks_differ", {{"shards", first},
                                      {"marks", marks_of_first},
                                      {"other", named.name},
                                      {"other_marks", marks},
                                      {"advice", "tokenize both alike, unless this is meant"}});
  }
}

void check_documents_are_known(const RunData& data, const RunConfig& config, Doubts doubts) {
  const bool packs = config.data.packing == Packing::BestFit;
  if (!packs && !config.train.document_mask) return;
  for (const NamedSource& named : data.whole) {
    const TokenSource& source = *named.source;
    if (source.num_documents() > 1 || source.content(0).has_value()) continue;
    refuse(doubts, "documents_not_known",
           fmt::format("{} keeps documents apart, but {} does not say where they are: all of it "
                       "would be one",
                       packs ? "data.packing = best_fit" : "train.document_mask", named.name),
           fmt::format("make shards that know them (ingot data import {} --eos ID … --out SHARDS), "
                       "or leave the setting out",
                       named.name));
  }
}

}  // namespace ingot
