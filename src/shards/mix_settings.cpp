#include <cmath>
#include <set>

#include "core/error.h"
#include "shards/mix.h"
#include "spec/toml_tree.h"

namespace ingot {
namespace {

using nlohmann::json;

constexpr int64_t kMostTokens = int64_t{1} << 50;

// Takes the members of one table; what nobody took is unknown.
class Table {
 public:
  Table(const json& table, std::string_view origin, std::string place)
      : table_(table), origin_(origin), place_(std::move(place)) {
    check(table_.is_object(), ErrorCode::Config, "{}: {}: expected a table", origin_, place_);
  }

  int64_t integer(const char* key, int64_t fallback, int64_t least, int64_t most) {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    const bool good = value->is_number_integer() && value->get<int64_t>() >= least &&
                      value->get<int64_t>() <= most;
    check(good, ErrorCode::Config, "{}: {}{}: expected an integer from {} to {}, got {}", origin_,
          place_, key, least, most, value->dump());
    return value->get<int64_t>();
  }
  double number(const char* key, double fallback) {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    const bool good =
        value->is_number() && std::isfinite(value->get<double>()) && value->get<double>() > 0;
    check(good, ErrorCode::Config, "{}: {}{}: expected a number above 0, got {}", origin_, place_,
          key, value->dump());
    return value->get<double>();
  }
  std::string text(const char* key, const std::string& fallback) {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    check(value->is_string(), ErrorCode::Config, "{}: {}{}: expected a string, got {}", origin_,
          place_, key, value->dump());
    return value->get<std::string>();
  }
  const json* find(const char* key) {
    known_.insert(key);
    const auto found = table_.find(key);
    return found == table_.end() ? nullptr : &*found;
  }
  void refuse_unknown() const {
    for (const auto& [key, value] : table_.items()) {
      check(known_.contains(key), ErrorCode::Config,
            "{}: {}{}: unknown setting; expected one of {}", origin_, place_, key,
            fmt::join(known_, ", "));
    }
  }

 private:
  const json& table_;
  std::string_view origin_;
  std::string place_;
  std::set<std::string> known_;
};

MixSource parse_source(const json& value, std::string_view origin, size_t number) {
  Table table(value, origin, fmt::format("source[{}].", number));
  MixSource source;
  source.path = table.text("path", "");
  check(!source.path.empty(), ErrorCode::Config, "{}: source[{}].path: expected a folder of shards",
        origin, number);
  source.path = path_in_file(origin, source.path);
  source.weight = table.number("weight", source.weight);
  source.max_epochs = table.integer("max_epochs", source.max_epochs, 1, 1'000'000);
  source.max_tokens = table.integer("max_tokens", source.max_tokens, 0, kMostTokens);
  table.refuse_unknown();
  return source;
}

}  // namespace

MixSettings parse_mix(std::string_view toml, std::string_view origin) {
  const json tree = parse_toml_tree(toml, origin);
  Table table(tree, origin, "");
  MixSettings settings;
  settings.seed = static_cast<uint64_t>(table.integer("seed", 0, 0, INT64_MAX));
  settings.train_tokens = table.integer("train_tokens", 0, 0, kMostTokens);
  settings.valid_tokens = table.integer("valid_tokens", 0, 0, kMostTokens);
  settings.test_tokens = table.integer("test_tokens", 0, 0, kMostTokens);
  settings.shard_tokens = table.integer("shard_tokens", settings.shard_tokens, 1, kMostTokens);
  const std::string when_short = table.text("when_short", "error");
  check(when_short == "error" || when_short == "renormalize", ErrorCode::Config,
        "{}: when_short: expected \"error\" or \"renormalize\", got \"{}\"", origin, when_short);
  settings.renormalize = when_short == "renormalize";
  const json* sources = table.find("source");
  check(sources != nullptr && sources->is_array() && !sources->empty(), ErrorCode::Config,
        "{}: expected at least one [[source]] with a path", origin);
  for (size_t i = 0; i < sources->size(); ++i) {
    settings.sources.push_back(parse_source((*sources)[i], origin, i));
  }
  table.refuse_unknown();
  check(settings.train_tokens + settings.valid_tokens + settings.test_tokens > 0, ErrorCode::Config,
        "{}: expected train_tokens, valid_tokens or test_tokens", origin);
  return settings;
}

}  // namespace ingot
