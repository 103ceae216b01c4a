// A task as lm-evaluation-harness describes it: documents, and templates that turn each document
// into a prompt, an answer and choices.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "tokenizer/chat/text_template.h"
#include "tokenizer/chat/value.h"

namespace ingot {

enum class HarnessKind { MultipleChoice, Loglikelihood, LoglikelihoodRolling, GenerateUntil };

// doc_to_text and similar keys: the name of a field, a template, or a value.
class DocField {
 public:
  DocField() = default;
  // `value`: from the task file. `fields`: names of the documents' fields. `gives_number`: digits
  // are read as a number, as the harness does if there are choices.
  DocField(const nlohmann::ordered_json& value, const std::vector<std::string>& fields,
           bool gives_number, const std::string& origin);

  bool is_given() const { return kind_ != Kind::None; }
  // The value for `document`, a dict.
  chat::Value of(const chat::Value& document) const;
  std::string text_of(const chat::Value& document) const;  // throws if the value is no text
  // Also reads a list that is written as text.
  std::vector<std::string> list_of(const chat::Value& document) const;

 private:
  enum class Kind { None, Field, Template, Value };
  Kind kind_ = Kind::None;
  std::string origin_, field_;
  bool gives_number_ = false;
  std::shared_ptr<const chat::TextTemplate> template_;
  chat::Value value_;
};

struct HarnessTask {
  std::string name = {}, path = {};
  HarnessKind kind = HarnessKind::MultipleChoice;
  std::vector<chat::Value> documents = {};  // the split that is evaluated
  DocField text = {}, target = {}, choice = {}, description = {}, gen_prefix = {};
  std::string target_delimiter = " ", fewshot_delimiter = "\n\n";

  size_t num_fewshot = 0;
  std::vector<chat::Value> fewshot_documents = {};
  bool is_first_n = false;       // few-shot examples are the first documents, not drawn
  bool excludes_itself = false;  // examples come from the evaluated split: never the item itself
  DocField fewshot_text = {}, fewshot_target = {}, fewshot_choice = {}, fewshot_gen_prefix = {};
  std::string fewshot_target_delimiter = " ", fewshot_item_delimiter = "\n\n";

  std::vector<std::string> until = {};  // texts that end generation
  int64_t max_new_tokens = 256;
  struct ExactMatch {
    bool ignore_case = false, ignore_punctuation = false, ignore_numbers = false;
    std::vector<std::string> regexes_to_ignore = {};
  } exact_match = {};
};

// Reads the task file at `path` and its documents. dataset_kwargs.data_files names them: JSON
// lines or a JSON array, relative to the working folder (as in the harness) or to the task file.
// Throws ErrorCode::Data, naming the key, if a required key is missing or a key is not
// supported.
HarnessTask read_harness_task(Storage& storage, const std::string& path);

}  // namespace ingot
