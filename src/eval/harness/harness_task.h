// A task as lm-evaluation-harness describes it: documents, and templates that make a prompt, an
// answer and choices of each.
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

// doc_to_text and its like: the name of a field, a template, or a value.
class DocField {
 public:
  DocField() = default;
  // `value`: as the file has it. `fields`: of the documents. `gives_number`: digits are a number,
  // as the harness reads them where there are choices.
  DocField(const nlohmann::ordered_json& value, const std::vector<std::string>& fields,
           bool gives_number, const std::string& origin);

  bool is_given() const { return kind_ != Kind::None; }
  // Of a document, a dict.
  chat::Value of(const chat::Value& document) const;
  std::string text_of(const chat::Value& document) const;               // throws if it is no text
  std::vector<std::string> list_of(const chat::Value& document) const;  // also a list as its text

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
  std::vector<chat::Value> documents = {};  // of the split that is evaluated
  DocField text = {}, target = {}, choice = {}, description = {}, gen_prefix = {};
  std::string target_delimiter = " ", fewshot_delimiter = "\n\n";

  size_t num_fewshot = 0;
  std::vector<chat::Value> fewshot_documents = {};
  bool is_first_n = false;       // they are the first ones instead of drawn
  bool excludes_itself = false;  // an item is not an example of itself: both are of one split
  DocField fewshot_text = {}, fewshot_target = {}, fewshot_choice = {}, fewshot_gen_prefix = {};
  std::string fewshot_target_delimiter = " ", fewshot_item_delimiter = "\n\n";

  std::vector<std::string> until = {};  // of generated text
  int64_t max_new_tokens = 256;
  struct ExactMatch {
    bool ignore_case = false, ignore_punctuation = false, ignore_numbers = false;
    std::vector<std::string> regexes_to_ignore = {};
  } exact_match = {};
};

// Reads the task file at `path` and its documents: JSON lines or a JSON array, named by
// dataset_kwargs.data_files, relative to the working folder as in the harness or to the task file.
// Throws ErrorCode::Data, naming the key, for what a task needs and does not have, and for what is
// not supported.
HarnessTask read_harness_task(Storage& storage, const std::string& path);

}  // namespace ingot
