#include "eval/prompts/prompt_set.h"

#include "core/text/python_text.h"

namespace ingot {
namespace {

constexpr int64_t kCompletionTokens = 48, kAnswerTokens = 12;

constexpr EvalPrompt kPrompts[] = {
    {"en", "Once upon a time, there was a", ""},
    {"en", "The most important thing about learning a new language is", ""},
    {"en", "To make a cup of tea, first", ""},
    {"en", "In 1969, the first humans", ""},
    {"en", "The difference between a virus and a bacterium is that", ""},
    {"en", "def fibonacci(n):\n", ""},
    {"zh", "从前，有一个", ""},
    {"zh", "学习一门新语言最重要的是", ""},
    {"zh", "泡茶的时候，首先要", ""},
    {"zh", "春天来了，", ""},
    {"zh", "人工智能是指", ""},
    {"zh", "床前明月光，", ""},
    {"en", "The capital of France is", "Paris"},
    {"en", "The capital of Japan is", "Tokyo"},
    {"en", "The largest planet of the solar system is", "Jupiter"},
    {"en", "The chemical symbol of gold is", "Au"},
    {"en", "Water freezes at zero degrees", "Celsius|C|centigrade"},
    {"en", "The author of \"Hamlet\" is", "William Shakespeare|Shakespeare"},
    {"en", "The opposite of hot is", "cold"},
    {"en", "The number of days in a week is", "seven|7"},
    {"en", "Two plus three equals", "five|5"},
    {"en", "The river that flows through Cairo is the", "Nile"},
    {"en", "If yesterday was Friday, then tomorrow will be", "Sunday"},
    {"en", "The theory of relativity was developed by", "Albert Einstein|Einstein"},
    {"zh", "中国的首都是", "北京"},
    {"zh", "日本的首都是", "东京"},
    {"zh", "太阳系中最大的行星是", "木星"},
    {"zh", "水的化学式是", "H2O|H₂O"},
    {"zh", "《红楼梦》的作者是", "曹雪芹|清代作家曹雪芹"},
    {"zh", "热的反义词是", "冷|“冷|\"冷"},
    {"zh", "一个星期有", "七天|7天|七|7"},
    {"zh", "二加三等于", "五|5"},
    {"zh", "中国最长的河流是", "长江"},
    {"zh", "世界上最高的山峰是", "珠穆朗玛峰"},
    {"zh", "中华人民共和国成立于", "1949|一九四九"},
    {"zh", "端午节在农历的", "五月初五|五月"},
};

bool begins_with_answer(std::string_view text, std::string_view answers) {
  const std::string_view begun = text::lstrip(text);
  std::string_view answer;
  while (text::next_piece(answers, '|', answer))
    if (begun.starts_with(answer)) return true;
  return false;
}

}  // namespace

std::span<const EvalPrompt> eval_prompts() {
  return kPrompts;
}

std::vector<PromptAnswer> answer_prompts(const PromptIds& ids, Scorer& scorer,
                                         const OnAnswer& on_answer) {
  std::vector<PromptAnswer> answers;
  for (const EvalPrompt& prompt : kPrompts) {
    const std::vector<int32_t> written = scorer.continue_greedily(
        ids.of(prompt.text), prompt.is_question() ? kAnswerTokens : kCompletionTokens,
        [](std::span<const int32_t>) { return false; });
    PromptAnswer answer{.prompt = &prompt, .text = ids.tokenizer.decode(written)};
    answer.is_correct = prompt.is_question() && begins_with_answer(answer.text, prompt.answers);
    on_answer(answer);
    answers.push_back(std::move(answer));
  }
  return answers;
}

}  // namespace ingot
