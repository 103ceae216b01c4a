// C4's rules on lines, and on documents with few sentences left.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

struct C4Settings final : DeclaredFilter<C4Settings> {
  C4Settings() : DeclaredFilter("c4", "drop lines, and documents with few sentences left", true) {}

#include "ingest/clean/filters/c4.def"

  std::vector<Setting> declare() override;
  void apply_preset(CleanVersion) override {
    needs_terminal_mark = false;
  }  // as in FineWeb
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

// If the document passes, scratch.rewritten is the text of the kept lines. Adds to `counts`.
std::string_view c4_quality(const C4Settings& settings, CleanVersion version, std::string_view text,
                            const Splitter& splitter, CleanScratch& scratch, C4LineCounts& counts);

}  // namespace ingot
