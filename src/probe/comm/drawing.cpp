#include "probe/comm/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/system/timing.h"
#include "core/text/format.h"

namespace ingot {
namespace {

struct Shade {
  double below;  // of the fastest link's rate
  const char* text;
};
constexpr std::array kShades = {Shade{0.25, "░"}, Shade{0.5, "▒"}, Shade{0.8, "▓"}};
constexpr const char* kFull = "█";

const char* shade_of(double share) {
  for (const Shade& shade : kShades)
    if (share < shade.below) return shade.text;
  return kFull;
}

}  // namespace

std::string draw_links(std::span<const LinkRate> links, int ranks, int most_cells) {
  if (links.empty()) return "";
  const int per_cell = (ranks + most_cells - 1) / most_cells;
  const int cells = (ranks + per_cell - 1) / per_cell;
  const auto side = static_cast<size_t>(cells);
  std::vector<double> slowest(side * side, 0.0);  // (from, to); 0: none
  double fastest = 0.0;
  for (const LinkRate& link : links) {
    double& cell = slowest[static_cast<size_t>(link.from / per_cell) * side +
                           static_cast<size_t>(link.to / per_cell)];
    cell = cell == 0.0 ? link.bytes_s : std::min(cell, link.bytes_s);
    fastest = std::max(fastest, link.bytes_s);
  }
  // Two characters a cell, so that a square looks like one.
  std::string text = "  from\\to";
  for (int to = 0; to < cells; ++to) text += fmt::format("{:>2}", to * per_cell % 100);
  text += '\n';
  for (int from = 0; from < cells; ++from) {
    text += fmt::format("  {:>6} ", from * per_cell);
    for (int to = 0; to < cells; ++to) {
      const double rate = slowest[static_cast<size_t>(from) * side + static_cast<size_t>(to)];
      const char* shade = rate == 0.0 ? " " : shade_of(rate / fastest);
      text += fmt::format("{}{}", shade, shade);
    }
    text += '\n';
  }
  text += "  ";
  for (const Shade& shade : kShades)
    text += fmt::format("{} below {:.0f} %  ", shade.text, 100 * shade.below);
  text +=
      fmt::format("{} of the fastest, {}/s", kFull, format_bytes(static_cast<int64_t>(fastest)));
  if (per_cell > 1) text += fmt::format("; a cell is the slowest of {} × {}", per_cell, per_cell);
  return text + "\n";
}

const LinkRate* slowest_link(std::span<const LinkRate> links) {
  const auto slowest = std::ranges::min_element(links, {}, &LinkRate::bytes_s);
  return slowest == links.end() ? nullptr : &*slowest;
}

std::vector<LinkRate> slow_links(std::span<const LinkRate> links) {
  if (links.empty()) return {};
  std::vector<double> rates;
  for (const LinkRate& link : links) rates.push_back(link.bytes_s);
  const double median = median_of(std::move(rates));
  std::vector<LinkRate> slow;
  std::ranges::copy_if(links, std::back_inserter(slow),
                       [&](const LinkRate& link) { return link.bytes_s < 0.5 * median; });
  std::ranges::sort(slow, {}, &LinkRate::bytes_s);
  return slow;
}

}  // namespace ingot
