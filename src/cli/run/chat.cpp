// ingot chat CKPT
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "checkpoint/new_output.h"
#include "cli/frame/command.h"
#include "cli/frame/weight_options.h"
#include "cli/run/chat_input.h"
#include "cli/run/reply_options.h"
#include "cli/start/model_argument.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "infer/model.h"
#include "infer/reply.h"
#include "tokenizer/chat/chat_format.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHelp[] =
    "/retry        another reply to the last message\n"
    "/edit TEXT    the last message again, as TEXT; its reply is dropped\n"
    "/system TEXT  what the model is told first; without TEXT nothing\n"
    "/clear        a new conversation\n"
    "/save FILE    the conversation as JSON, which --messages reads\n"
    "/help, /quit  Ctrl-C stops a reply, Ctrl-D leaves; a line that ends with \\ continues\n";

struct ChatCommand {
  ModelArgument chosen;
  std::string system, messages;
  int64_t tokens = 0;
  WeightOptions weights;
  ReplyOptions how;

  void run() {
    const OpenedModel opened = chosen.open(weights.options(1));
    LoadedModel& loaded = *opened.model;
    const ChatFormat format(loaded.chat_files(), loaded.tokenizer(), loaded.first_id(),
                            loaded.stop_ids(), chosen.path);
    if (format.is_base_model())
      fmt::print(stderr,
                 "base model: it came without a chat template, so the conversation is written as "
                 "ChatML, which it may not know\n");
    CtrlC ctrl_c;
    ChatInput input(ctrl_c);
    Json talk = messages.empty() ? Json::array() : read_messages();
    if (!system.empty()) set_system(talk, system);
    while (const auto line = input.line("> ")) {
      if (line->find_first_not_of(" \t\n") == std::string::npos) continue;
      if (line->starts_with('/') ? obey(*line, talk) : say(*line, talk)) {
        if (is_left_) return;
        reply(loaded, format, ctrl_c, talk);
      }
    }
  }

 private:
  Json read_messages() const {
    const Json talk = Json::parse(read_text(*posix_storage(), messages), nullptr, false);
    const bool is_list =
        talk.is_array() && std::ranges::all_of(talk, [](const Json& message) {
          return message.is_object() && message.contains("role") && message.contains("content");
        });
    check(is_list, ErrorCode::Data,
          "{}: expected a JSON list of {{\"role\": …, \"content\": …}}, as /save writes it",
          messages);
    return talk;
  }

  static bool say(const std::string& text, Json& talk) {
    talk.push_back({{"role", "user"}, {"content", text}});
    return true;
  }

  static void set_system(Json& talk, const std::string& text) {
    if (!talk.empty() && talk[0]["role"] == "system") talk.erase(0);
    if (!text.empty()) talk.insert(talk.begin(), Json{{"role", "system"}, {"content", text}});
  }

  // Removes the reply to the last message, if there is one. False: nobody has said anything.
  static bool drop_reply(Json& talk) {
    while (!talk.empty() && talk.back()["role"] == "assistant") talk.erase(talk.size() - 1);
    return !talk.empty() && talk.back()["role"] == "user";
  }

  // True: a reply is wanted, or the chat is left.
  bool obey(const std::string& line, Json& talk) {
    const size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "/quit" || name == "/exit") return is_left_ = true;
    if (name == "/help") {
      fmt::print("{}", kHelp);
    } else if (name == "/clear") {
      const bool has_system = !talk.empty() && talk[0]["role"] == "system";
      talk = has_system ? Json::array({talk[0]}) : Json::array();
    } else if (name == "/system") {
      set_system(talk, rest);
    } else if (name == "/retry" || name == "/edit") {
      if (!drop_reply(talk)) {
        fmt::print("there is no message yet\n");
        return false;
      }
      if (name == "/retry") return true;
      if (!rest.empty()) {
        talk.back()["content"] = rest;
        return true;
      }
      fmt::print("/edit TEXT: expected the message's new text; it was: {}\n",
                 talk.back()["content"].get<std::string>());
    } else if (name == "/save") {
      save(rest, talk);
    } else {
      fmt::print("{}: there is no such command; /help lists them\n", name);
    }
    return false;
  }

  static void save(const std::string& path, const Json& talk) {
    if (path.empty()) {
      fmt::print("/save FILE: expected a file to write\n");
      return;
    }
    try {
      const std::string text = talk.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
      const auto storage = posix_storage();
      NewFile file(*storage, path, NewFile::Existing::Refused);
      storage->create(file.path())->append(std::as_bytes(std::span(text)));
      file.publish();
      fmt::print("saved {}\n", path);
    } catch (const Error& error) {
      fmt::print("{}\n", error.what());
    }
  }

  void reply(LoadedModel& model, const ChatFormat& format, CtrlC& ctrl_c, Json& talk) {
    try {
      Request request = how.request(model, format.prompt_ids(talk.dump(), "the conversation"));
      request.sampling.seed += num_replies_++;  // so that /retry gets another one
      if (!how.ignore_eos)
        request.stop_ids.insert(request.stop_ids.end(), format.stop_ids().begin(),
                                format.stop_ids().end());
      request.max_tokens = tokens > 0 ? tokens : model.engine().max_tokens();
      std::vector<std::string> stops = how.stop_strings;
      if (!format.stop_text().empty()) stops.push_back(format.stop_text());
      const auto sink = std::make_shared<ReplySink>(model.tokenizer(), std::move(stops), -1,
                                                    [](std::string_view piece) {
                                                      fmt::print("{}", piece);
                                                      std::fflush(stdout);
                                                    });
      const RequestId id = model.engine().submit(std::move(request), sink);
      while (!sink->is_done()) {
        if (ctrl_c.take()) model.engine().cancel(id);
        model.engine().step();
      }
      show_end(sink->reply().finish);
      talk.push_back({{"role", "assistant"}, {"content", sink->reply().text}});
    } catch (const Error& error) {
      fmt::print("{}\n", error.what());
      if (!talk.empty() && talk.back()["role"] == "user") talk.erase(talk.size() - 1);
    }
  }

  static void show_end(const Finish& finish) {
    switch (finish.reason) {
      case FinishReason::Stop:
        break;
      case FinishReason::Length:
        fmt::print("\n(cut: --tokens or the context is reached; /clear begins anew)");
        break;
      case FinishReason::Cancelled:
        fmt::print("\n(stopped)");
        break;
      case FinishReason::Failed:
        fmt::print("\n({})", finish.error);
    }
    fmt::print("\n");
  }

  bool is_left_ = false;
  uint64_t num_replies_ = 0;
};

}  // namespace

void add_chat(Command& app) {
  auto command = std::make_shared<ChatCommand>();
  auto* chat = app.add_subcommand("chat", "talk with a model in the terminal");
  command->chosen.add_path_to(*chat);
  chat->add_option("--system", command->system, "what the model is told first");
  chat->add_option("--messages", command->messages, "continues a conversation that /save wrote");
  chat->add_option("--tokens", command->tokens,
                   "of one reply at most; 0 = what the context has room for")
      ->capture_default_str()
      ->not_negative();
  command->how.add_to(*chat);
  command->weights.add_to(*chat);
  command->chosen.device.add_to(*chat);
  chat->callback([command] { command->run(); });
}

}  // namespace ingot::cli
