// Draws links between ranks as text.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "probe/comm/link_rate.h"

namespace ingot {

// A matrix of shades, senders down and receivers across, by rate relative to the fastest link, with
// a legend. With more than `most_cells` ranks a cell stands for several ranks and shows their
// slowest link. Unmeasured links are empty. Ends with a line break.
std::string draw_links(std::span<const LinkRate> links, int ranks, int most_cells = 32);

// Null if there is none.
const LinkRate* slowest_link(std::span<const LinkRate> links);

// The links with less than half of the median rate, slowest first.
std::vector<LinkRate> slow_links(std::span<const LinkRate> links);

}  // namespace ingot
