// FineWeb's rules on lines.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct FinewebSettings final : DeclaredFilter<FinewebSettings, FinewebFields> {
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

std::string_view fineweb_quality(const FinewebSettings& settings, CleanVersion version,
                                 std::string_view text, const Splitter& splitter,
                                 CleanScratch& scratch);

}  // namespace ingot
