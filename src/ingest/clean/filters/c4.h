// C4's rules on lines, and on documents with few sentences left.
#pragma once

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct C4Settings final : DeclaredFilter<C4Settings, C4Fields> {
  void apply_preset(CleanVersion) override { needs_terminal_mark = false; }  // as in FineWeb
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// If the document passes, scratch.rewritten is the text of the kept lines. Adds to `counts`.
std::string_view c4_quality(const C4Settings& settings, CleanVersion version, std::string_view text,
                            const Splitter& splitter, CleanScratch& scratch, C4LineCounts& counts);

}  // namespace ingot
