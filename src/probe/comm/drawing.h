// Links between ranks as a picture of characters.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probe/comm/link_rate.h"

namespace ingot {

// A square of shades, senders down and receivers across, by rate relative to the fastest link, with
// a legend. Of more than `most_cells` ranks a cell stands for several, and for their slowest link.
// Links that were not measured are empty. Ends with a line break.
std::string draw_links(std::span<const LinkRate> links, int ranks, int most_cells = 32);

// Null where there is none.
const LinkRate* slowest_link(std::span<const LinkRate> links);

// Those that give less than half of the median of all, the slowest first.
std::vector<LinkRate> slow_links(std::span<const LinkRate> links);

}  // namespace ingot
