#include "shards/mix/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/error/error.h"
#include "core/text/format.h"

namespace ingot {
namespace {

// Whether a split does without the document, whose `length` is counted then.
bool passes_over(const RankedSource& source, int64_t document, int64_t length,
                 const TakenContents& taken, MixTake& take) {
  if (taken.empty()) return false;
  const std::string* split = taken.split_of(source.folder().content(document));
  if (split == nullptr) return false;
  ++take.left_out["equal_to_" + *split];
  take.left_out_tokens += length;
  return true;
}

// From rank `from` on, until there are `tokens`. Null where the source ends before.
std::optional<MixTake> take_part(const RankedSource& source, int64_t from, int64_t tokens,
                                 const TakenContents& taken) {
  MixTake take;
  take.first = take.end_of_part = from;
  take.tokens = tokens;
  for (int64_t left = tokens; left > 0;) {
    if (take.end_of_part == source.num_documents()) return std::nullopt;
    const int64_t rank = take.end_of_part++, length = source.length_at(rank);
    if (passes_over(source, source.document_at(rank), length, taken, take)) continue;
    take.tokens_of_last = std::min(length, left);
    take.tokens_cut_off = length - take.tokens_of_last;
    take.last_is_cut = length > left;
    left -= take.tokens_of_last;
  }
  take.end_of_all = take.end_of_part;
  take.tokens_of_all = tokens;
  return take;
}

// What is left for training, from rank `first` on.
struct Available {
  int64_t first = 0, tokens = 0;
  int64_t most = 0;  // that the source may give, with its epochs and its limit
  MixTake passed_over;
};

Available available_for_train(const RankedSource& source, const MixSource& settings,
                              const MixTake* before, const TakenContents& taken) {
  Available available;
  available.first = before != nullptr ? before->end_of_part : 0;
  available.tokens = source.folder().manifest().num_tokens();
  for (int64_t rank = 0; rank < available.first; ++rank) available.tokens -= source.length_at(rank);
  for (int64_t i = 0; i < source.num_documents() && !taken.empty(); ++i) {
    if (source.rank_of(i) < available.first) continue;
    passes_over(source, i, source.folder().document(i).num_tokens(), taken, available.passed_over);
  }
  available.tokens -= available.passed_over.left_out_tokens;
  available.most = available.tokens > INT64_MAX / settings.max_epochs
                       ? INT64_MAX
                       : available.tokens * settings.max_epochs;
  if (settings.max_tokens >= 0) available.most = std::min(available.most, settings.max_tokens);
  return available;
}

MixTake take_train(const RankedSource& source, const Available& available, int64_t tokens,
                   const TakenContents& taken) {
  const int64_t whole = available.tokens > 0 ? tokens / available.tokens : 0;
  auto take = take_part(source, available.first, tokens - whole * available.tokens, taken);
  check(take.has_value(), ErrorCode::Data, "{}: the shards hold less than their manifest says",
        source.folder().path());
  take->whole = whole;
  take->end_of_all = source.num_documents();
  take->tokens = tokens;
  take->tokens_of_all = available.tokens;
  take->left_out = available.passed_over.left_out;
  take->left_out_tokens = available.passed_over.left_out_tokens;
  return *take;
}

void add_contents(const RankedSource& source, const MixTake& take, const std::string& split,
                  TakenContents& taken) {
  for (int64_t rank = take.first; rank < take.end_of_part; ++rank) {
    taken.add(source.folder().content(source.document_at(rank)), split);
  }
}

std::vector<double> weights_of(const MixSettings& settings) {
  std::vector<double> weights;
  for (const MixSource& source : settings.sources) weights.push_back(source.weight);
  return weights;
}

[[noreturn]] void refuse_short(const MixSettings& settings, size_t number,
                               const Available& available, int64_t share) {
  const MixSource& source = settings.sources[number];
  const double fraction =
      static_cast<double>(available.most) / static_cast<double>(std::max<int64_t>(1, share));
  const auto epochs = (share + available.tokens - 1) / std::max<int64_t>(1, available.tokens);
  const bool by_limit = source.max_tokens >= 0 && available.most == source.max_tokens;
  const std::string has =
      by_limit ? fmt::format("max_tokens is {}", format_count(source.max_tokens))
               : fmt::format("it has {} beside validation and test, and max_epochs is {}",
                             format_count(available.tokens), source.max_epochs);
  const std::string help = by_limit ? fmt::format("raise max_tokens to {}", format_count(share))
                                    : fmt::format("set its max_epochs to {}", epochs);
  throw Error(
      ErrorCode::Config,
      fmt::format("{}: its share of train is {} tokens, but {}: {}, or lower train_tokens to "
                  "{}, or lower its weight, or set when_short = \"renormalize\"",
                  source.path, format_count(share), has, help,
                  format_count(static_cast<int64_t>(
                      std::floor(static_cast<double>(settings.train_tokens) * fraction)))));
}

// Sources that are short give all they may; the others share what is left, until all can.
std::vector<int64_t> train_shares(const MixSettings& settings,
                                  const std::vector<Available>& available) {
  std::vector<double> weights = weights_of(settings);
  std::vector<int64_t> shares = shares_of(settings.train_tokens, weights);
  int64_t left = settings.train_tokens;
  std::vector<int64_t> given(weights.size(), 0);
  while (true) {
    bool short_of = false;
    for (size_t i = 0; i < weights.size(); ++i) {
      if (weights[i] == 0 || shares[i] <= available[i].most) continue;
      if (settings.when_short == WhenShort::Error)
        refuse_short(settings, i, available[i], shares[i]);
      short_of = true;
      weights[i] = 0;
      given[i] = available[i].most;
      left -= given[i];
    }
    const bool none_left =
        std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 0; });
    check(!none_left || left == 0, ErrorCode::Config,
          "all sources together can give {} training tokens, expected {}: raise max_epochs or "
          "max_tokens, or lower train_tokens",
          format_count(settings.train_tokens - left), format_count(settings.train_tokens));
    if (!short_of) break;
    shares = none_left ? std::vector<int64_t>(weights.size(), 0) : shares_of(left, weights);
  }
  for (size_t i = 0; i < shares.size(); ++i) shares[i] += given[i];
  return shares;
}

void check_same_tokenizer(const MixPlan& plan) {
  const ShardFolder& first = plan.sources.front()->folder();
  for (const auto& source : plan.sources) {
    const ShardManifest &a = first.manifest(), &b = source->folder().manifest();
    check(a.tokenizer_hash == b.tokenizer_hash && a.vocab_size == b.vocab_size && a.bos == b.bos &&
              a.eos == b.eos && a.token_bytes == b.token_bytes,
          ErrorCode::Config,
          "{} and {} cannot be mixed: expected one tokenizer and the same BOS and EOS, got "
          "{:016x}, {}, {} and {:016x}, {}, {}",
          first.path(), source->folder().path(), a.tokenizer_hash, a.bos, a.eos, b.tokenizer_hash,
          b.bos, b.eos);
  }
}

}  // namespace

RankedSource::RankedSource(const MixSource& source, uint64_t seed)
    : folder_(source.path),
      permutation_(static_cast<uint64_t>(folder_.num_documents()), seed,
                   manifest_hash(folder_.manifest())) {}

int64_t RankedSource::rank_of(int64_t document) const {
  return static_cast<int64_t>(permutation_.inverse(static_cast<uint64_t>(document)));
}

int64_t RankedSource::document_at(int64_t rank) const {
  return static_cast<int64_t>(permutation_(static_cast<uint64_t>(rank)));
}

int64_t RankedSource::length_at(int64_t rank) const {
  const int64_t document = document_at(rank);
  const int64_t length = folder_.document(document).num_tokens();
  check(length > 0, ErrorCode::Data, "{}: document {} ends before it begins; see ingot data verify",
        folder_.path(), document);
  return length;
}

std::vector<int64_t> shares_of(int64_t total, const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<int64_t> shares;
  std::vector<double> remainders;
  for (const double weight : weights) {
    const double exact = static_cast<double>(total) * (weight / sum);
    shares.push_back(static_cast<int64_t>(std::floor(exact)));
    remainders.push_back(weight > 0 ? exact - std::floor(exact) : -1);
  }
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return remainders[a] > remainders[b]; });
  // Floating-point sums may be off by a few, either way.
  int64_t left = total - std::accumulate(shares.begin(), shares.end(), int64_t{0});
  for (size_t i = 0; left != 0; i = (i + 1) % order.size()) {
    if (weights[order[i]] <= 0) continue;
    const int64_t step = left > 0 ? 1 : -1;
    if (shares[order[i]] + step < 0) continue;
    shares[order[i]] += step;
    left -= step;
  }
  return shares;
}

int64_t cut_off_tokens(const MixPlan& plan, size_t split) {
  if (plan.names[split] == "train" || plan.names.back() != "train") return 0;
  const std::vector<MixTake>& takes = plan.takes[split];
  return std::transform_reduce(takes.begin(), takes.end(), int64_t{0}, std::plus<>(),
                               [](const MixTake& take) { return take.tokens_cut_off; });
}

double share_of_sources(const MixPlan& plan, int64_t tokens) {
  int64_t all = 0;
  for (const auto& source : plan.sources) all += source->folder().manifest().num_tokens();
  return static_cast<double>(tokens) / static_cast<double>(all);
}

void check_cuts(const MixSettings& settings, const MixPlan& plan) {
  int64_t cut_off = 0, longest = 0;
  std::string where;
  for (size_t split = 0; split < plan.names.size(); ++split) {
    cut_off += cut_off_tokens(plan, split);
    for (size_t i = 0; i < plan.sources.size() && plan.names[split] != "train"; ++i) {
      const MixTake& take = plan.takes[split][i];
      if (take.tokens_cut_off <= longest) continue;
      longest = take.tokens_cut_off;
      const RankedSource& source = *plan.sources[i];
      const auto place = source.folder().document(source.document_at(take.end_of_part - 1));
      where = fmt::format("{} tokens of «{}» in {} for {} of {}_tokens", format_count(longest),
                          place.shard->name(place.document).id, settings.sources[i].path,
                          format_count(take.tokens), plan.names[split]);
    }
  }
  const double share = share_of_sources(plan, cut_off);
  check(share <= settings.max_cut_share, ErrorCode::Config,
        "documents that are cut for test and valid would take {} tokens ({} of the sources') out "
        "of train, most of it {}: choose another seed or number of tokens, tokenize long documents "
        "in parts, "
        "or allow it by max_cut_share = {:.2g}",
        format_count(cut_off), format_percent(share, 2), where, std::ceil(share * 100) / 100);
}

MixPlan plan_mix(const MixSettings& settings, bool keeps_apart) {
  MixPlan plan;
  for (const MixSource& source : settings.sources) {
    plan.sources.push_back(
        std::make_unique<RankedSource>(source, static_cast<uint64_t>(settings.seed)));
  }
  check_same_tokenizer(plan);

  std::vector<const MixTake*> before(plan.sources.size(), nullptr);
  plan.takes.reserve(3);  // `before` points into it
  TakenContents taken;
  const auto add_small = [&](const char* name, int64_t tokens) {
    if (tokens == 0) return;
    const std::vector<int64_t> shares = shares_of(tokens, weights_of(settings));
    plan.names.emplace_back(name);
    plan.taken.push_back(taken);
    std::vector<MixTake>& takes = plan.takes.emplace_back();
    for (size_t i = 0; i < plan.sources.size(); ++i) {
      const auto take = take_part(*plan.sources[i], before[i] ? before[i]->end_of_part : 0,
                                  shares[i], plan.taken.back());
      check(take.has_value(), ErrorCode::Config,
            "{}: its share of {} is {} tokens, more than the {} that it has: lower {}_tokens or "
            "its weight",
            settings.sources[i].path, name, format_count(shares[i]),
            format_count(plan.sources[i]->folder().manifest().num_tokens()), name);
      takes.push_back(*take);
    }
    for (size_t i = 0; i < takes.size(); ++i) {
      before[i] = &takes[i];
      if (keeps_apart) add_contents(*plan.sources[i], takes[i], name, taken);
    }
  };
  add_small("test", settings.test_tokens);
  add_small("valid", settings.valid_tokens);
  if (settings.train_tokens == 0) return plan;

  std::vector<Available> available;
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    available.push_back(
        available_for_train(*plan.sources[i], settings.sources[i], before[i], taken));
  }
  const std::vector<int64_t> shares = train_shares(settings, available);
  plan.names.emplace_back("train");
  plan.taken.push_back(taken);
  std::vector<MixTake>& takes = plan.takes.emplace_back();
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    takes.push_back(take_train(*plan.sources[i], available[i], shares[i], taken));
  }
  return plan;
}

}  // namespace ingot
