// FineWeb's rules on lines.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

struct FinewebSettings final : DeclaredFilter<FinewebSettings> {
  FinewebSettings() : DeclaredFilter("fineweb", "remove lists, menus and repeated lines", true) {}

#include "ingest/clean/filters/fineweb.def"

  std::vector<Setting> declare() override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

std::string_view fineweb_quality(const FinewebSettings& settings, CleanVersion version,
                                 std::string_view text, const Splitter& splitter,
                                 CleanScratch& scratch);

}  // namespace ingot
