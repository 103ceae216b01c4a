#include "core/text/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ingot {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last.back();
}

std::string_view last_part(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

}  // namespace

std::string nearest_name(std::string_view wrong, const std::vector<std::string>& names) {
  const size_t limit = std::max<size_t>(2, wrong.size() / 3);  // a third of the letters mistyped
  size_t best = limit + 1;
  std::string nearest;
  for (const std::string& name : names) {
    size_t distance = edit_distance(wrong, name);
    if (last_part(wrong) == last_part(name)) distance = std::min<size_t>(distance, 2);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace ingot
