// FineWeb's rules on lines.
#pragma once

#include "ingest/clean/filter.h"

namespace ingot {

struct FinewebSettings final : DeclaredFilter<FinewebSettings> {
  FinewebSettings() : DeclaredFilter("fineweb", "remove lists, menus and repeated lines", true) {}

  double min_terminal_lines = 0.12;
  bool exempts_no_terminal_lines = false;  // a share of exactly 0 passes
  double max_short_lines = 0.67;
  int64_t short_line_chars = 30;
  double max_dup_line_chars = 0.01;
  double max_newlines_per_word = 0.3;

  std::vector<Setting> declare() override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

std::string_view fineweb_quality(const FinewebSettings& settings, CleanVersion version,
                                 std::string_view text, const Splitter& splitter,
                                 CleanScratch& scratch);

}  // namespace ingot
