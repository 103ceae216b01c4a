// Errors in a JSON file say the line and the member that they are about.
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

// `member`: its keys, the outermost first; of an element of a list its place, as "0".
class MemberError : public Error {
 public:
  MemberError(std::vector<std::string> member, const std::string& message,
              std::source_location place = std::source_location::current())
      : Error(ErrorCode::Data, message, place), member_(std::move(member)) {}
  const std::vector<std::string>& member() const { return member_; }

 private:
  std::vector<std::string> member_;
};

// Returns what `body` returns, which reads the member `key`. What it throws becomes an error of
// that member: "KEY: MESSAGE". Json is nlohmann::json or one like it.
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

// The line, from 1, of a member of `json`, a text that was parsed; where it is missing, of what it
// is missing from. Nothing for a missing member of the outermost object.
std::optional<int64_t> line_of_member(std::string_view json, std::span<const std::string> member);

// "FILE, line 7: MESSAGE", and "FILE: MESSAGE" of an error that is not about a member.
std::string located(std::string_view file, std::string_view json, const Error& error);

// The same of an exception of the library: where the text ceases to be JSON.
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
