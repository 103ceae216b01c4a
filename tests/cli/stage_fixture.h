// A folder with documents for the stages of data preparation, and what a test asks of their
// outputs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "cli/process.h"
#include "ingest/read/document_reader.h"
#include "support/own_folder.h"

namespace ingot::test {

namespace fs = std::filesystem;
using nlohmann::json;
using Args = std::vector<std::string>;

// Sentences that pass the filters, with words in another order each time.
inline std::string prose(std::mt19937& random, int sentences) {
  static const char* kWords[] = {"the",     "river",   "and",     "winter", "have",
                                 "morning", "that",    "house",   "with",   "quiet",
                                 "letters", "between", "garden",  "of",     "voices",
                                 "to",      "open",    "distant", "be",     "evening"};
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    for (int k = 0; k < 12; ++k) {
      text += kWords[random() % std::size(kWords)];
      text += random() % 40 == 7 ? ", " : " ";
    }
    text += "end" + std::to_string(random() % 100000) + ".";
    text += i % 4 == 3 ? "\n" : " ";
  }
  return text;
}

class StageFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_ / "in/deeper");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string path(const std::string& name) const { return (root_ / name).string(); }
  Outcome ingot(const Args& args) const { return run_ingot(args, root_); }
  void write_lines(const std::string& name, const std::vector<json>& lines) const {
    std::ofstream file(root_ / name, std::ios::binary);
    for (const json& line : lines) file << line.dump() << "\n";
  }

  // Nine files with prose, copies, near-copies and what the filters remove.
  void write_corpus() const {
    std::mt19937 random(1);
    std::vector<std::string> texts;
    for (int f = 0; f < 9; ++f) {
      std::vector<json> lines;
      for (int i = 0; i < 60; ++i) {
        std::string text = prose(random, 30);
        if (i % 7 == 3 && !texts.empty()) text = texts[random() % texts.size()];
        if (i % 7 == 4 && !texts.empty()) {
          text = texts[random() % texts.size()];
          text.replace(text.size() / 2, 5, "other");
        }
        if (i % 10 == 9) text = "too short <b>&amp;</b>";
        if (i % 10 == 8) text += " lorem ipsum is a text that nobody reads.";
        texts.push_back(text);
        lines.push_back({{"text", text}, {"id", std::to_string(f) + "-" + std::to_string(i)}});
      }
      const std::string folder = f % 2 == 0 ? "in/" : "in/deeper/";
      write_lines(folder + std::to_string(f) + ".jsonl", lines);
    }
  }

  // A task whose first answer stands in a document of the corpus.
  void write_task() const {
    std::ifstream file(root_ / "in/2.jsonl");
    std::string line;
    std::getline(file, line);
    const std::string text = json::parse(line)["text"];
    write_lines("task.jsonl", {{{"query", "What was said?"},
                                {"choices", {"no", text.substr(0, text.find('.'))}},
                                {"gold", 1}}});
  }

  // Every file that a stage promises, by name; a killed process leaves others aside.
  std::map<std::string, std::string> tree(const std::string& out) const {
    static const std::set<std::string> kPromised = {".zst",   ".json",      ".html",   ".tokens",
                                                    ".names", ".documents", ".hashes", ""};
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(root_ / out)) {
      const std::string name = fs::relative(entry.path(), root_ / out).string();
      if (entry.is_regular_file() && kPromised.contains(entry.path().extension()) &&
          !name.starts_with("work/")) {
        files[name] = slurp(entry.path());
      }
    }
    return files;
  }

  // Files and folders in `out`, which may come and go meanwhile.
  int64_t num_files(const std::string& out) const {
    int64_t count = 0;
    std::error_code ignored;
    for (fs::recursive_directory_iterator it(root_ / out, ignored), end; it != end;
         it.increment(ignored)) {
      ++count;
    }
    return count;
  }

  std::map<std::string, std::string> documents(const std::string& folder) const {
    std::map<std::string, std::string> texts;
    Document document;
    for (const InputFile& file : list_input_files({path(folder)})) {
      const auto reader = open_documents(file, {});
      while (reader->next(document)) texts[document.id] = document.text;
    }
    return texts;
  }

  static Args with(Args args, const Args& more) {
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }

  fs::path root_;
};

}  // namespace ingot::test
