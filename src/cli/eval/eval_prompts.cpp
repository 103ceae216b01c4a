#include "cli/eval/eval_prompts.h"

#include <fmt/format.h>

#include "core/text/printable.h"

namespace ingot::cli {

std::string shown_on_one_line(std::string_view text) {
  std::string line;
  for (const char c : printable(text)) line += c == '\n' ? std::string("⏎") : std::string(1, c);
  return line;
}

QuestionCount right_answers(const std::vector<PromptAnswer>& answers, std::string_view language) {
  QuestionCount count;
  for (const PromptAnswer& answer : answers) {
    const bool counts =
        answer.prompt->is_question() && (language.empty() || answer.prompt->language == language);
    count.all += counts;
    count.right += counts && answer.is_correct;
  }
  return count;
}

nlohmann::ordered_json run_prompts(EvalModel& model, ItemLog& log) {
  auto list = nlohmann::ordered_json::array();
  const std::vector<PromptAnswer> answers =
      answer_prompts(model.prompt_ids(), model.scorer(), [&](const PromptAnswer& answer) {
        const EvalPrompt& prompt = *answer.prompt;
        const char* mark = !prompt.is_question() ? " " : answer.is_correct ? "+" : "-";
        fmt::print("{} {} «{}» {}\n", mark, prompt.language, shown_on_one_line(prompt.text),
                   shown_on_one_line(answer.text));
        std::fflush(stdout);
        nlohmann::ordered_json item = {
            {"prompt", prompt.text}, {"language", prompt.language}, {"text", answer.text}};
        if (prompt.is_question()) item["correct"] = answer.is_correct;
        log.write(item);
        list.push_back(std::move(item));
      });
  nlohmann::ordered_json result = {{"prompts", std::move(list)}};
  for (const std::string_view language : {"en", "zh"}) {
    const QuestionCount count = right_answers(answers, language);
    fmt::print("questions ({}): {} of {} right\n", language, count.right, count.all);
    result[fmt::format("right_{}", language)] = count.right;
    result[fmt::format("questions_{}", language)] = count.all;
  }
  return result;
}

}  // namespace ingot::cli
