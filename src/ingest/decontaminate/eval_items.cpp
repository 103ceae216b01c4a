#include "ingest/decontaminate/eval_items.h"

#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

using nlohmann::json;

class ItemParser {
 public:
  ItemParser(std::string_view line, std::string_view origin, int64_t number)
      : origin_(origin), number_(number), item_(json::parse(line, nullptr, false)) {
    expect(item_.is_object() && valid_utf8_prefix(line) == line.size(), "a JSON object in UTF-8");
  }

  EvalItem parse() const {
    if (item_.contains("choices")) return {text("query"), chosen("choices")};
    if (item_.contains("context_options")) return {chosen("context_options"), text("continuation")};
    return {text("context"), text("continuation")};
  }

 private:
  std::string text(const char* key) const {
    const auto found = item_.find(key);
    expect(found != item_.end() && found->is_string(), fmt::format("text as «{}»", key));
    return found->get<std::string>();
  }
  std::string chosen(const char* key) const {
    const json& list = item_.at(key);
    const auto gold = item_.find("gold");
    expect(gold != item_.end() && gold->is_number_unsigned() && list.is_array() &&
               gold->get<uint64_t>() < list.size() && list[gold->get<size_t>()].is_string(),
           fmt::format("«gold» to be the number of a text of «{}»", key));
    return list[gold->get<size_t>()].get<std::string>();
  }
  void expect(bool ok, const std::string& what) const {
    check(ok, ErrorCode::Data,
          "{}, line {}: expected {}; an item is {{query, choices, gold}}, {{context, "
          "continuation}} or {{context_options, continuation, gold}}",
          origin_, number_, what);
  }

  std::string_view origin_;
  int64_t number_;
  json item_;
};

}  // namespace

EvalTask parse_eval_task(std::string name, std::string_view jsonl, std::string_view origin) {
  EvalTask task{std::move(name), {}};
  int64_t number = 0;
  for (std::string_view line; text::next_piece(jsonl, '\n', line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    task.items.push_back(ItemParser(line, origin, number).parse());
  }
  check(!task.items.empty(), ErrorCode::Data, "{}: expected a task, got no item", origin);
  return task;
}

}  // namespace ingot
