// Settings of cleaning: a few for the whole job, and those of every filter.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "ingest/clean/filter.h"

namespace ingot {

// The settings of one filter; copying copies them.
class OwnedFilterSettings {
 public:
  explicit OwnedFilterSettings(std::unique_ptr<FilterSettings> settings)
      : settings_(std::move(settings)) {}
  OwnedFilterSettings(const OwnedFilterSettings& other) : settings_(other.settings_->clone()) {}
  OwnedFilterSettings(OwnedFilterSettings&&) = default;
  OwnedFilterSettings& operator=(const OwnedFilterSettings& other) {
    settings_ = other.settings_->clone();
    return *this;
  }
  OwnedFilterSettings& operator=(OwnedFilterSettings&&) = default;
  ~OwnedFilterSettings() = default;

  FilterSettings& operator*() const { return *settings_; }
  FilterSettings* operator->() const { return settings_.get(); }

 private:
  std::unique_ptr<FilterSettings> settings_;
};

std::vector<OwnedFilterSettings> all_filters();  // of filters/filters.def, with defaults

#include "spec/settings/fields.h"

struct CleanSettings {
  std::string preset = "datatrove-0.10";
  CleanVersion version = CleanVersion::Datatrove010;
  std::string splitter = "spacy-en";
  // max_document_bytes bounds memory: a worker needs about 20 times that.
#include "ingest/clean/clean.def"
  std::vector<OwnedFilterSettings> filters = all_filters();  // in execution order

  // The settings of one filter, by their type.
  template <class Settings>
  Settings& of() {
    for (const OwnedFilterSettings& filter : filters)
      if (auto* found = dynamic_cast<Settings*>(&*filter)) return *found;
    throw Error(ErrorCode::Internal, "no filter with such settings is in filters/filters.def");
  }
};

#include "spec/settings/end.h"

inline constexpr std::string_view kCleanPresets[] = {"fineweb-v1", "datatrove-0.10"};

// The FineWeb recipe with the formulas of datatrove 0.3 or 0.10: no URL lists, language by score,
// Gopher repetition and quality, C4 without its terminal-mark rule, FineWeb, PII. Throws Config for
// another name.
CleanSettings clean_preset(std::string_view name);

// The declarations, bound to `settings`, which must outlive them. Lists are text separated by
// spaces; n-gram limits are «n:share».
std::vector<Setting> settings_of(CleanSettings& settings);

// Throws Config for a meaningless value or contradictory ones.
void validate(const CleanSettings& settings);

}  // namespace ingot
