// The interface of a cleaning filter. filters/filters.def declares every filter with its settings;
// configuration, presets, help, cleaning and report use that table. Its rules are in its own file
// in filters/. docs/walkthroughs/add-a-filter.md adds one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/storage/storage.h"
#include "ingest/clean/passage.h"
#include "spec/settings/settings.h"

namespace ingot {

// Built once. Immutable, so any number of workers share it.
class Filter {
 public:
  virtual ~Filter() = default;
  // Returns the reason (in static memory) of the first rule that fires, or an empty view: the
  // document is kept.
  virtual std::string_view judge(Passage& passage) const = 0;
};

// Reads files named by settings and hashes their contents.
class CleanFiles {
 public:
  explicit CleanFiles(Storage& storage) : storage_(storage) {}

  std::string read(const std::string& path);       // an empty path gives an empty text
  std::string read_list(const std::string& path);  // a word list; throws Data if it is not UTF-8
  uint64_t hash() const { return hash_; }          // XXH3-64 of contents and lengths, in order

 private:
  Storage& storage_;
  uint64_t hash_ = 0;
};

class FilterSettings {
 public:
  FilterSettings(std::string_view name, std::string_view doc, bool is_enabled)
      : enabled(is_enabled), name_(name), doc_(doc) {}
  virtual ~FilterSettings() = default;

  bool enabled;                                    // NAME.enabled
  std::string_view name() const { return name_; }  // of its settings' section and of the step
  std::string_view doc() const { return doc_; }    // a one-line description

  // The declarations except `enabled`, bound to this object; their names are key("…").
  virtual std::vector<Setting> declare() = 0;
  virtual void apply_preset(CleanVersion) {}  // sets everything that differs between presets
  virtual void validate() const {}            // rules beyond ranges; throws Config
  // Reads the files named by the settings. Throws Config or Data.
  virtual std::unique_ptr<Filter> make(CleanFiles& files) const = 0;
  virtual std::unique_ptr<FilterSettings> clone() const = 0;

 protected:
  FilterSettings(const FilterSettings&) = default;
  FilterSettings& operator=(const FilterSettings&) = default;

  std::string key(std::string_view setting) const;                            // "NAME.setting"
  void expect_order(std::string_view what, double least, double most) const;  // 0: no maximum

 private:
  std::string_view name_, doc_;  // static
};

// A filter given by a function of its settings and the passage.
template <class Settings, class Judge>
std::unique_ptr<Filter> filter_of(const Settings& settings, Judge judge) {
  class FunctionFilter final : public Filter {
   public:
    FunctionFilter(const Settings& s, Judge j) : settings_(s), judge_(j) {}
    std::string_view judge(Passage& passage) const override { return judge_(settings_, passage); }

   private:
    Settings settings_;
    Judge judge_;
  };
  return std::make_unique<FunctionFilter>(settings, judge);
}

}  // namespace ingot
