#include "ingest/clean/settings.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "ingest/clean/filters/fields.h"

namespace ingot {

#include "spec/settings/rows.h"

#define FILTER(Type, ...) \
  void append_rows(Type##Fields& section, const std::string& prefix, std::vector<Setting>& rows) {
#define END_FILTER(Type) }

#include "ingest/clean/filters/filters.def"

#undef FILTER
#undef END_FILTER
#include "spec/settings/end.h"

std::vector<OwnedFilterSettings> all_filters() {
  std::vector<OwnedFilterSettings> all;
#include "spec/settings/no_rows.h"

#define FILTER(Type, name, ...) all.emplace_back(filter_##name());
#define END_FILTER(Type)
#include "ingest/clean/filters/filters.def"
#undef FILTER
#undef END_FILTER
#include "spec/settings/end.h"

  return all;
}

namespace {

// In place, since declarations are bound to the fields.
void apply_preset(CleanSettings& settings, std::string_view name) {
  check(std::find(std::begin(kCleanPresets), std::end(kCleanPresets), name) !=
            std::end(kCleanPresets),
        ErrorCode::Config, "clean.preset: expected one of {}, got «{}»",
        fmt::join(kCleanPresets, ", "), name);
  const bool is_v1 = name == "fineweb-v1";
  settings.preset = name;
  settings.version = is_v1 ? CleanVersion::FinewebV1 : CleanVersion::Datatrove010;
  settings.splitter = is_v1 ? "nltk-en" : "spacy-en";
  for (const OwnedFilterSettings& filter : settings.filters) filter->apply_preset(settings.version);
}

#include "spec/settings/rows.h"

void append_rows(CleanSettings& section, std::vector<Setting>& rows) {
  const std::string prefix;
#include "ingest/clean/clean.def"
}

#include "spec/settings/end.h"

}  // namespace

CleanSettings clean_preset(std::string_view name) {
  CleanSettings settings;
  apply_preset(settings, name);
  return settings;
}

std::vector<Setting> settings_of(CleanSettings& s) {
  std::vector<Setting> all = {
      choice_setting(
          "preset", {std::begin(kCleanPresets), std::end(kCleanPresets)}, [&s] { return s.preset; },
          [&s](const std::string& name) { apply_preset(s, name); },
          "whose formulas, and all that follows"),
      choice_setting(
          "splitter", {std::begin(kSplitterNames), std::end(kSplitterNames)},
          [&s] { return s.splitter; }, [&s](const std::string& name) { s.splitter = name; },
          "what words and sentences are"),
  };
  append_rows(s, all);
  for (const OwnedFilterSettings& filter : s.filters) {
    all.push_back(flag_setting(fmt::format("{}.enabled", filter->name()), filter->enabled,
                               std::string(filter->doc())));
    for (Setting& setting : filter->declare()) all.push_back(std::move(setting));
  }
  return all;
}

void validate(const CleanSettings& settings) {
  CleanSettings copy = settings;
  for (const Setting& setting : settings_of(copy)) {
    if (setting.name != "preset") setting.set(setting.get());  // which checks it
  }
  for (const OwnedFilterSettings& filter : settings.filters) filter->validate();
}

}  // namespace ingot
