// Chat templates: how a model wants a conversation written. They are Jinja; this is an interpreter
// of what such templates use.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/storage/storage.h"

namespace ingot {

// Understands text, {{ … }}, if, for (with loop), set, namespace, macro, break, continue, Python's
// operators, slices and calls, and the filters, tests and methods of chat/builtins.h; whitespace is
// handled as Hugging Face's transformers sets Jinja up (trim_blocks, lstrip_blocks). Nothing can be
// reached from a template but the values that are given to it, and a clock: strftime_now(format).
// May be used by any number of threads.
class ChatTemplate {
 public:
  // Throws ErrorCode::Data, naming `origin` and the line, on what is not understood.
  ChatTemplate(std::string_view source, std::string_view origin);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;

  // `variables` is a JSON object: "messages" and whatever else the template asks for. Throws
  // ErrorCode::Data when a value is not what the template needs, when the template itself refuses
  // (raise_exception), and when it does not come to an end within bounds of time and memory.
  std::string render(std::string_view variables) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

// What a tokenizer's folder says of conversations.
struct ChatFiles {
  std::string source;     // of the template; empty: there is none
  std::string origin;     // the file it is from
  std::string variables;  // a JSON object: bos_token, eos_token and the like
};

// Reads tokenizer_config.json (chat_template: a text, or a list of which the one named "default"
// counts) and chat_template.jinja, which comes first, in a folder.
ChatFiles read_chat_files(Storage& storage, const std::string& folder);

}  // namespace ingot
