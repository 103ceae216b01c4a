#include "train/start/run_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error/error.h"
#include "core/error/log.h"
#include "feed/open_source.h"
#include "tokenizer/vocabulary.h"

namespace ingot {
namespace {

constexpr std::string_view kKinds =
    "a text file, a folder of .txt files, a folder of token shards, a token file (.bin) or a "
    "mixture (.toml)";

class Opener {
 public:
  Opener(Storage& storage, const RunConfig& config, RunData& data, Doubts doubts)
      : storage_(storage), config_(config), data_(data), doubts_(doubts) {}

  std::vector<MixtureSource> list(const std::string& path) const {
    if (!path.ends_with(".toml")) return {{path}};
    return parse_mixture(read_text(storage_, path), path);
  }

  const TokenSource& open(const std::string& path) {
    return keep(open_token_source(path, *data_.tokenizer, config_.data.token_dtype,
                                  config_.model.vocab,
                                  {config_.data.txt_only, doubts_ == Doubts::Refuse}));
  }

  // The source without its tail, and the tail.
  std::pair<const TokenSource*, const TokenSource*> cut(const TokenSource& whole,
                                                        const std::string& path) {
    const int64_t T = config_.batch.seq, total = whole.num_tokens();
    const auto share = std::llround(config_.data.valid_fraction * static_cast<double>(total));
    const int64_t held_out = std::max<int64_t>(T + 1, share);
    check(total >= held_out + T + 1, ErrorCode::Data,
          "{} has {} tokens, too few for one training and one validation sequence of {}: use more "
          "text or a smaller batch.seq",
          path, total, T);
    return {&keep(subrange(whole, 0, total - held_out)),
            &keep(subrange(whole, total - held_out, total))};
  }

  StreamPart part(const TokenSource& source, Packing packing, double weight) const {
    const auto seed = static_cast<uint64_t>(config_.train.seed);
    return {&source, make_plan(packing, source, config_.batch.seq, seed), weight,
            source.content_hash()};
  }

 private:
  const TokenSource& keep(std::unique_ptr<TokenSource> source) {
    data_.sources.push_back(std::move(source));
    return *data_.sources.back();
  }

  Storage& storage_;
  const RunConfig& config_;
  RunData& data_;
  Doubts doubts_;
};

// `tokenizer` has no more ids than the model.
RunData open_sources(Storage& storage, const RunConfig& config,
                     std::unique_ptr<Tokenizer> tokenizer, Doubts doubts) {
  RunData data;
  data.tokenizer = std::move(tokenizer);
  Opener opener(storage, config, data, doubts);
  const bool holds_out = config.data.valid.empty() && config.data.valid_fraction > 0;
  data.mixture = opener.list(config.data.train);
  std::vector<StreamPart> train, valid;
  std::vector<std::string> paths;
  for (const MixtureSource& source : data.mixture) {
    const TokenSource* used = &opener.open(source.path);
    data.whole.push_back({source.path, used});
    if (holds_out) {
      const auto [kept, held_out] = opener.cut(*used, source.path);
      valid.push_back(opener.part(*held_out, Packing::Concat, source.weight));
      data.held_out.push_back({source.path, held_out});
      used = kept;
    }
    train.push_back(opener.part(*used, config.data.packing, source.weight));
    paths.push_back(source.path);
  }
  if (!config.data.valid.empty())
    for (const MixtureSource& source : opener.list(config.data.valid)) {
      data.held_out.push_back({source.path, &opener.open(source.path)});
      valid.push_back(opener.part(*data.held_out.back().source, Packing::Concat, source.weight));
    }

  data.train =
      std::make_unique<SampleStream>(std::move(train), config.batch.seq, config.train.seed);
  if (!valid.empty())
    data.valid = std::make_unique<SampleStream>(std::move(valid), config.batch.seq, /*seed=*/-1);
  data.identity = identity_of(*data.train, config.data.packing, config.train.seed, paths);
  return data;
}

}  // namespace

RunData open_run_data(Storage& storage, const RunConfig& config,
                      std::unique_ptr<Tokenizer> tokenizer, Doubts doubts) {
  check(!config.data.train.empty(), ErrorCode::Config, "data.train is empty: set it to {}", kKinds);
  if (!tokenizer) tokenizer = load_tokenizer(storage, config.data.tokenizer);
  check_vocabulary(*tokenizer, config.model.vocab, ErrorCode::Config,
                   "set model.vocab to at least that");
  return open_sources(storage, config, std::move(tokenizer), doubts);
}

RunData reopen_run_data(Storage& storage, const RunConfig& config, const DataIdentity& was,
                        std::unique_ptr<Tokenizer> tokenizer) {
  RunData data = open_run_data(storage, config, std::move(tokenizer), Doubts::Warn);
  if (data.valid || data.identity.hash() == was.hash()) return data;
  RunConfig before = config;
  before.data.valid_fraction = kTiny;  // of any data less than the one sequence
  RunData held_out = open_sources(storage, before, std::move(data.tokenizer), Doubts::Warn);
  if (held_out.identity.hash() == was.hash()) {
    log::warn("validation_as_before", {{"why",
                                        "an older program began this run, which validates on one "
                                        "sequence also with data.valid_fraction = 0"}});
    return held_out;
  }
  data.tokenizer = std::move(held_out.tokenizer);
  return data;
}

std::vector<SourceEpochs> epochs_of(const RunData& data, int64_t num_samples) {
  std::vector<SourceEpochs> all;
  for (size_t i = 0; i < data.mixture.size(); ++i) {
    const auto part = static_cast<int64_t>(i);
    all.push_back(
        {data.mixture[i].path, static_cast<double>(data.train->mixture().drawn(part, num_samples)) /
                                   static_cast<double>(data.train->order(part).num_samples)});
  }
  return all;
}

std::string epochs_text(const std::vector<SourceEpochs>& epochs) {
  std::vector<std::string> parts;
  for (const auto& [path, times] : epochs)
    parts.push_back(fmt::format("{}{:.4g}{}", epochs.size() > 1 ? path + " " : "", times,
                                times > 1 ? ": data is repeated" : ""));
  return fmt::format("{}", fmt::join(parts, "; "));
}

void check_epochs(const RunData& data, const DataConfig& config, int64_t num_samples) {
  const std::vector<SourceEpochs> all = epochs_of(data, num_samples);
  for (size_t i = 0; i < all.size(); ++i) {
    const auto& [path, epochs] = all[i];
    const double own = data.mixture[i].max_epochs;
    check(own == 0 || epochs <= own, ErrorCode::Config,
          "{}: the run would pass over it {:.5g} times, its max_epochs is {}: train shorter, lower "
          "its weight, give it more data, or raise its max_epochs in {}",
          path, epochs, own, config.train);
    double limit = config.max_epochs;
    if (limit == 0 && holds_tokens(path)) limit = 1;
    check(own > 0 || limit == 0 || epochs <= limit, ErrorCode::Config,
          "{}: the run would pass over it {:.5g} times, data.max_epochs allows {}: train shorter, "
          "give it more data, or add --set data.max_epochs={}",
          path, epochs, limit, std::ceil(epochs));
  }
}

void check_same_data(const DataIdentity& identity, const std::string& saved,
                     const std::string& origin) {
  if (saved.empty()) return;
  const DataIdentity was = parse_data_identity(
      nlohmann::json::parse(saved, nullptr, /*allow_exceptions=*/false), origin);
  check(was.hash() == identity.hash(), ErrorCode::Config,
        "cannot resume from {}: it was trained on other data (hash {:016x}, now {:016x}); what "
        "differs: {}; restore it, or start another run in another checkpoint.dir",
        origin, was.hash(), identity.hash(), difference(was, identity));
}

}  // namespace ingot
