#include "tokenizer/chat/chat_format.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/text/python_text.h"
#include "tokenizer/chat/rendered_conversation.h"

namespace ingot {
namespace {

ChatFiles::Source template_of(const ChatFiles& files, std::string_view origin) {
  if (files.templates.empty()) return {std::string(kChatMl), "ChatML"};
  return files.chosen(/*has_tools=*/false, origin);
}

}  // namespace

ChatFormat::ChatFormat(const ChatFiles& files, const Tokenizer& tokenizer, int32_t first_id,
                       std::vector<int32_t> stop_ids, std::string_view origin)
    : tokenizer_(tokenizer),
      first_id_(first_id),
      own_variables_(files.variables.empty() ? "{}" : files.variables),
      is_base_model_(files.templates.empty()),
      template_(template_of(files, origin)),
      stop_ids_(std::move(stop_ids)) {
  ChatTemplate(template_.text, template_.origin);  // refuses what it cannot parse
  find_end_of_turn();
}

MarkedText ChatFormat::prompt(std::string_view conversation, std::string_view origin) const {
  return rendered_conversation(template_, conversation, own_variables_, true, origin);
}

// As transformers continues a final message, of which some templates trim the spaces.
MarkedText ChatFormat::begun_reply(std::string_view conversation, std::string_view begun,
                                   std::string_view origin) const {
  const MarkedText all =
      rendered_conversation(template_, conversation, own_variables_, false, origin);
  for (const std::string_view said : {begun, text::strip(begun)})
    if (const size_t at = all.text.rfind(said); at != std::string::npos)
      return all.part(0, at + said.size());
  throw Error(
      ErrorCode::Data,
      fmt::format("{}: the chat template changes «{}», so that a reply cannot begin with it",
                  origin, begun));
}

std::vector<int32_t> ChatFormat::ids_of(const MarkedText& rendered) const {
  std::vector<int32_t> ids = ingot::ids_of(rendered, tokenizer_);
  if (is_base_model_ && first_id_ >= 0) ids.insert(ids.begin(), first_id_);
  return ids;
}

// What follows an assistant's message, told by a conversation that ends with one.
void ChatFormat::find_end_of_turn() {
  constexpr std::string_view kSaid = "jxqzv";
  const nlohmann::json talk = {{{"role", "user"}, {"content", "a"}},
                               {{"role", "assistant"}, {"content", kSaid}}};
  MarkedText text;
  try {
    text = rendered_conversation(template_, talk.dump(), own_variables_, false, "a conversation");
  } catch (const Error&) {
    return;  // a template that wants more than two messages; its EOS is known
  }
  const size_t said = text.text.rfind(kSaid);
  if (said == std::string::npos) return;
  const size_t end = said + kSaid.size();
  const MarkedText rest = text.part(end, text.text.size());
  for (const int32_t id : ingot::ids_of(rest, tokenizer_)) {
    if (!tokenizer_.decode(id).empty()) continue;
    if (std::ranges::find(stop_ids_, id) == stop_ids_.end()) stop_ids_.push_back(id);
    return;
  }
  const size_t first = rest.text.find_first_not_of(" \n");
  if (first == std::string::npos) return;
  stop_text_ = rest.text.substr(first, rest.text.find_last_not_of(" \n") + 1 - first);
}

}  // namespace ingot
