// Chat templates format a conversation for a model. They are written in Jinja; this interprets the
// subset that such templates use.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/storage/storage.h"

namespace ingot {

// Supports text, {{ … }}, if, for (with loop), set, namespace, macro, break, continue, Python's
// operators, slices and calls, and the filters, tests and methods of chat/builtins.h. Whitespace is
// handled as in Hugging Face's transformers (trim_blocks, lstrip_blocks). A template can access
// only its variables and a clock: strftime_now(format). Thread-safe.
class ChatTemplate {
 public:
  // Throws ErrorCode::Data, naming `origin` and the line, for unsupported syntax.
  ChatTemplate(std::string_view source, std::string_view origin);
  ~ChatTemplate();
  ChatTemplate(ChatTemplate&&) noexcept;

  // `variables` is a JSON object: "messages" and whatever else the template uses. Throws
  // ErrorCode::Data if a value has the wrong type, if the template calls raise_exception, or if it
  // exceeds the limits on time and memory.
  std::string render(std::string_view variables) const;

 private:
  struct Parsed;
  std::unique_ptr<Parsed> parsed_;
};

// The chat settings in a tokenizer's folder.
struct ChatFiles {
  std::string source;     // of the template; empty: there is none
  std::string origin;     // the file it is from
  std::string variables;  // a JSON object: bos_token, eos_token and the like
};

// Reads chat_template.jinja or else tokenizer_config.json of a folder (chat_template: a text, or a
// list whose entry named "default" counts).
ChatFiles read_chat_files(Storage& storage, const std::string& folder);

}  // namespace ingot
