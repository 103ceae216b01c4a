// Replaces e-mail addresses and IPv4 addresses by fixed stand-ins.
#pragma once

#include <string>

#include "ingest/clean/filter.h"

namespace ingot {

struct PiiSettings final : DeclaredFilter<PiiSettings> {
  PiiSettings() : DeclaredFilter("pii", "mask what names a person's machine or mailbox", true) {}

  bool masks_emails = true, masks_ips = true;
  bool only_public_ips = true;
  bool needs_digit_boundaries = false;  // ours: 1.2.3.4.5 and 1234.5.6.7 are no addresses
  bool lower_case_emails_only = false;  // datatrove 0.2

  std::vector<Setting> declare() override;
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// First e-mails, then addresses, by datatrove's patterns; the stand-ins are used in turn, beginning
// anew with each document so that the result does not depend on its neighbours. `text` is valid
// UTF-8 and stays untouched where nothing is found. Time in proportion to it.
PiiCounts mask_pii(const PiiSettings& settings, std::string& text);

}  // namespace ingot
