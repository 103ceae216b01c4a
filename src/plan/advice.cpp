#include "plan/advice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "core/error/error.h"
#include "core/text/format.h"
#include "plan/fit.h"
#include "plan/resolve.h"
#include "spec/run/run_length.h"

namespace ingot {
namespace {

constexpr int64_t kLeastSeq = 64, kLeastLossChunk = 128;
constexpr int64_t kMoreRanks = 8, kMostRanks = 1024;  // times those there are
constexpr size_t kSetsNamed = 3;

std::string name_in(const std::string& setting) {
  return setting.substr(0, setting.find('='));
}

using Changes = std::vector<std::string>;  // "KEY=VALUE"

// One thing that can be changed: the values to try, from the mildest to the strongest.
struct Lever {
  std::vector<Changes> values;
  bool each = false;  // every value is an answer of its own
};

class Advisor {
 public:
  Advisor(const ResolvedRun& run, int64_t available, bool resumed)
      : run_(run), config_(*run.recorded), resumed_(resumed) {
    advice_.needed_bytes = fit_memory(run, 0).needed_bytes;
    advice_.available_bytes = available;
    advice_.resumed = resumed;
  }

  // More GPUs come last: those that are there are what the user has.
  MemoryAdvice advise() {
    std::vector<Lever> all = levers();
    const Lever gpus = more_gpus(kMoreRanks);
    for (const Lever& lever : all) add_single(lever);
    if (!gpus.values.empty()) add_single(gpus);
    if (has_fit()) return std::move(advice_);
    combine(all);
    if (!advice_.together.empty() || gpus.values.empty()) return std::move(advice_);
    all.push_back(gpus);
    combine(all);
    if (!advice_.together.empty()) return std::move(advice_);
    advice_.single.pop_back();
    add_single(more_gpus(kMostRanks));
    return std::move(advice_);
  }

 private:
  bool has_fit() const { return std::ranges::any_of(advice_.single, &MemoryChange::fits); }

  // Milder things first: what changes neither the result nor the speed much, then the speed, then
  // what the run is.
  std::vector<Lever> levers() const {
    std::vector<Lever> all;
    const auto add = [&](Lever lever) {
      std::erase_if(lever.values, [&](const Changes& changes) { return !is_allowed(changes); });
      if (!lever.values.empty()) all.push_back(std::move(lever));
    };
    const SystemConfig& system = config_.system;
    const bool on_gpu = run_.place.facts.kind == DeviceKind::Cuda;
    if (config_.train.keep_layers > 0) add({{{"train.keep_layers=0"}}});
    add(recompute());
    add(halved("train.loss_chunk", run_.config.train.loss_chunk, kLeastLossChunk));
    if (Lever batch = micro_batch(); !batch.values.empty()) all.push_back(std::move(batch));
    if (system.shard_ranks > 0) add({{{"system.shard_ranks=0"}}});
    if (!system.reshard) add({{{"system.reshard=true"}}});
    if (system.gradient_sync == GradientSync::Step) add({{{"system.gradient_sync=micro_step"}}});
    if (system.ranks > 1) add(sharing());
    if (on_gpu) add(offloaded_layers());
    if (on_gpu && !system.offload_optimizer) add({{{"system.offload_optimizer=true"}}});
    if (config_.optim.moments == DType::F32) add({{{"optim.moments=bf16"}}});
    add(precision());
    add(halved("batch.seq", config_.batch.seq, kLeastSeq));
    return all;
  }

  // Layers are kept where there is memory to spare.
  Changes without_kept_layers(const std::string& change) const {
    if (config_.train.keep_layers == 0) return {change};
    return {"train.keep_layers=0", change};
  }

  Lever recompute() const {
    Lever lever{.values = {}, .each = true};
    const ActivationPolicy now = config_.train.recompute;
    if (now == ActivationPolicy::None)
      lever.values.push_back(without_kept_layers("train.recompute=selective"));
    if (now != ActivationPolicy::Full)
      lever.values.push_back(without_kept_layers("train.recompute=full"));
    return lever;
  }

  static Lever halved(const char* name, int64_t value, int64_t least) {
    Lever lever;
    while ((value /= 2) >= least) lever.values.push_back({fmt::format("{}={}", name, value)});
    return lever;
  }

  // Those of which the step's tokens can be made; there may be 65,535 of them. A resumed run's
  // batch stays as large.
  Lever micro_batch() const {
    Lever lever;
    const BatchConfig& batch = config_.batch;
    const int64_t full = full_batch_tokens(config_);
    const bool keeps_batch = batch.tokens > 0 || resumed_;
    for (int64_t B = batch.micro_batch; --B > 0;) {
      const int64_t tokens = B * batch.seq, all = tokens * config_.system.ranks;
      if (keeps_batch && (full % all != 0 || batch.ramp_start_tokens % all != 0)) continue;
      if (uses_fp8(config_) && tokens % 16 != 0) continue;
      Changes changes = {fmt::format("batch.micro_batch={}", B)};
      if (keeps_batch && batch.tokens == 0) changes.push_back(fmt::format("batch.tokens={}", full));
      lever.values.push_back(std::move(changes));
    }
    return lever;
  }

  Lever sharing() const {
    Lever lever{.values = {}, .each = true};
    constexpr std::array kForms = {std::pair(DataParallel::Zero1, "zero1"),
                                   std::pair(DataParallel::Zero2, "zero2"),
                                   std::pair(DataParallel::FullySharded, "fully_sharded")};
    for (const auto& [form, name] : kForms)
      if (form > config_.system.data_parallel)
        lever.values.push_back({fmt::format("system.data_parallel={}", name)});
    return lever;
  }

  // Two stay on the device.
  Lever offloaded_layers() const {
    Lever lever;
    for (int64_t layers = std::max<int64_t>(config_.train.offload_layers, 2);
         ++layers <= config_.model.layers;)
      lever.values.push_back(without_kept_layers(fmt::format("train.offload_layers={}", layers)));
    return lever;
  }

  Lever precision() const {
    Lever lever{.values = {}, .each = true};
    const Precision now = config_.train.precision;
    if (now == Precision::Fp32 || now == Precision::Tf32 || now == Precision::Fp64)
      lever.values.push_back({"train.precision=bf16"});
    if (has_fp8(run_.place.facts) && now == Precision::Bf16)
      lever.values.push_back({"train.precision=fp8"});
    return lever;
  }

  // For ranks with a GPU each.
  Lever more_gpus(int64_t times) const {
    Lever lever;
    if (run_.place.facts.kind != DeviceKind::Cuda || run_.place.device_ranks > 1) return lever;
    const int64_t here = config_.system.ranks;
    for (int64_t ranks = 2 * here; ranks <= times * here; ranks *= 2) {
      Changes changes = {fmt::format("system.ranks={}", ranks),
                         "system.data_parallel=fully_sharded"};
      if (is_allowed(changes)) lever.values.push_back(std::move(changes));
    }
    return lever;
  }

  bool is_allowed(const Changes& changes) const {
    const bool may_change =
        !resumed_ || std::ranges::all_of(changes, [](const std::string& change) {
          return may_change_on_resume(name_in(change));
        });
    return may_change && changed(changes);
  }

  // Nothing where the settings then contradict each other.
  std::optional<ValidConfig> changed(const Changes& changes) const {
    RunConfig config = config_;
    try {
      const std::vector<Setting> settings = settings_of(config);
      for (const std::string& change : changes)
        set_from_text(*std::ranges::find(settings, name_in(change), &Setting::name),
                      change.substr(change.find('=') + 1));
      return ValidConfig::open_ended(std::move(config));
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::optional<MemoryChange> tried(const Changes& changes) const {
    const std::optional<ValidConfig> config = changed(changes);
    if (!config) return std::nullopt;
    RunPlace place = run_.place;
    if ((*config)->system.ranks != config_.system.ranks) place.device_ranks = 1;
    const MemoryFit fit = fit_memory(resolve(*config, place), 0);
    MemoryChange change{.settings = changes, .needed_bytes = fit.needed_bytes};
    change.gives_bytes = advice_.needed_bytes - change.needed_bytes;
    if (place.facts.kind == DeviceKind::Cuda)
      change.host_bytes = fit.plan.pinned_bytes + fit.plan.host_bytes;
    change.fits = change.needed_bytes <= advice_.available_bytes;
    return change;
  }

  // The first value that fits beside `others`, or else the strongest that is possible.
  std::optional<MemoryChange> mildest(const Lever& lever, const Changes& others) const {
    const auto with = [&](size_t at) {
      Changes changes = lever.values[at];
      changes.insert(changes.end(), others.begin(), others.end());
      return tried(changes);
    };
    std::optional<MemoryChange> found;
    for (size_t low = 0, high = lever.values.size(); low < high;) {
      const size_t middle = (low + high) / 2;
      auto change = with(middle);
      const bool fits = change && change->fits;
      (fits ? high : low) = fits ? middle : middle + 1;
      if (fits) found = std::move(change);
    }
    for (size_t at = lever.values.size(); !found && at-- > 0;) found = with(at);
    return found;
  }

  void add_single(const Lever& lever) {
    const auto add = [&](const std::optional<MemoryChange>& change) {
      if (change && change->gives_bytes > 0) advice_.single.push_back(*change);
    };
    if (!lever.each) return add(mildest(lever, {}));
    for (const Changes& changes : lever.values) add(tried(changes));
  }

  using Set = std::vector<const Lever*>;

  static Changes strongest(const Set& set) {
    Changes changes;
    for (const Lever* lever : set)
      changes.insert(changes.end(), lever->values.back().begin(), lever->values.back().end());
    return changes;
  }
  static bool says_twice(const Changes& changes) {
    std::set<std::string> names;
    return !std::ranges::all_of(
        changes, [&](const std::string& change) { return names.insert(name_in(change)).second; });
  }
  bool fits(const Set& set) const {
    const Changes changes = strongest(set);
    if (says_twice(changes)) return false;
    const auto change = tried(changes);
    return change && change->fits;
  }

  // Sets of two, of three and of four; of more the one that is left when all that is not needed has
  // been taken out, the last first.
  void combine(const std::vector<Lever>& levers) {
    Set all;
    for (const Lever& lever : levers) {
      all.push_back(&lever);
      if (says_twice(strongest(all))) all.pop_back();
    }
    const auto most = tried(strongest(all));
    advice_.least_bytes = most ? most->needed_bytes : advice_.needed_bytes;
    Set every;
    for (const Lever& lever : levers) every.push_back(&lever);
    for (size_t size = 2; size <= 4 && advice_.together.empty(); ++size) add_sets(every, size);
    if (!advice_.together.empty() || !fits(all)) return;
    for (size_t at = all.size(); at-- > 0;) {
      Set fewer = all;
      fewer.erase(fewer.begin() + static_cast<int64_t>(at));
      if (fits(fewer)) all = std::move(fewer);
    }
    add_together(all);
  }

  void add_sets(const Set& levers, size_t size) {
    if (levers.size() < size) return;
    std::vector<int> chosen(levers.size());
    std::fill_n(chosen.begin(), size, 1);
    do {
      Set set;
      for (size_t at = 0; at < levers.size(); ++at)
        if (chosen[at] == 1) set.push_back(levers[at]);
      if (fits(set)) add_together(set);
    } while (advice_.together.size() < kSetsNamed && std::ranges::prev_permutation(chosen).found);
  }

  // With the mildest values that still fit, the first lever's first.
  void add_together(const Set& set) {
    std::vector<Changes> values;
    for (const Lever* lever : set) values.push_back(lever->values.back());
    for (size_t at = set.size(); at-- > 0;) {
      Changes others;
      for (size_t other = 0; other < set.size(); ++other)
        if (other != at) others.insert(others.end(), values[other].begin(), values[other].end());
      const auto milder = mildest(*set[at], others);
      if (!milder || !milder->fits) continue;
      values[at].assign(milder->settings.begin(),
                        milder->settings.end() - static_cast<int64_t>(others.size()));
    }
    Changes changes;
    for (const Changes& one : values) changes.insert(changes.end(), one.begin(), one.end());
    if (const auto change = tried(changes)) advice_.together.push_back(*change);
  }

  const ResolvedRun& run_;
  const RunConfig& config_;
  const bool resumed_;
  MemoryAdvice advice_;
};

std::string sets_text(const MemoryChange& change) {
  std::string text;
  for (const std::string& setting : change.settings)
    text += fmt::format("{}--set {}", text.empty() ? "" : " ", setting);
  return text;
}

std::string host_text(const MemoryChange& change) {
  return change.host_bytes > 0
             ? fmt::format(", {} in host memory a rank", format_bytes(change.host_bytes))
             : "";
}

std::string choices(const std::vector<MemoryChange>& changes) {
  std::vector<std::string> parts;
  for (const MemoryChange& change : changes)
    if (change.fits)
      parts.push_back(fmt::format("{} (gives {}{})", sets_text(change),
                                  format_bytes(change.gives_bytes), host_text(change)));
  return fmt::format("{}", fmt::join(parts, ", or with "));
}

}  // namespace

MemoryAdvice memory_advice(const ResolvedRun& run, int64_t available_bytes, bool resumed) {
  return Advisor(run, available_bytes, resumed).advise();
}

std::string sentence_of(const MemoryAdvice& advice) {
  if (const std::string single = choices(advice.single); !single.empty())
    return "it fits with " + single;
  if (!advice.together.empty())
    return "no single change of settings is enough; it fits with " + choices(advice.together);
  return fmt::format("no change of settings is enough (with all of them it needs {}): {}",
                     format_bytes(advice.least_bytes),
                     advice.resumed ? "resume where more memory is free"
                                    : "choose a smaller model, or a device with more memory");
}

std::string table_of(const MemoryAdvice& advice) {
  size_t width = 0;
  for (const auto* changes : {&advice.single, &advice.together})
    for (const MemoryChange& change : *changes) width = std::max(width, sets_text(change).size());
  const auto rows = [&](const std::vector<MemoryChange>& changes) {
    std::string text;
    for (const MemoryChange& change : changes)
      text += fmt::format("\n  {:<{}}  gives {:>9}, {}{}", sets_text(change), width,
                          format_bytes(change.gives_bytes), change.fits ? "fits" : "does not fit",
                          host_text(change));
    return text;
  };
  std::string text =
      fmt::format("{} more than is free; changes that were tried:{}",
                  format_bytes(advice.needed_bytes - advice.available_bytes), rows(advice.single));
  if (std::ranges::any_of(advice.single, &MemoryChange::fits)) return text;
  if (advice.together.empty()) return text + "\n" + sentence_of(advice);
  return text + "\nno single change is enough; together with each other these are:" +
         rows(advice.together);
}

nlohmann::json to_json(const MemoryAdvice& advice) {
  nlohmann::json rows = nlohmann::json::array();
  for (const auto* changes : {&advice.single, &advice.together})
    for (const MemoryChange& change : *changes)
      rows.push_back({{"settings", change.settings},
                      {"needed_bytes", change.needed_bytes},
                      {"gives_bytes", change.gives_bytes},
                      {"host_bytes", change.host_bytes},
                      {"fits", change.fits}});
  return rows;
}

}  // namespace ingot
