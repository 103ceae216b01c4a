// Replaces e-mail addresses and IPv4 addresses by fixed stand-ins.
#pragma once

#include <cstdint>
#include <string>

#include "ingest/clean/settings.h"

namespace ingot {

struct PiiCounts {
  int64_t emails = 0, ips = 0;
};

// First e-mails, then addresses, by datatrove's patterns; the stand-ins are used in turn, beginning
// anew with each document so that the result does not depend on its neighbours. `text` is valid
// UTF-8 and stays untouched where nothing is found. Time in proportion to it.
PiiCounts mask_pii(const PiiSettings& settings, std::string& text);

}  // namespace ingot
