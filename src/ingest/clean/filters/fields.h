// Of every filter: its settings as a struct with their defaults, and their declarations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/clean/filter.h"
#include "spec/settings/settings.h"

namespace ingot {

#include "spec/settings/fields.h"

// append_rows: the declarations, bound to `section`; their names begin with `prefix`.
#define FILTER(Type, name, is_enabled, doc)                                                       \
  struct Type##Fields;                                                                            \
  void append_rows(Type##Fields& section, const std::string& prefix, std::vector<Setting>& rows); \
  std::unique_ptr<FilterSettings> filter_##name();                                                \
  struct Type##Fields {                                                                           \
    static constexpr std::string_view kName = #name, kDoc = doc;                                  \
    static constexpr bool kIsEnabled = is_enabled;
#define END_FILTER(Type) \
  }                      \
  ;

#include "ingest/clean/filters/filters.def"

#undef FILTER
#undef END_FILTER

#include "spec/settings/end.h"

// The base of a filter's settings: `struct XSettings : DeclaredFilter<XSettings, XFields>`.
template <class Settings, class Fields>
class DeclaredFilter : public FilterSettings, public Fields {
 public:
  DeclaredFilter() : FilterSettings(Fields::kName, Fields::kDoc, Fields::kIsEnabled) {}

  std::vector<Setting> declare() override {
    std::vector<Setting> rows;
    append_rows(static_cast<Fields&>(*this), key(""), rows);
    return rows;
  }
  std::unique_ptr<FilterSettings> clone() const override {
    return std::make_unique<Settings>(static_cast<const Settings&>(*this));
  }
};

}  // namespace ingot
