// Chat templates: how a model wants a conversation written. They are Jinja; this is an interpreter
// of what such templates use.
#pragma once

#include <map>
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
  struct Source {
    std::string text;
    std::string origin;  // the file it is from
  };
  std::map<std::string, Source> templates;  // by name; one that has no name is "default"
  std::string variables;                    // a JSON object: bos_token, eos_token and the like

  // As transformers chooses: "tool_use" where tools are given and it is there, else "default".
  // Throws ErrorCode::Data, naming those that are there, where it is neither.
  const Source& chosen(bool has_tools, std::string_view folder) const;
};

// The folder of those that have a name and a file of their own.
inline constexpr std::string_view kNamedTemplates = "additional_chat_templates";

// Reads tokenizer_config.json (chat_template: a text, or a list of names and templates),
// chat_template.jinja, which comes first, and additional_chat_templates/NAME.jinja in a folder.
ChatFiles read_chat_files(Storage& storage, const std::string& folder);

}  // namespace ingot
