#include "spec/settings/toml.h"

#include <algorithm>
#include <array>

#include "core/error/error.h"
#include "core/text/nearest.h"
#include "spec/run/run_config.h"
#include "spec/run/run_id.h"
#include "spec/settings/said_settings.h"
#include "spec/settings/toml_tree.h"

namespace ingot {
namespace {

std::string_view name_of(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a section";
    case toml::node_type::array:
      return "a list";
    default:
      return "a date or time";
  }
}

SettingValue value_of(const Setting& setting, const toml::node& node) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  throw Error(ErrorCode::Config,
              fmt::format("{}: expected one value, got {}", setting.name, name_of(node.type())));
}

class Reader {
 public:
  Reader(const std::vector<Setting>& settings, const std::vector<SettingList>& lists,
         std::string_view origin, std::string_view page)
      : settings_(settings), lists_(lists), origin_(origin), page_(page) {
    for (const Setting& setting : settings_) names_.push_back(setting.name);
  }

  void apply_preset(const toml::table& recipe, const Overrides& overrides) const {
    if (try_find(kPreset) == nullptr) return;
    const auto wanted = std::find_if(overrides.rbegin(), overrides.rend(),
                                     [](const auto& entry) { return entry.first == kPreset; });
    if (wanted != overrides.rend())
      apply_override(*wanted);
    else if (const toml::node* node = recipe.get(kPreset))
      apply_node(find(kPreset), *node);
  }

  void apply_table(const toml::table& table, const std::string& section) const {
    for (const auto& [key, node] : table) {
      const std::string name =
          section.empty() ? std::string(key.str()) : fmt::format("{}.{}", section, key.str());
      const Setting* setting = try_find(name);
      if (setting != nullptr && name == kPreset) continue;
      const auto list = std::ranges::find(lists_, name, &SettingList::name);
      if (setting != nullptr)
        apply_node(*setting, node);
      else if (list != lists_.end())
        apply_list(*list, node);
      else if (node.is_table() && is_section(name))
        apply_table(*node.as_table(), name);
      else
        throw Error(ErrorCode::Config,
                    fmt::format("{}: {}", at_line(origin_, key.source()), unknown(name)));
    }
  }

  void apply_overrides(const Overrides& overrides) const {
    for (const auto& entry : overrides)
      if (entry.first != kPreset || try_find(kPreset) == nullptr) apply_override(entry);
  }

 private:
  static constexpr std::string_view kPreset = "preset";

  void apply_node(const Setting& setting, const toml::node& node) const {
    try {
      setting.set(value_of(setting, node));
    } catch (const Error& error) {
      throw Error(error.code(),
                  fmt::format("{}: {}", at_line(origin_, node.source()), error.what()));
    }
  }

  void apply_list(const SettingList& list, const toml::node& node) const {
    const auto expect_table = [&](bool is_one, const toml::node& got) {
      check(is_one, ErrorCode::Config, "{}: {}: expected sections [[{}]]",
            at_line(origin_, got.source()), list.name, list.name);
    };
    expect_table(node.is_array(), node);
    for (const toml::node& item : *node.as_array()) {
      expect_table(item.is_table(), item);
      const std::vector<Setting> settings = list.add();
      static const std::vector<SettingList> no_lists;  // lists do not nest
      Reader(settings, no_lists, origin_, page_).apply_table(*item.as_table(), list.name);
      try {
        list.finish();
      } catch (const Error& error) {
        throw Error(error.code(),
                    fmt::format("{}: {}", at_line(origin_, item.source()), error.what()));
      }
    }
  }

  void apply_override(const Overrides::value_type& entry) const {
    const Setting* setting = try_find(entry.first);
    check(setting != nullptr, ErrorCode::Config, "--set: {}", unknown(entry.first));
    try {
      set_from_text(*setting, entry.second);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("--set {}", error.what()));
    }
  }

  const Setting* try_find(std::string_view name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? nullptr
                                 : &settings_[static_cast<size_t>(found - names_.begin())];
  }

  const Setting& find(std::string_view name) const {
    const Setting* setting = try_find(name);
    check(setting != nullptr, ErrorCode::Internal, "no setting is declared as {}", name);
    return *setting;
  }

  bool is_section(const std::string& name) const {
    return std::any_of(names_.begin(), names_.end(), [&](const std::string& full) {
      return full.size() > name.size() && full.starts_with(name) && full[name.size()] == '.';
    });
  }

  std::string unknown(const std::string& name) const {
    std::vector<std::string> known = names_;
    for (const SettingList& list : lists_) known.push_back(list.name);
    const std::string near = nearest_name(name, known);
    return fmt::format("unknown setting \"{}\"; {}{} lists them all", on_one_line(name),
                       near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near), page_);
  }

  const std::vector<Setting>& settings_;
  const std::vector<SettingList>& lists_;
  std::vector<std::string> names_;
  std::string_view origin_, page_;
};

nlohmann::json tree_of(const toml::node& node, std::string_view origin) {
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* integer = node.as_integer()) return integer->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* list = node.as_array()) {
    auto tree = nlohmann::json::array();
    for (const toml::node& item : *list) tree.push_back(tree_of(item, origin));
    return tree;
  }
  const auto* table = node.as_table();
  check(table != nullptr, ErrorCode::Config, "{}: expected no date or time",
        at_line(origin, node.source()));
  auto tree = nlohmann::json::object();
  for (const auto& [key, value] : *table) tree[std::string(key.str())] = tree_of(value, origin);
  return tree;
}

}  // namespace

nlohmann::json parse_toml_tree(std::string_view text, std::string_view origin) {
  return tree_of(parse_toml(text, origin, "settings"), origin);
}

void apply_toml(std::string_view text, std::string_view origin, const Overrides& overrides,
                const std::vector<Setting>& settings, std::string_view page,
                const std::vector<SettingList>& lists) {
  const toml::table recipe = parse_toml(text, origin, "settings");
  const Reader reader(settings, lists, origin, page);
  reader.apply_preset(recipe, overrides);
  reader.apply_table(recipe, "");
  reader.apply_overrides(overrides);
}

namespace {

// Of each pair that says one thing in two ways, what an override says is the one to follow.
void let_overrides_win(RunConfig& config, const SaidSettings& said) {
  constexpr std::array<std::array<std::string_view, 2>, 3> kPairs = {
      {{"train.steps", "train.total_tokens"},
       {"optim.schedule.warmup", "optim.schedule.warmup_fraction"},
       {"optim.schedule.decay", "optim.schedule.decay_fraction"}}};
  const std::vector<Setting> all = settings_of(config);
  for (const auto& [a, b] : kPairs) {
    if (said.is_overridden(a) == said.is_overridden(b)) continue;
    const auto [given, other] = said.is_overridden(a) ? std::pair(a, b) : std::pair(b, a);
    const Setting& loser = *std::ranges::find(all, other, &Setting::name);
    const Setting& winner = *std::ranges::find(all, given, &Setting::name);
    if (winner.get() != winner.default_value) loser.set(loser.default_value);
  }
}

// Who says after how many steps to save has said when: the default minutes are for who says
// nothing.
void let_steps_replace_minutes(RunConfig& config, const SaidSettings& said) {
  if (said.is_overridden("checkpoint.minutes") || !said.has("checkpoint.every")) return;
  const bool never = said.is_overridden("checkpoint.every") && config.checkpoint.every == 0;
  if (never || !said.has("checkpoint.minutes")) config.checkpoint.minutes = 0.0;
}

// Before GPT-2 had its name, gpt2_124m was what llama_124m is. A dump of those days is told by its
// settings: it lists all there were, and model.norm is younger. The last override wins.
Overrides with_renamed_preset(std::string_view text, std::string_view origin,
                              const Overrides& overrides) {
  constexpr std::string_view kName = "gpt2_124m";
  Overrides all;
  if (text.find(kName) != std::string_view::npos) {
    const nlohmann::json tree = parse_toml_tree(text, origin);
    const nlohmann::json model = tree.value("model", nlohmann::json::object());
    if (tree.value("preset", nlohmann::json()) == kName && model.contains("init_std") &&
        model.contains("head_dim") && !model.contains("norm"))
      all.emplace_back("preset", "llama_124m");
  }
  all.insert(all.end(), overrides.begin(), overrides.end());
  return all;
}

}  // namespace

RunConfig parse_run_config(std::string_view text, std::string_view origin,
                           const Overrides& overrides) {
  RunConfig base;
  base.model.head_dim = base.model.kv_heads = 0;
  return parse_run_config(text, origin, overrides, base);
}

RunConfig parse_run_config(std::string_view text, std::string_view origin,
                           const Overrides& overrides, const RunConfig& base) {
  for (const auto& [name, value] : overrides)
    check(name != kRunIdName, ErrorCode::Config, "--set {}: a run draws it itself", kRunIdName);
  RunConfig config = base;
  std::string run_id;  // of the run that the settings are of
  std::vector<Setting> settings = settings_of(config);
  settings.push_back(run_id_row(run_id));
  apply_toml(text, origin, with_renamed_preset(text, origin, overrides), settings, kSettingsPage);
  resolve_head_dim(config.model);
  const bool of_base = config.preset == kNoPreset;
  resolve_kv_heads(config.model, of_base ? base.model : model_preset(config.preset),
                   of_base ? "the model" : config.preset);
  const SaidSettings said(text, origin, overrides);
  let_overrides_win(config, said);
  let_steps_replace_minutes(config, said);
  return config;
}

}  // namespace ingot
