// ingot generate CKPT
#include <fmt/format.h>

#include <cstdio>
#include <deque>
#include <iostream>
#include <iterator>
#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/weight_options.h"
#include "cli/run/reply_options.h"
#include "cli/start/model_argument.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/utf8.h"
#include "infer/reply.h"

namespace ingot::cli {
namespace {

constexpr int64_t kUsualTokens = 200;

// A prompt with its reply.
struct Written {
  std::string prompt;
  std::shared_ptr<ReplySink> sink;
};

nlohmann::json json_of(const Written& written) {
  const Reply& reply = written.sink->reply();
  nlohmann::json json = {{"prompt", valid_utf8(written.prompt)},
                         {"text", reply.text},
                         {"ids", reply.ids},
                         {"tokens", reply.ids.size()},
                         {"finish_reason", name_of(reply.finish.reason)},
                         {"prompt_tokens", reply.finish.prompt_tokens},
                         {"reused_tokens", reply.finish.reused_tokens},
                         {"first_token_seconds", reply.first_token_seconds},
                         {"seconds", reply.seconds}};
  if (reply.finish.reason == FinishReason::Failed) json["error"] = reply.finish.error;
  return json;
}

struct GenerateCommand {
  ModelArgument chosen;
  std::string prompt, prompts;
  int64_t tokens = 0;
  int64_t batch = 16;
  WeightOptions weights;
  ReplyOptions how;
  JsonOption json;

  void run() const {
    check(prompt.empty() || prompts.empty(), ErrorCode::Usage,
          "--prompt and --prompts both say what to continue: give one of them");
    const std::vector<std::string> many =
        prompts.empty() ? std::vector<std::string>{} : read_prompts();
    const OpenedModel opened = chosen.open(weights.options(prompts.empty() ? 1 : batch));
    if (prompts.empty())
      write_one(*opened.model);
    else
      write_all(*opened.model, many);
  }

 private:
  // A line is a JSON object with "prompt", a JSON string, or else itself the text.
  std::vector<std::string> read_prompts() const {
    const std::string file = read_text(*posix_storage(), prompts);
    std::vector<std::string> all;
    int64_t number = 0;
    for (size_t begin = 0; begin < file.size();) {
      const size_t end = std::min(file.find('\n', begin), file.size());
      const std::string line = file.substr(begin, end - begin);
      begin = end + 1;
      ++number;
      if (line.empty()) continue;
      all.push_back(line[0] == '{' || line[0] == '"' ? parse_prompt(line, number) : line);
    }
    check(!all.empty(), ErrorCode::Data, "{}: expected a prompt a line, got none", prompts);
    return all;
  }

  std::string parse_prompt(const std::string& line, int64_t number) const {
    const auto parsed = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto text = parsed.is_object() ? parsed.value("prompt", nlohmann::json()) : parsed;
    check(text.is_string(), ErrorCode::Data,
          "{}, line {}: expected a JSON object with a string \"prompt\", or a JSON string", prompts,
          number);
    return text.get<std::string>();
  }

  Written submit(LoadedModel& model, const std::string& text, ReplySink::OnText on_text) const {
    Request request = how.request(model, model.prompt_ids(text));
    request.max_tokens = tokens > 0 ? tokens : kUsualTokens;
    const int32_t first_id = text.empty() ? request.prompt.front() : -1;
    Written written{text, std::make_shared<ReplySink>(model.tokenizer(), how.stop_strings, first_id,
                                                      std::move(on_text))};
    model.engine().submit(std::move(request), written.sink);
    return written;
  }

  void write_one(LoadedModel& model) const {
    const std::string text =
        prompt == "-" ? std::string(std::istreambuf_iterator(std::cin), {}) : prompt;
    check_room(model, text);
    const Written written = submit(model, text, [](std::string_view piece) {
      fmt::print("{}", piece);
      std::fflush(stdout);
    });
    fmt::print("{}", text);  // now that the request is not refused
    std::fflush(stdout);
    model.engine().run();
    fmt::print("\n");
    const Finish& finish = written.sink->reply().finish;
    check(finish.reason != FinishReason::Failed, ErrorCode::Numeric, "{}", finish.error);
    json.print(json_of(written));
  }

  // Tokens that were asked for have to fit, unless the oldest may go.
  void check_room(LoadedModel& model, const std::string& text) const {
    const auto prompt_tokens = std::ssize(model.prompt_ids(text));
    const int64_t room = model.engine().max_tokens() - prompt_tokens;
    check(how.slide || tokens <= std::max<int64_t>(room, 0) || room <= 0, ErrorCode::Usage,
          "{} prompt tokens and {} new ones exceed the context of {}: ask for at most {}, or let "
          "--slide drop the oldest",
          prompt_tokens, tokens, model.engine().max_tokens() - 1, room);
  }

  // Lines in the order of the prompts, each once it is done.
  void write_all(LoadedModel& model, const std::vector<std::string>& many) const {
    std::deque<Written> open;
    int64_t failed = 0;
    const auto print_done = [&] {
      for (; !open.empty() && open.front().sink->is_done(); open.pop_front()) {
        fmt::print("{}\n", json_of(open.front()).dump());
        std::fflush(stdout);
        failed += open.front().sink->reply().finish.reason == FinishReason::Failed;
      }
    };
    for (const std::string& text : many) try {
        open.push_back(submit(model, text, {}));
      } catch (const Error& error) {
        throw error.during(fmt::format("{}, prompt {}", prompts, open.size() + 1));
      }
    while (model.engine().step()) print_done();
    print_done();
    check(failed == 0, ErrorCode::Numeric, "{} of {} replies failed: their lines say why", failed,
          many.size());
  }
};

}  // namespace

void add_generate(Command& app) {
  auto command = std::make_shared<GenerateCommand>();
  auto* generate = app.add_subcommand("generate", "write text with a trained model");
  command->chosen.add_path_to(*generate);
  generate->add_option("--prompt", command->prompt,
                       "text to continue, - reads it from standard input; empty: from BOS, or EOS "
                       "where there is none");
  generate->add_option("--prompts", command->prompts,
                       "file with a prompt a line, a JSON object with \"prompt\", a JSON string or "
                       "text; writes a line of JSON for each");
  generate
      ->add_option("--batch", command->batch, "with --prompts: replies that are written at once")
      ->capture_default_str()
      ->between(1, 1024);
  generate
      ->add_option("--tokens", command->tokens,
                   "new tokens at most; unless given, 200 or what the context has room for")
      ->positive();
  command->how.add_to(*generate);
  command->weights.add_to(*generate);
  command->chosen.device.add_to(*generate);
  command->json.add_to(*generate);
  generate->footer(
      "Filters apply in this order: logit bias, penalties, temperature, top-k, top-p, min-p. A "
      "seed's text does not depend on the other prompts.");
  generate->callback([command] { command->run(); });
}

}  // namespace ingot::cli
