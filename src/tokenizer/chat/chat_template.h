// Chat templates format a conversation for a model. They are written in Jinja; this interprets the
// subset that such templates use.
#pragma once

#include <map>
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

// Folder of chat templates that have a name and a file of their own.
inline constexpr std::string_view kNamedTemplates = "additional_chat_templates";

// Reads a folder's chat_template.jinja or else its tokenizer_config.json (chat_template: a text, or
// a list of names and templates), and additional_chat_templates/NAME.jinja.
ChatFiles read_chat_files(Storage& storage, const std::string& folder);

}  // namespace ingot
