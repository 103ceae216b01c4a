// How a model is talked to: its chat template, and what ends its turn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/chat/chat_template.h"
#include "tokenizer/chat/marked_text.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// ChatML, for models that have no template.
inline constexpr std::string_view kChatMl =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] "
    "+ "
    "'<|im_end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% endif %}";

class ChatFormat {
 public:
  // `first_id`: what the model's texts begin with, -1 for nothing; `stop_ids`: what ends them.
  // `origin` is for errors. `tokenizer` must outlive it. Throws ErrorCode::Data for templates that
  // do not parse.
  ChatFormat(const ChatFiles& files, const Tokenizer& tokenizer, int32_t first_id,
             std::vector<int32_t> stop_ids, std::string_view origin);

  // Without a template of its own, which only a base model is; it is given ChatML.
  bool is_base_model() const { return is_base_model_; }
  // A conversation (JSON, as chat_variables() takes it) up to where the assistant's reply begins.
  // `origin` names the conversation in errors.
  MarkedText prompt(std::string_view conversation, std::string_view origin) const;
  // The same of a conversation whose last message, `begun`, the assistant has only begun: the text
  // ends with it.
  MarkedText begun_reply(std::string_view conversation, std::string_view begun,
                         std::string_view origin) const;
  // What the model reads of such a text, with first_id in front where ChatML is built in.
  std::vector<int32_t> ids_of(const MarkedText& rendered) const;
  std::vector<int32_t> prompt_ids(std::string_view conversation, std::string_view origin) const {
    return ids_of(prompt(conversation, origin));
  }
  // The model's stop ids and the token that the template ends an assistant's turn with.
  const std::vector<int32_t>& stop_ids() const { return stop_ids_; }
  // What the template ends the turn with where that is no token; else empty.
  const std::string& stop_text() const { return stop_text_; }

 private:
  void find_end_of_turn();

  const Tokenizer& tokenizer_;
  int32_t first_id_;
  std::string own_variables_;
  bool is_base_model_;
  ChatFiles::Source template_;
  std::vector<int32_t> stop_ids_;
  std::string stop_text_;
};

}  // namespace ingot
