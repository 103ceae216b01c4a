// Replaces e-mail addresses and IPv4 addresses by fixed placeholders.
#pragma once

#include <string>

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

struct PiiSettings final : DeclaredFilter<PiiSettings, PiiFields> {
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// First e-mails, then IP addresses, by datatrove's patterns. Placeholders are used in turn,
// starting anew with each document, so that the result does not depend on other documents. `text`
// is valid UTF-8 and unchanged if nothing is found. Linear time.
PiiCounts mask_pii(const PiiSettings& settings, std::string& text);

}  // namespace ingot
