#include "eval/core/core_tasks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "core/error/error.h"
#include "eval/core/core_prompts.h"
#include "support/own_folder.h"
#include "support/source_path.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

const CoreTask& task_of(std::string_view label) {
  for (const CoreTask& task : core_tasks())
    if (task.label == label) return task;
  throw std::runtime_error("no such task");
}

std::vector<CoreExample> numbered(size_t count) {
  std::vector<CoreExample> examples(count);
  for (size_t i = 0; i < count; ++i) examples[i].line = i;
  return examples;
}

std::vector<size_t> first_lines(size_t count, size_t max_items = 0) {
  std::vector<size_t> lines;
  for (const CoreExample& example : core_order(numbered(count), max_items))
    if (lines.size() < 8) lines.push_back(example.line);
  return lines;
}

using Lines = std::vector<size_t>;

// Published by a reading of nanochat, computed with CPython 3.11.
TEST(CoreOrder, ItemsAreShuffledAsPublished) {
  EXPECT_EQ(first_lines(2376), (Lines{1556, 952, 1988, 2351, 2205, 539, 1516, 741}));
  EXPECT_EQ(first_lines(100), (Lines{83, 17, 10, 9, 89, 52, 7, 32}));
  EXPECT_EQ(first_lines(32), (Lines{4, 17, 16, 0, 2, 21, 7, 15}));
  EXPECT_EQ(first_lines(10042), (Lines{8547, 6745, 5202, 8796, 2773, 4759, 9612, 5853}));
  EXPECT_EQ(first_lines(20321), (Lines{1894, 11899, 11796, 19943, 17249, 12619, 18785, 9978}));
  EXPECT_EQ(first_lines(10000), (Lines{6333, 7241, 1279, 8054, 3889, 4437, 1600, 133}));
}

TEST(CoreOrder, FewShotExamplesAreDrawnAsPublished) {
  const CoreTask& ten = task_of("arc_easy");
  EXPECT_EQ(core_shots(ten, 2376, 0), (Lines{1806, 479, 31, 372, 144, 344, 404, 1453, 970, 72}));
  EXPECT_EQ(core_shots(ten, 2376, 1),
            (Lines{1740, 2194, 1926, 1603, 611, 1430, 1776, 873, 405, 1685}));
  EXPECT_EQ(core_shots(ten, 32, 0), (Lines{31, 25, 15, 4, 1, 3, 19, 2, 22, 26}));
  EXPECT_EQ(core_shots(ten, 32, 1), (Lines{30, 23, 14, 18, 27, 19, 16, 13, 5, 12}));
  EXPECT_EQ(core_shots(ten, 500, 0), (Lines{495, 399, 226, 60, 4, 47, 467, 483, 481, 414}));
  EXPECT_EQ(core_shots(ten, 500, 499), (Lines{70, 271, 272, 9, 25, 455, 20, 403, 91, 293}));
  EXPECT_EQ(core_shots(task_of("agi_eval_lsat_ar"), 230, 1), (Lines{177, 109, 138}));
  EXPECT_TRUE(core_shots(task_of("copa"), 100, 0).empty());
}

TEST(CoreOrder, CutsBeforeExamplesAreDrawn) {
  EXPECT_EQ(core_order(numbered(2376), 500).size(), 500u);
  EXPECT_EQ(first_lines(2376, 500), first_lines(2376));
  EXPECT_THROW(core_shots(task_of("arc_easy"), 10, 0), Error);
}

// The score of a task is what published logs say of its accuracy.
TEST(CoreTasks, AccuracyIsCentredAsPublished) {
  const auto v1 = [](std::string_view label, double accuracy) {
    return centred(accuracy, task_of(label).baseline_v1);
  };
  EXPECT_NEAR(v1("commonsense_qa", 0.285012), 0.106265, 2e-6);
  EXPECT_NEAR(v1("agi_eval_lsat_ar", 0.269565), 0.086956, 2e-6);
  EXPECT_NEAR(v1("bigbench_language_identification", 0.2523), 0.177448, 2e-6);
  EXPECT_NEAR(v1("boolq", 0.542813), -0.203123, 2e-6);
}

TEST(CorePrompts, AreRenderedAsPublished) {
  CoreTask task = task_of("arc_easy");
  task.shots = 1;
  const std::vector<CoreExample> questions = {
      {.text = "Question: 1+1?\n", .options = {"two", "three"}, .gold = 0},
      {.text = "Question: 2+2?\n", .options = {"three", "four"}, .gold = 1}};
  EXPECT_EQ(core_prompts(task, questions, 0),
            (std::vector<std::string>{
                "Question: 2+2?\n\nAnswer: four\n\nQuestion: 1+1?\n\nAnswer: two",
                "Question: 2+2?\n\nAnswer: four\n\nQuestion: 1+1?\n\nAnswer: three"}));

  task = task_of("winograd");
  const std::vector<CoreExample> schema = {
      {.text = "fell over.", .options = {"because the dog", "because the cat"}, .gold = 1}};
  EXPECT_EQ(core_prompts(task, schema, 0),
            (std::vector<std::string>{"because the dog fell over.", "because the cat fell over."}));

  task = task_of("bigbench_operators");
  task.shots = 1;
  const std::vector<CoreExample> texts = {{.text = " op 1 =\n", .continuation = "2"},
                                          {.text = "\nop 2 = ", .continuation = " 4 "}};
  // The prompt without the answer is stripped at both ends, the one with it is not.
  EXPECT_EQ(core_prompts(task, texts, 1),
            (std::vector<std::string>{"op 1 = 2\n\nop 2 =", "op 1 = 2\n\nop 2 =  4 "}));
}

TEST(CoreItems, OnlyWhatTellsOptionsApartIsScored) {
  const auto tokenizer = byte_tokenizer();
  const PromptIds ids{*tokenizer, tokenizer->bos()};
  const auto scored_from = [&](std::string_view label, const std::vector<std::string>& prompts) {
    std::vector<size_t> first;
    for (const ScoredSequence& s : core_item(task_of(label), prompts, ids).sequences.sequences)
      first.push_back(s.first_scored);
    return first;
  };
  // BOS is token 0. Choices: behind what all begin with; a schema: what all end with.
  EXPECT_EQ(scored_from("copa", {"so it fell", "so it flew", "so he ran"}), (Lines{4, 4, 4}));
  EXPECT_EQ(scored_from("winograd", {"the dog ran", "a cow ran"}), (Lines{8, 6}));
  EXPECT_EQ(scored_from("squad", {"4 =", "4 = 5"}), (Lines{4}));
  EXPECT_FALSE(core_item(task_of("squad"), {"4 = ", "4 =\n"}, ids).prefix_holds);
  EXPECT_FALSE(core_item(task_of("squad"), {"4 =", "4 ="}, ids).prefix_holds);
}

class CoreFiles : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string write(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  std::string error_of(CoreKind kind, std::string_view text) {
    try {
      read_core_file(*posix_storage(), write("x.jsonl", text), kind);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  fs::path folder_ = testing_support::own_folder();
};

TEST_F(CoreFiles, AreFoundInBothLayouts) {
  write("local_data/world_knowledge/arc_easy.jsonl", "{}");
  write("eval_data/commonsense_reasoning/copa.jsonl", "{}");
  write("boolq.jsonl", "{}");
  size_t found = 0;
  const std::vector<std::string> paths = find_core_files(folder_.string());
  for (size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty()) continue;
    ++found;
    EXPECT_TRUE(paths[i].ends_with(core_tasks()[i].file)) << paths[i];
  }
  EXPECT_EQ(found, 3u);
  write("other/boolq.jsonl", "{}");
  EXPECT_THROW(find_core_files(folder_.string()), Error);
}

TEST_F(CoreFiles, ErrorsNameLineAndField) {
  const std::string good = "{\"query\": \"q\", \"choices\": [\"a\", \"b\"], \"gold\": 1}\n";
  EXPECT_EQ(error_of(CoreKind::MultipleChoice, good + "\n"), "");
  const auto expect = [&](CoreKind kind, const std::string& line, const std::string& words) {
    const std::string error = error_of(kind, (kind == CoreKind::MultipleChoice ? good : "") + line);
    EXPECT_NE(error.find(words), std::string::npos) << error;
  };
  expect(CoreKind::MultipleChoice, "{\"query\": \"q\", \"gold\": 1}", "line 2: \"choices\"");
  expect(CoreKind::MultipleChoice, "{\"choices\": [\"a\"], \"gold\": 0}", "\"query\" is missing");
  expect(CoreKind::MultipleChoice, "{\"query\": \"q\", \"choices\": [\"a\"], \"gold\": 1}",
         "\"gold\": expected 0 to 0, got 1");
  expect(CoreKind::MultipleChoice, "not json", "line 2: expected a JSON object");
  expect(CoreKind::Schema, "{\"continuation\": \"c\", \"gold\": 0}", "\"context_options\"");
  expect(CoreKind::LanguageModeling, "{\"context\": \"c\"}", "\"continuation\" is missing");
  expect(CoreKind::LanguageModeling, "", "no examples");
}

// What is built in is what the original files say.
TEST(CoreTasks, TableEqualsTheOriginalFiles) {
  const fs::path folder = testing_support::source_path("../shared/data/core");
  if (!fs::exists(folder)) GTEST_SKIP() << "needs ../shared/data/core";
  const auto text_of = [&](const char* name) {
    std::ifstream file(folder / name);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const auto baselines = [&](const char* name) {
    std::map<std::string, double> by_task;
    std::istringstream lines(text_of(name));
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> fields;
      std::istringstream rest(line);
      for (std::string field; fields.size() < 6 && std::getline(rest, field, ',');)
        fields.push_back(field);
      if (fields.size() == 6) by_task[fields[0]] = std::atof(fields[5].c_str());
    }
    return by_task;
  };
  const std::string yaml = text_of("core_tasks.yaml");
  auto v1 = baselines("baselines_v1.csv"), v2 = baselines("baselines_v2.csv");
  size_t tasks = 0;
  for (size_t at = yaml.find("label: "); at != std::string::npos; ++tasks) {
    const size_t end = yaml.find("label: ", at + 1);
    const std::string entry = yaml.substr(at, end - at);
    at = end;
    const std::string label = entry.substr(7, entry.find('\n') - 7);
    if (label == "mmlu_fewshot") continue;
    const CoreTask& task = task_of(label);
    EXPECT_NE(entry.find("/" + std::string(task.file) + "\n"), std::string::npos) << entry;
    EXPECT_NE(entry.find(fmt::format("num_fewshot: [{}]", task.shots)), std::string::npos) << entry;
    EXPECT_EQ(entry.find("\\nAnswer: ") != std::string::npos, task.delimiter == "\nAnswer: ");
    const char* kinds[] = {"multiple_choice", "schema", "language_modeling"};
    EXPECT_NE(entry.find(kinds[static_cast<int>(task.kind)]), std::string::npos) << entry;
    EXPECT_EQ(task.baseline_v1, v1.at(label)) << label;
    EXPECT_EQ(task.baseline_v2, v2.at(label)) << label;
  }
  EXPECT_EQ(tasks, core_tasks().size() + 1);
}

}  // namespace
}  // namespace ingot
