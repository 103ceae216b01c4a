#include "eval/harness/harness_task.h"

#include <filesystem>
#include <map>

#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "eval/harness/yaml_file.h"

namespace ingot {
namespace {

using Json = nlohmann::ordered_json;
using Documents = std::vector<chat::Value>;

class TaskReader {
 public:
  TaskReader(Storage& storage, const std::string& path)
      : storage_(storage), path_(path), config_(read_task_yaml(path)) {}

  HarnessTask read() {
    HarnessTask task{.name = text_or("task", std::filesystem::path(path_).stem().string()),
                     .path = path_};
    check(!config_.contains("group") && !config_.contains("task_list") && task_is_one(),
          ErrorCode::Data, "{}: a group of tasks: give the files of its tasks", path_);
    for (const char* key : {"process_results", "use_prompt", "doc_to_image", "doc_to_audio",
                            "process_docs", "custom_dataset", "filter_list"})
      check(!has(key), ErrorCode::Data, "{}: {} is not supported", path_, key);
    task.kind = kind();
    read_splits(task);
    read_fields(task);
    read_fewshot(task);
    if (task.kind == HarnessKind::GenerateUntil) read_generation(task);
    return task;
  }

 private:
  bool has(const char* key) const { return config_.contains(key) && !config_[key].is_null(); }
  bool task_is_one() const { return !has("task") || config_["task"].is_string(); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::Data, fmt::format("{}: {}", path_, what));
  }
  std::string text_or(const Json& object, const char* key, const std::string& otherwise) const {
    if (!object.contains(key) || object[key].is_null()) return otherwise;
    if (!object[key].is_string()) refuse(fmt::format("{}: expected a text", key));
    return object[key].get<std::string>();
  }
  std::string text_or(const char* key, const std::string& otherwise) const {
    return text_or(config_, key, otherwise);
  }

  HarnessKind kind() const {
    const std::string name = text_or("output_type", "generate_until");
    if (name == "multiple_choice") return HarnessKind::MultipleChoice;
    if (name == "loglikelihood") return HarnessKind::Loglikelihood;
    if (name == "loglikelihood_rolling") return HarnessKind::LoglikelihoodRolling;
    if (name == "generate_until") return HarnessKind::GenerateUntil;
    refuse(
        fmt::format("output_type: expected multiple_choice, loglikelihood, loglikelihood_rolling "
                    "or generate_until, got {}",
                    name));
  }

  // ---- documents

  std::string file_at(const std::string& name) const {
    namespace fs = std::filesystem;
    if (fs::exists(name)) return name;
    const fs::path beside = fs::path(path_).parent_path() / name;
    if (!fs::exists(beside)) refuse(fmt::format("data_files: {}: no such file", name));
    return beside.string();
  }

  Documents read_file(const std::string& name) const {
    const std::string file = file_at(name), contents = read_text(storage_, file);
    Documents documents;
    const auto add = [&](std::string_view json, size_t line) {
      const std::string place = line > 0 ? fmt::format("{}, line {}", file, line) : file;
      documents.push_back(chat::parse_json(json, place));
      check(documents.back().as_dict() != nullptr, ErrorCode::Data, "{}: expected a JSON object",
            place);
    };
    const size_t begin = contents.find_first_not_of(" \t\r\n");
    if (begin != std::string::npos && contents[begin] == '[') {
      const Json list = Json::parse(contents, nullptr, /*allow_exceptions=*/false);
      check(list.is_array(), ErrorCode::Data, "{}: expected JSON lines or a JSON array", file);
      for (const Json& item : list) add(item.dump(), 0);
      return documents;
    }
    size_t line = 0;
    for (std::string_view rest = contents; !rest.empty();) {
      const std::string_view text = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(text.size() + 1, rest.size()));
      ++line;
      if (text.find_first_not_of(" \t\r") != std::string_view::npos) add(text, line);
    }
    return documents;
  }

  const Documents& split(const std::string& name) {
    if (const auto found = splits_.find(name); found != splits_.end()) return found->second;
    const std::string dataset = text_or("dataset_path", "");
    const bool is_local = dataset == "json" && has("dataset_kwargs") &&
                          config_["dataset_kwargs"].is_object() &&
                          config_["dataset_kwargs"].contains("data_files");
    if (!is_local)
      refuse(
          fmt::format("dataset_path: {}: data are not downloaded: save them as JSON lines, and "
                      "write dataset_path: json and dataset_kwargs: {{data_files: {{{}: FILE}}}}",
                      dataset.empty() ? "it is missing" : dataset, name));
    const Json& files = config_["dataset_kwargs"]["data_files"];
    Json of_split = files;
    if (files.is_object()) {
      if (!files.contains(name)) refuse(fmt::format("data_files: there is no split «{}»", name));
      of_split = files[name];
    } else if (name != "train") {  // as datasets names what has no name
      refuse(fmt::format("data_files: without names of splits it is «train», not «{}»", name));
    }
    Documents& documents = splits_[name];
    if (of_split.is_string()) of_split = Json::array({of_split});
    for (const Json& file : of_split) {
      if (!file.is_string()) refuse("data_files: expected paths of files");
      for (chat::Value& document : read_file(file.get<std::string>()))
        documents.push_back(std::move(document));
    }
    if (documents.empty()) refuse(fmt::format("data_files: the split «{}» has no documents", name));
    return documents;
  }

  void read_splits(HarnessTask& task) {
    const std::string test = text_or("test_split", ""), valid = text_or("validation_split", "");
    if (test.empty() && valid.empty())
      refuse("test_split is missing, and validation_split: name the split that is evaluated");
    task.documents = split(test.empty() ? valid : test);
    for (const chat::Value& document : task.documents)
      for (const auto& [name, value] : *document.as_dict())
        if (std::ranges::find(fields_, name) == fields_.end()) fields_.push_back(name);
  }

  // ---- templates

  DocField field(const Json& object, const char* key, bool gives_number) const {
    if (!object.contains(key)) return {};
    return {object[key], fields_, gives_number, fmt::format("{}: {}", path_, key)};
  }

  void read_fields(HarnessTask& task) const {
    const bool has_choices = has("doc_to_choice");
    task.text = field(config_, "doc_to_text", has_choices);
    task.target = field(config_, "doc_to_target", has_choices);
    task.choice = field(config_, "doc_to_choice", false);
    task.description = field(config_, "description", false);
    task.gen_prefix = field(config_, "gen_prefix", false);
    task.target_delimiter = text_or("target_delimiter", " ");
    task.fewshot_delimiter = text_or("fewshot_delimiter", "\n\n");
    const bool is_rolling = task.kind == HarnessKind::LoglikelihoodRolling;
    if (!task.text.is_given() && !is_rolling) refuse("doc_to_text is missing");
    if (!task.target.is_given()) refuse("doc_to_target is missing");
    if (!has_choices && task.kind == HarnessKind::MultipleChoice)
      refuse("doc_to_choice is missing, which multiple_choice needs");
  }

  void read_fewshot(HarnessTask& task) {
    const Json config = has("fewshot_config") ? config_["fewshot_config"] : Json::object();
    if (!config.is_object()) refuse("fewshot_config: expected keys and values");
    for (const char* key : {"process_docs", "fewshot_indices"})
      if (config.contains(key)) refuse(fmt::format("fewshot_config: {} is not supported", key));
    const auto own = [&](const char* key, const DocField& otherwise, bool gives_number) {
      return config.contains(key) ? field(config, key, gives_number) : otherwise;
    };
    const bool has_choices = has("doc_to_choice");
    task.fewshot_text = own("doc_to_text", task.text, has_choices);
    task.fewshot_target = own("doc_to_target", task.target, has_choices);
    task.fewshot_choice = own("doc_to_choice", task.choice, false);
    task.fewshot_gen_prefix = own("gen_prefix", task.gen_prefix, false);
    task.fewshot_target_delimiter = text_or(config, "target_delimiter", task.target_delimiter);
    task.fewshot_item_delimiter = text_or(config, "fewshot_delimiter", task.fewshot_delimiter);
    if (!has("num_fewshot")) return;
    if (!config_["num_fewshot"].is_number_integer() || integer_of(config_["num_fewshot"]) < 0)
      refuse("num_fewshot: expected a whole number");
    task.num_fewshot = static_cast<size_t>(integer_of(config_["num_fewshot"]));
    if (task.num_fewshot == 0) return;

    const std::string sampler = text_or(config, "sampler", "default");
    if (sampler != "default" && sampler != "first_n")
      refuse(fmt::format("fewshot_config: sampler: expected default or first_n, got {}", sampler));
    task.is_first_n = sampler == "first_n";
    const std::string named = text_or(config, "split", text_or("fewshot_split", ""));
    const std::string test = text_or("test_split", "");
    task.excludes_itself = named == test;
    if (!named.empty()) {
      task.fewshot_documents = split(named);
    } else if (config.contains("samples")) {
      if (!config["samples"].is_array()) refuse("fewshot_config: samples: expected a list");
      for (const Json& sample : config["samples"])
        task.fewshot_documents.push_back(chat::parse_json(sample.dump(), path_));
    } else {  // the harness's rule
      for (const char* key : {"training_split", "validation_split", "test_split"}) {
        if (!has(key)) continue;
        task.fewshot_documents = split(text_or(key, ""));
        break;
      }
    }
    const size_t needed = task.num_fewshot + (task.excludes_itself ? 1 : 0);
    if (task.fewshot_documents.size() < needed)
      refuse(fmt::format("num_fewshot: {} examples are wanted, the split has {} documents",
                         task.num_fewshot, task.fewshot_documents.size()));
  }

  // ---- generation

  std::vector<std::string> texts(const Json& value, const char* key) const {
    std::vector<std::string> list;
    for (const Json& item : value.is_array() ? value : Json::array({value})) {
      if (!item.is_string()) refuse(fmt::format("{}: expected a text or a list of texts", key));
      list.push_back(item.get<std::string>());
    }
    return list;
  }

  void read_generation(HarnessTask& task) const {
    const Json options = has("generation_kwargs") ? config_["generation_kwargs"] : Json::object();
    task.until = {task.fewshot_delimiter};
    if (options.contains("until")) task.until = texts(options["until"], "until");
    const bool samples = options.contains("do_sample") && options["do_sample"] == true;
    if (samples) refuse("generation_kwargs: do_sample: only greedy text is scored");
    for (const char* key :
         {"max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens"}) {
      if (!options.contains(key) || options[key].is_null()) continue;
      if (!options[key].is_number_integer() || integer_of(options[key]) < 1)
        refuse(fmt::format("generation_kwargs: {}: expected a number of tokens", key));
      task.max_new_tokens = integer_of(options[key]);
      break;
    }
    if (has("repeats") && config_["repeats"] != 1)
      refuse("repeats: greedy text is always the same");
    if (!has("metric_list")) return;
    for (const Json& metric : config_["metric_list"]) {
      const std::string name = metric.is_object() ? text_or(metric, "metric", "") : "";
      if (name != "exact_match")
        refuse(fmt::format("metric_list: of generated text exact_match is scored, not «{}»", name));
      const auto flag = [&](const char* key) {
        return metric.contains(key) && metric[key] == true;
      };
      task.exact_match = {.ignore_case = flag("ignore_case"),
                          .ignore_punctuation = flag("ignore_punctuation"),
                          .ignore_numbers = flag("ignore_numbers")};
      if (metric.contains("regexes_to_ignore") && !metric["regexes_to_ignore"].is_null())
        task.exact_match.regexes_to_ignore =
            texts(metric["regexes_to_ignore"], "regexes_to_ignore");
    }
  }

  Storage& storage_;
  std::string path_;
  Json config_;
  std::map<std::string, Documents> splits_;
  std::vector<std::string> fields_;  // of the evaluated documents
};

}  // namespace

HarnessTask read_harness_task(Storage& storage, const std::string& path) {
  return TaskReader(storage, path).read();
}

}  // namespace ingot
