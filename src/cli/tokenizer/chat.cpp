// ingot tokenizer chat
#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/frame/command.h"
#include "cli/tokenizer/separated_input.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/chat/conversation.h"
#include "tokenizer/chat/rendered_conversation.h"

namespace ingot::cli {
namespace {

struct ChatCommand {
  TokenizerOption tokenizer;
  std::string messages, template_file;
  bool generation_prompt = false, ids = false;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const bool is_folder = std::filesystem::is_directory(tokenizer.path);
    const std::string folder = is_folder ? tokenizer.path : parent_path(tokenizer.path);
    const ChatFiles files = read_chat_files(*storage, folder);
    const std::string values = variables(files);
    const bool has_tools = !nlohmann::json::parse(values).at("tools").is_null();
    const ChatFiles::Source source =
        template_file.empty()
            ? files.chosen(has_tools, folder)
            : ChatFiles::Source{read_text(*storage, template_file), template_file};
    const MarkedText rendered = render_marked(source, values, files.variables);
    const std::string& text = rendered.text;
    if (!ids) {
      fmt::print("{}{}", text, json.wanted && !text.ends_with('\n') ? "\n" : "");
      json.print({{"text", text}});
      return;
    }
    const std::vector<int32_t> encoded = ids_of(rendered, *tokenizer.load());
    fmt::print("{}\n", fmt::join(encoded, " "));
    json.print({{"text", text}, {"ids", encoded}});
  }

 private:
  // The file's own names come before those of the tokenizer.
  std::string variables(const ChatFiles& files) const {
    SeparatedInput input(messages, "");
    const auto documents = input.next();
    return chat_variables(documents.empty() ? "" : documents[0], files.variables, generation_prompt,
                          input.name());
  }
};

}  // namespace

void add_tokenizer_chat(Command& tokenizer) {
  auto command = std::make_shared<ChatCommand>();
  auto* chat = tokenizer.add_subcommand(
      "chat", "a conversation as the text that a model wants, by its chat template");
  command->tokenizer.add_to(*chat);
  chat->add_option("--messages", command->messages,
                   "JSON file; stdin without it. A list of {\"role\": …, \"content\": …}, or an "
                   "object with \"messages\" and what else the template knows (\"tools\", …)");
  chat->add_option("--template", command->template_file,
                   "a Jinja file in place of the one beside the tokenizer");
  chat->add_flag("--generation-prompt", command->generation_prompt,
                 "end where the assistant's answer begins");
  chat->add_flag("--ids", command->ids,
                 "write the text's ids; special tokens are found in what the template wrote");
  command->json.add_to(*chat);
  chat->callback([command] { command->run(); });
}

}  // namespace ingot::cli
