#include "checkpoint/unique_json.h"

#include <set>
#include <string>
#include <vector>

#include "core/error.h"

namespace ingot {

nlohmann::json parse_unique_json(std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  return nlohmann::json::parse(text, [&](int, Event event, const nlohmann::json& parsed) {
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end) keys.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      check(keys.back().insert(key).second, ErrorCode::Data, "\"{}\" is there twice", key);
    }
    return true;
  });
}

}  // namespace ingot
