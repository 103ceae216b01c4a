#include "checkpoint/unique_json.h"

#include <set>
#include <string>
#include <vector>

#include "core/json/json_member.h"

namespace ingot {

nlohmann::json parse_unique_json(std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::vector<std::string> path;            // the key read last in each of them
  return nlohmann::json::parse(text, [&](int, Event event, const nlohmann::json& parsed) {
    if (event == Event::object_start) {
      keys.emplace_back();
      path.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
      path.pop_back();
    } else if (event == Event::key) {
      path.back() = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(path.back()).second)
        throw MemberError(path, fmt::format("\"{}\" is there twice", path.back()));
    }
    return true;
  });
}

std::string shown(const nlohmann::json& value) {
  using Handler = nlohmann::json::error_handler_t;
  return value.is_primitive() ? value.dump(-1, ' ', false, Handler::replace).substr(0, 100)
                              : value.type_name();
}

}  // namespace ingot
