#include "eval/core/core_tasks.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/json/json_integer.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kSpace = " ", kAnswer = "\nAnswer: ";
constexpr auto kChoice = CoreKind::MultipleChoice;
constexpr auto kText = CoreKind::LanguageModeling;

constexpr CoreTask kTasks[] = {
    {"hellaswag_zeroshot", "hellaswag.jsonl", kChoice, 0, kSpace, 25, 25},
    {"jeopardy", "jeopardy_all.jsonl", kText, 10, kAnswer, 0, 0},
    {"bigbench_qa_wikidata", "bigbench_qa_wikidata.jsonl", kText, 10, kSpace, 0, 0},
    {"arc_easy", "arc_easy.jsonl", kChoice, 10, kAnswer, 25, 25},
    {"arc_challenge", "arc_challenge.jsonl", kChoice, 10, kAnswer, 25, 25},
    {"copa", "copa.jsonl", kChoice, 0, kSpace, 50, 50},
    {"commonsense_qa", "commonsense_qa.jsonl", kChoice, 10, kSpace, 20, 40.3},
    {"piqa", "piqa.jsonl", kChoice, 10, kAnswer, 50, 50},
    {"openbook_qa", "openbook_qa.jsonl", kChoice, 0, kSpace, 25, 25},
    {"lambada_openai", "lambada_openai.jsonl", kText, 0, kSpace, 0, 0},
    {"hellaswag", "hellaswag.jsonl", kChoice, 10, kSpace, 25, 25},
    {"winograd", "winograd_wsc.jsonl", CoreKind::Schema, 0, kSpace, 50, 50},
    {"winogrande", "winogrande.jsonl", CoreKind::Schema, 0, kSpace, 50, 50},
    {"bigbench_dyck_languages", "bigbench_dyck_languages.jsonl", kText, 10, kSpace, 0, 0},
    {"agi_eval_lsat_ar", "agi_eval_lsat_ar.jsonl", kChoice, 3, kSpace, 20, 25},
    {"bigbench_cs_algorithms", "bigbench_cs_algorithms.jsonl", kText, 10, kSpace, 0, 0},
    {"bigbench_operators", "bigbench_operators.jsonl", kText, 10, kSpace, 0, 0},
    {"bigbench_repeat_copy_logic", "bigbench_repeat_copy_logic.jsonl", kText, 10, kSpace, 0, 0},
    {"squad", "squad.jsonl", kText, 10, kSpace, 0, 0},
    {"coqa", "coqa.jsonl", kText, 0, kSpace, 0, 0},
    {"boolq", "boolq.jsonl", kChoice, 10, kAnswer, 62, 62},
    {"bigbench_language_identification", "bigbench_language_identification.jsonl", kChoice, 10,
     kSpace, 9.1, 25},
};

std::string text_at(const Json& object, const char* field) {
  check(object.contains(field), ErrorCode::Data, "\"{}\" is missing", field);
  check(object[field].is_string(), ErrorCode::Data, "\"{}\": expected a text", field);
  return object[field].get<std::string>();
}

CoreExample parsed(const std::string& line, CoreKind kind) {
  const Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  check(object.is_object(), ErrorCode::Data, "expected a JSON object");
  CoreExample example;
  if (kind == CoreKind::LanguageModeling) {
    example.text = text_at(object, "context");
    example.continuation = text_at(object, "continuation");
    return example;
  }
  const bool is_schema = kind == CoreKind::Schema;
  const char* options = is_schema ? "context_options" : "choices";
  example.text = text_at(object, is_schema ? "continuation" : "query");
  check(object.contains(options) && object[options].is_array() && !object[options].empty(),
        ErrorCode::Data, "\"{}\": expected a list of texts", options);
  for (const Json& option : object[options]) {
    check(option.is_string(), ErrorCode::Data, "\"{}\": expected a list of texts", options);
    example.options.push_back(option.get<std::string>());
  }
  check(object.contains("gold") && object["gold"].is_number_integer(), ErrorCode::Data,
        "\"gold\": expected the number of the right one of \"{}\"", options);
  const int64_t gold = integer_of(object["gold"]);
  check(0 <= gold && gold < std::ssize(example.options), ErrorCode::Data,
        "\"gold\": expected 0 to {}, got {}", example.options.size() - 1, gold);
  example.gold = static_cast<size_t>(gold);
  return example;
}

}  // namespace

std::span<const CoreTask> core_tasks() {
  return kTasks;
}

double centred(double accuracy, double baseline_percent) {
  return (accuracy - 0.01 * baseline_percent) / (1 - 0.01 * baseline_percent);
}

std::vector<CoreExample> read_core_file(Storage& storage, const std::string& path, CoreKind kind) {
  const std::string contents = read_text(storage, path);
  std::vector<CoreExample> examples;
  std::string_view rest = contents;
  for (size_t number = 0; !rest.empty(); ++number) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string line(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      examples.push_back(parsed(line, kind));
    } catch (const Error& error) {
      throw Error(ErrorCode::Data, fmt::format("{}, line {}: {}", path, number + 1, error.what()));
    }
    examples.back().line = number;
  }
  check(!examples.empty(), ErrorCode::Data, "{}: no examples", path);
  return examples;
}

std::vector<std::string> find_core_files(const std::string& folder) {
  namespace fs = std::filesystem;
  constexpr int kMostDepth = 4;  // published sets are two folders deep; a whole disk is none
  std::vector<std::string> found(std::size(kTasks));
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  check(!error, ErrorCode::Data, "{}: {}", folder, error.message());
  for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
    check(!error, ErrorCode::Data, "{}: {}", folder, error.message());
    if (at.depth() >= kMostDepth) at.disable_recursion_pending();
    const std::string name = at->path().filename().string(), path = at->path().string();
    for (size_t i = 0; i < std::size(kTasks); ++i) {
      if (name != kTasks[i].file) continue;
      check(found[i].empty(), ErrorCode::Data,
            "{} and {}: a task's file is there twice: give the folder that holds the right one",
            found[i], path);
      found[i] = path;
    }
  }
  return found;
}

}  // namespace ingot
