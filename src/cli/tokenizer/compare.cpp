// ingot tokenizer compare
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli/frame/command.h"
#include "cli/text_documents.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/storage/storage.h"
#include "ingest/clean/language/language.h"
#include "tokenizer/unicode/unicode_classes.h"

namespace ingot::cli {
namespace {

// What one script's text has, and how many tokens each tokenizer makes of it.
struct ScriptCounts {
  int64_t bytes = 0, characters = 0, words = 0;
  std::vector<int64_t> tokens;

  void add(std::string_view text, const std::vector<std::unique_ptr<Tokenizer>>& tokenizers) {
    bytes += static_cast<int64_t>(text.size());
    tokens.resize(tokenizers.size());
    for (size_t i = 0; i < tokenizers.size(); ++i) {
      tokens[i] += static_cast<int64_t>(tokenizers[i]->encode(text).size());
    }
    bool in_word = false;
    while (!text.empty()) {
      const Character c = first_character(text);
      const bool is_space = c.classes & kSpace;
      words += !is_space && !in_word ? 1 : 0;
      in_word = !is_space;
      ++characters;
      text.remove_prefix(c.size);
    }
  }
  void add(const ScriptCounts& other) {
    bytes += other.bytes;
    characters += other.characters;
    words += other.words;
    tokens.resize(std::max(tokens.size(), other.tokens.size()));
    for (size_t i = 0; i < other.tokens.size(); ++i) tokens[i] += other.tokens[i];
  }
};

// The script that most letters of a text are of.
class ScriptOfText {
 public:
  const std::string& operator()(std::string_view text) {
    detector_->score(text, scores_);
    const auto best = std::max_element(scores_.begin(), scores_.end());
    return *best > 0 ? detector_->labels()[static_cast<size_t>(best - scores_.begin())] : kNone;
  }

 private:
  const std::string kNone = "none";  // no letters
  std::unique_ptr<const LanguageDetector> detector_ = make_script_detector();
  std::vector<float> scores_;
};

struct CompareCommand {
  std::vector<std::string> tokenizers, inputs;
  std::string split;
  ReadOptions read;
  JsonOption json;

  void run() const {
    std::vector<std::unique_ptr<Tokenizer>> loaded;
    for (const std::string& path : tokenizers) loaded.push_back(load_tokenizer(path, split));
    const auto by_script = count(loaded);
    ScriptCounts all;
    for (const auto& [script, counts] : by_script) all.add(counts);

    fmt::print("{:<8} {:>12} {:>12} {:>8} {:>9} {:>9}  tokenizer\n", "script", "bytes", "tokens",
               "B/token", "tok/word", "tok/char");
    nlohmann::json rows = nlohmann::json::array();
    print("all", all, rows);
    if (by_script.size() > 1) {
      for (const auto& [script, counts] : largest_first(by_script)) print(script, counts, rows);
    }
    json.print({{"rows", rows}});
  }

 private:
  using ByScript = std::map<std::string, ScriptCounts>;

  // A line is the unit: longer texts mix scripts, and in shorter ones few tokens are whole.
  ByScript count(const std::vector<std::unique_ptr<Tokenizer>>& loaded) const {
    ByScript by_script;
    ScriptOfText script_of;
    std::string document;
    TextDocuments documents(inputs, read);
    while (documents.next(document)) {
      for (std::string_view rest = document; !rest.empty();) {
        const size_t size = std::min(rest.find('\n'), rest.size() - 1) + 1;
        const std::string_view line = rest.substr(0, size);
        by_script[script_of(line)].add(line, loaded);
        rest.remove_prefix(size);
      }
    }
    documents.report();
    return by_script;
  }

  static std::vector<std::pair<std::string, ScriptCounts>> largest_first(const ByScript& scripts) {
    std::vector<std::pair<std::string, ScriptCounts>> sorted(scripts.begin(), scripts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
    return sorted;
  }

  void print(const std::string& script, const ScriptCounts& counts, nlohmann::json& rows) const {
    const auto ratio = [](int64_t a, int64_t b) {
      return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
    };
    for (size_t i = 0; i < counts.tokens.size(); ++i) {
      const int64_t tokens = counts.tokens[i];
      const double per_token = ratio(counts.bytes, tokens), per_word = ratio(tokens, counts.words),
                   per_character = ratio(tokens, counts.characters);
      fmt::print("{:<8} {:>12} {:>12} {:>8.3f} {:>9.3f} {:>9.3f}  {}\n", script, counts.bytes,
                 tokens, per_token, per_word, per_character, file_name(tokenizers[i]));
      rows.push_back({{"script", script},
                      {"tokenizer", tokenizers[i]},
                      {"bytes", counts.bytes},
                      {"characters", counts.characters},
                      {"words", counts.words},
                      {"tokens", tokens},
                      {"bytes_per_token", per_token},
                      {"tokens_per_word", per_word},
                      {"tokens_per_character", per_character}});
    }
  }
};

}  // namespace

void add_tokenizer_compare(Command& tokenizer) {
  auto command = std::make_shared<CompareCommand>();
  auto* compare = tokenizer.add_subcommand(
      "compare", "compression of several tokenizers on the same text, by script");
  compare->footer(
      "More bytes per token is better. Tokens per word (fertility) counts what lies between "
      "spaces,\nso for Chinese, Japanese or Thai look at tokens per character.");
  compare->add_option("--tokenizer", command->tokenizers, "as for encode; repeatable")
      ->required()
      ->allow_extra_args(false);
  compare
      ->add_option("--split", command->split, "pattern that splits text, if a file does not say it")
      ->one_of(split_names());
  compare->add_option("input", command->inputs, "as for train")->required();
  command->read.add_to(*compare);
  command->json.add_to(*compare);
  compare->callback([command] { command->run(); });
}

}  // namespace ingot::cli
