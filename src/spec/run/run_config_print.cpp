#include <fmt/format.h>
#include <xxhash.h>

#include "core/text/format.h"
#include "spec/model/model_settings.h"
#include "spec/run/run_config.h"

namespace ingot {
namespace {

// "optim.schedule.kind" → {"optim.schedule", "kind"}; top-level names have an empty section.
std::pair<std::string, std::string> split_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

template <class Keep>
std::string dump(const std::vector<Setting>& settings, Keep keep) {
  std::string out, current;
  for (const Setting& setting : settings) {
    if (!keep(setting)) continue;
    const auto [section, key] = split_name(setting.name);
    if (section != current) out += fmt::format("\n[{}]\n", section);
    current = section;
    out += fmt::format("{} = {}\n", key, toml_text(setting.get()));
  }
  return out;
}

std::string type_text(const Setting& s) {
  switch (s.type) {
    case SettingType::Flag:
      return "true, false";
    case SettingType::Integer:
      return "integer";
    case SettingType::Number:
      return "number";
    case SettingType::Text:
      return "text";
    case SettingType::Choice:
      return fmt::format("{}", fmt::join(s.choices, ", "));
  }
  return "";
}

constexpr std::string_view kReferenceHead = R"(# Settings

`ingot config keys` prints this page from the tables in `src/spec/settings`, where every setting is one row.

A recipe is a TOML file with these keys; sections are TOML tables. `--set key=value` overrides any of
them by its dotted name, for example `--set optim.lr=3e-4`. Later sources win: defaults, then the
preset, then the recipe, then `--set`. Unknown keys are errors. Two settings that say one thing in two
ways, as `train.steps` and `train.total_tokens`, are set one at a time; `--set` of one overrides the
recipe's other.

Whole numbers on the command line may be written `1000000`, `1_000_000`, `1e6`, or with a decimal
suffix: `64k` = 64,000, `20M` = 20,000,000, `2B` = 2,000,000,000, `1T` = 10^12.

## Presets

`preset` sets the whole `[model]` section; single `model.*` settings then change it.

| preset | dim | layers | heads | KV heads | FFN | vocabulary | context | tied | parameters |
|---|---|---|---|---|---|---|---|---|---|
)";

}  // namespace

std::string to_toml(const RunConfig& config) {
  RunConfig copy = config;
  return dump(settings_of(copy), [](const Setting&) { return true; });
}

std::string to_toml(const ModelConfig& model) {
  ModelConfig copy = model;
  return dump(model_settings(copy), [](const Setting&) { return true; });
}

uint64_t config_hash(const RunConfig& config) {
  RunConfig copy = config;
  const std::string text =
      dump(settings_of(copy), [](const Setting& s) { return s.scope != SettingScope::Local; });
  return XXH3_64bits(text.data(), text.size());
}

std::string settings_rows(const std::vector<Setting>& settings) {
  std::string rows =
      "\n| setting | values | default | range | unit | meaning |\n|---|---|---|---|---|---|\n";
  for (const Setting& setting : settings)
    rows += fmt::format("| `{}` | {} | `{}` | {} | {} | {} |\n", setting.name, type_text(setting),
                        toml_text(setting.default_value), range_text(setting), setting.unit,
                        setting.doc);
  return rows;
}

std::string settings_reference() {
  std::string page(kReferenceHead);
  for (const std::string& name : model_preset_names()) {
    const ModelConfig m = model_preset(name);
    page += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", name, m.dim,
                        m.layers, m.heads, m.kv_heads, m.ffn, m.vocab, m.context,
                        m.tied ? "yes" : "no", format_short_count(parameter_count(m)));
  }
  RunConfig defaults;
  std::string current = "none yet";
  for (const Setting& setting : settings_of(defaults)) {
    const auto [section, key] = split_name(setting.name);
    if (section != current) {
      page += section.empty() ? "\n## Top level\n" : fmt::format("\n## [{}]\n", section);
      page +=
          "\n| setting | values | default | range | unit | on resume | meaning |\n"
          "|---|---|---|---|---|---|---|\n";
    }
    current = section;
    page +=
        fmt::format("| `{}` | {} | `{}` | {} | {} | {} | {} |\n", setting.name, type_text(setting),
                    toml_text(setting.default_value), range_text(setting), setting.unit,
                    setting.scope == SettingScope::Fixed ? "the same" : "may change", setting.doc);
  }
  return page;
}

}  // namespace ingot
