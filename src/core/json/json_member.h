// Errors in a JSON file that name the line and the member.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error/error.h"
#include "core/json/json_problem.h"

namespace ingot {

// `member`: its keys, outermost first; a list element's key is its index, as "0".
class MemberError : public Error {
 public:
  MemberError(std::vector<std::string> member, const std::string& message,
              std::source_location place = std::source_location::current())
      : Error(ErrorCode::Data, message, place), member_(std::move(member)) {}
  const std::vector<std::string>& member() const { return member_; }

 private:
  std::vector<std::string> member_;
};

// Calls `body`, which reads the member `key`, and returns its result. An exception of `body`
// becomes an error of that member: "KEY: MESSAGE". Json is nlohmann::json or a similar type.
template <class Json, class Body>
decltype(auto) at_member(const std::string& key, const Body& body) {
  const auto named = [&](std::string_view message) { return fmt::format("{}: {}", key, message); };
  try {
    return body();
  } catch (const typename Json::exception& error) {
    throw MemberError({key}, named(json_problem(error)));
  } catch (const MemberError& error) {
    std::vector<std::string> member = error.member();
    member.insert(member.begin(), key);
    throw MemberError(std::move(member), named(error.what()));
  } catch (const Error& error) {
    throw MemberError({key}, named(error.what()));
  }
}

// Line (from 1) of a member of `json`, a text that parsed. For a missing member, the line of the
// object it is missing from; nothing if that is the outermost object.
std::optional<int64_t> line_of_member(std::string_view json, std::span<const std::string> member);

// "FILE, line 7: MESSAGE"; "FILE: MESSAGE" if the error has no member.
std::string located(std::string_view file, std::string_view json, const Error& error);

// The same for the library's parse error: the line where the text stops being JSON.
template <class Json>
std::string located(std::string_view file, std::string_view json,
                    const typename Json::exception& error) {
  const auto* parsing = dynamic_cast<const typename Json::parse_error*>(&error);
  if (parsing == nullptr) return fmt::format("{}: {}", file, json_problem(error));
  const std::string_view before = json.substr(0, parsing->byte > 0 ? parsing->byte - 1 : 0);
  return fmt::format("{}, line {}: {}", file, 1 + std::count(before.begin(), before.end(), '\n'),
                     json_problem(error));
}

}  // namespace ingot
