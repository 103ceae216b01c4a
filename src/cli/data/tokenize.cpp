// ingot data tokenize
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>

#include "cli/data/stage.h"
#include "cli/frame/command.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "ingest/read/equal_inputs.h"
#include "ingest/tasks/stage.h"
#include "ingest/tokenize/tokenize.h"

namespace ingot::cli {
namespace {

// The id to put at documents' ends: `choice` is auto, yes or no.
int32_t boundary(const std::string& option, const std::string& choice, int32_t id, bool wanted) {
  check(choice != "yes" || id >= 0, ErrorCode::Usage,
        "{} yes: the tokenizer has no such token; use {} no", option, option);
  return choice == "yes" || (choice == "auto" && wanted) ? id : -1;
}

struct TokenizeCommand {
  StageOptions stage;
  TokenizerOption tokenizer;
  std::vector<std::string> sources;
  std::string bos = "auto", eos = "auto";
  TokenizeSettings settings;

  void run() {
    const auto loaded = tokenizer.load();
    // An own BOS belongs before a document; one that is also EOS already ends the one before.
    settings.bos = boundary("--bos", bos, loaded->bos(), loaded->bos() != loaded->eos());
    check(eos == "no" || loaded->eos() >= 0, ErrorCode::Usage,
          "{}: this tokenizer has no EOS, so nothing would end a document: say its special tokens "
          "({}), or give --eos no to write documents without",
          tokenizer.path,
          loaded->kind() == "bpe" ? "in NAME.toml beside a .tiktoken file, or by --split"
                                  : "in its file");
    settings.eos = boundary("--eos", eos, loaded->eos(), true);
    settings.read = stage.read_settings();
    const std::vector<TokenizeSource> listed = list_sources();
    finish_stage(
        stage,
        [&](const StageRun& run) -> std::optional<nlohmann::json> {
          const auto start = std::chrono::steady_clock::now();
          const TokenizeResult result = tokenize(run, *loaded, listed, settings);
          if (!result.finished) return std::nullopt;
          return report_of(
              result,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        },
        print_report);
  }

 private:
  // Every --source NAME=PATH adds to that source, the plain inputs are source "input".
  std::vector<TokenizeSource> list_sources() {
    std::vector<std::pair<std::string, std::vector<std::string>>> named;
    if (!stage.inputs.empty()) named.emplace_back("input", stage.inputs);
    for (const auto& [name, path] : parse_pairs()) {
      auto found = std::find_if(named.begin(), named.end(),
                                [&, &name = name](const auto& n) { return n.first == name; });
      if (found == named.end()) found = named.insert(named.end(), {name, {}});
      found->second.push_back(path);
    }
    check(!named.empty(), ErrorCode::Usage,
          "nothing to tokenize: expected files or folders, or --source NAME=PATH");
    std::vector<TokenizeSource> listed;
    std::vector<InputFile> files;
    for (const auto& [name, paths] : named) {
      listed.push_back({name, list_input_files(paths, settings.read.remote, stage.out)});
      files.insert(files.end(), listed.back().files.begin(), listed.back().files.end());
    }
    check_read_once(files, stage.out);
    if (!is_begun(stage.out)) {
      const std::string problem = equal_inputs(files, stage.threads);
      check(problem.empty(), ErrorCode::Data, "{}", problem);
    }
    for (const TokenizeSource& source : listed)
      check_text_field(source.files, settings.read,
                       is_first_look(stage.out, process_share(stage.process)));
    return listed;
  }

  std::vector<std::pair<std::string, std::string>> parse_pairs() const {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& source : sources) {
      const size_t equals = source.find('=');
      check(equals != std::string::npos && equals > 0, ErrorCode::Usage,
            "--source expected NAME=PATH, got \"{}\"", source);
      pairs.emplace_back(source.substr(0, equals), source.substr(equals + 1));
    }
    return pairs;
  }

  static nlohmann::json report_of(const TokenizeResult& result, double seconds) {
    const ShardManifest& manifest = result.manifest;
    return {{"tokens", manifest.num_tokens()},
            {"documents", manifest.num_documents()},
            {"bytes", manifest.num_bytes()},
            {"shards", manifest.shards.size()},
            {"token_bytes", manifest.token_bytes},
            {"left_out", manifest.left_out},
            {"first_left_out", to_json(result.first_left_out)},
            {"duplicate_ids", manifest.duplicate_ids},
            {"duplicate_examples", result.duplicate_examples},
            {"equal_documents", manifest.equal_documents},
            {"equal_examples", result.equal_examples},
            {"bytes_encoded", result.text_bytes},
            {"seconds", seconds}};
  }

  // Of a folder that was finished before, examples are not known.
  static std::string in_brackets(const nlohmann::json& examples) {
    const auto texts = examples.get<std::vector<std::string>>();
    return texts.empty() ? "" : fmt::format(" ({})", fmt::join(texts, ", "));
  }

  static void print_report(const nlohmann::json& report, const std::string& folder) {
    const int64_t tokens = report["tokens"], bytes = report["bytes"];
    fmt::print("{}: {} tokens (u{}) of {} documents, {} of text, {:.2f} bytes a token, {} shards\n",
               folder, format_count(tokens), 8 * report["token_bytes"].get<int64_t>(),
               format_count(report["documents"].get<int64_t>()), format_bytes(bytes),
               static_cast<double>(bytes) / static_cast<double>(tokens),
               report["shards"].get<int64_t>());
    if (const int64_t encoded = report["bytes_encoded"]; encoded > 0) {
      const double seconds = report["seconds"];
      fmt::print("{} in {}: {}\n", format_bytes(encoded), format_duration(seconds),
                 format_byte_rate(encoded, seconds));
    }
    for (const auto& [reason, count] : report["left_out"].items())
      fmt::print("left out: {} {}{}\n", format_count(count.get<int64_t>()), reason,
                 first_place(report["first_left_out"], reason));
    if (const int64_t count = report["duplicate_ids"]; count > 0)
      fmt::print("kept, but with the id of an earlier document: {}{}\n", format_count(count),
                 in_brackets(report["duplicate_examples"]));
    if (const int64_t count = report["equal_documents"]; count > 0)
      fmt::print(
          "kept, but equal to an earlier document: {}{}; ingot data dedup --method exact removes "
          "such\n",
          format_count(count), in_brackets(report["equal_examples"]));
  }
};

}  // namespace

void add_data_tokenize(Command& data) {
  auto command = std::make_shared<TokenizeCommand>();
  auto* tokenize = data.add_subcommand(
      "tokenize",
      "turn documents into token shards\n\n"
      "Reads text, JSON lines, CSV, parquet and WARC, local or remote, and writes shards of ids "
      "with a manifest that describes them. If it is stopped, even by kill -9, the same command "
      "continues where it was. The bytes do not depend on the number of threads or processes.");
  command->tokenizer.add_to(*tokenize);
  command->stage.add_to(*tokenize, {"text_field", "id_field", "keep_crlf"});
  tokenize->get_option("INPUT")->required(false);  // --source does as well
  tokenize
      ->add_option("--source", command->sources,
                   "a named source of documents; repeatable, also with the same name")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  const std::vector<std::string> choices = {"auto", "yes", "no"};
  tokenize
      ->add_option("--bos", command->bos,
                   "BOS before each document; auto: if the tokenizer has one that is not EOS")
      ->capture_default_str()
      ->one_of(choices);
  tokenize
      ->add_option("--eos", command->eos,
                   "EOS after each document; auto: yes, and a tokenizer without EOS is refused")
      ->capture_default_str()
      ->one_of(choices)
      ->also("--no-eos", "no");
  add_settings(*tokenize, settings_of(command->settings));
  tokenize->callback(
      [command] { run_as_process(command->stage.process, [&] { command->run(); }); });
}

}  // namespace ingot::cli
