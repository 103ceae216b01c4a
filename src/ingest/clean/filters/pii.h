// Replaces e-mail addresses and IPv4 addresses by fixed placeholders.
#pragma once

#include <string>

#include "ingest/clean/filter.h"

namespace ingot {

#include "spec/settings/fields.h"

struct PiiSettings final : DeclaredFilter<PiiSettings> {
  PiiSettings() : DeclaredFilter("pii", "mask what names a person's machine or mailbox", true) {}

#include "ingest/clean/filters/pii.def"

  std::vector<Setting> declare() override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

#include "spec/settings/end.h"

// First e-mails, then IP addresses, by datatrove's patterns. Placeholders are used in turn,
// starting anew with each document, so that the result does not depend on other documents. `text`
// is valid UTF-8 and unchanged if nothing is found. Linear time.
PiiCounts mask_pii(const PiiSettings& settings, std::string& text);

}  // namespace ingot
