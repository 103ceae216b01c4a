#include "tokenizer/chat/rendered_conversation.h"

#include "tokenizer/chat/conversation.h"
#include "tokenizer/chat/interpreter.h"
#include "tokenizer/prompt_encoder.h"

namespace ingot {

MarkedText render_marked(const ChatFiles::Source& chat_template, std::string_view variables,
                         std::string_view own) {
  const chat::Value values = chat::parse_variables(variables, own, "the conversation");
  return chat::run(chat::parse(chat_template.text, chat_template.origin), values,
                   chat_template.origin);
}

MarkedText rendered_conversation(const ChatFiles::Source& chat_template,
                                 std::string_view conversation, std::string_view own,
                                 bool generation_prompt, std::string_view origin) {
  return render_marked(chat_template, chat_variables(conversation, own, generation_prompt, origin),
                       own);
}

std::vector<int32_t> ids_of(const MarkedText& rendered, const Tokenizer& tokenizer) {
  // Of a tokenizer that is none, no text spells a special token.
  const auto* encoder = dynamic_cast<const PromptEncoder*>(&tokenizer);
  if (encoder == nullptr) return tokenizer.encode(rendered.text);
  std::vector<TextRange> from_template;
  for (const RenderedSpan& span : rendered.spans)
    if (span.from_template) from_template.push_back({span.begin, span.end});
  std::vector<int32_t> ids;
  encoder->encode_prompt(rendered.text, TrustedText(from_template), ids);
  return ids;
}

}  // namespace ingot
