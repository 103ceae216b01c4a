// ingot data tokenize
#include <fmt/format.h>

#include <map>
#include <memory>

#include "cli/data/stage.h"
#include "cli/frame/command.h"
#include "cli/frame/progress_line.h"
#include "cli/remote.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
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
  TokenizerOption tokenizer;
  std::vector<std::string> inputs, sources;
  std::string folder, process, bos = "auto", eos = "auto";
  bool no_eos = false;
  TokenizeSettings settings;
  RemoteOptions remote;
  JsonOption json;

  void run() {
    const auto loaded = tokenizer.load();
    // An own BOS belongs before a document; one that is also EOS already ends the one before.
    settings.bos = boundary("--bos", bos, loaded->bos(), loaded->bos() != loaded->eos());
    check(!no_eos || eos != "yes", ErrorCode::Usage,
          "--no-eos and --eos yes: expected one of them");
    if (no_eos) eos = "no";
    check(eos == "no" || loaded->eos() >= 0, ErrorCode::Usage,
          "{}: this tokenizer has no EOS, so nothing would end a document: say its special tokens "
          "({}), or give --no-eos to write documents without",
          tokenizer.path,
          loaded->kind() == "bpe" ? "in NAME.toml beside a .tiktoken file, or by --split"
                                  : "in its file");
    settings.eos = boundary("--eos", eos, loaded->eos(), true);
    settings.share = process_share(process);
    settings.read.remote = remote.settings();

    ProgressLine line;
    TokenizeProgress last;
    const TokenizeResult result = tokenize(posix_storage(), *loaded, list_sources(), settings,
                                           folder, [&](const TokenizeProgress& progress) {
                                             last = progress;
                                             if (line.is_due()) line.show(text_of(progress, line));
                                           });
    if (!result.finished) {
      fmt::print("{}: this process is done; others still work on it (if one died, run again)\n",
                 folder);
      json.print({{"finished", false}});
      return;
    }
    print(result, last, line.seconds());
  }

 private:
  // Every --source NAME=PATH adds to that source, the plain inputs are source "input".
  std::vector<TokenizeSource> list_sources() {
    std::vector<std::pair<std::string, std::vector<std::string>>> named;
    if (!inputs.empty()) named.emplace_back("input", inputs);
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
      listed.push_back({name, list_input_files(paths, settings.read.remote, folder)});
      files.insert(files.end(), listed.back().files.begin(), listed.back().files.end());
    }
    check_read_once(files, folder);
    if (!is_begun(folder)) {
      const std::string problem = equal_inputs(files, settings.threads);
      check(problem.empty(), ErrorCode::Data, "{}", problem);
    }
    for (const TokenizeSource& source : listed) {
      check_text_field(source.files, settings.read, is_first_look(folder, settings.share));
    }
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

  static std::string text_of(const TokenizeProgress& progress, const ProgressLine& line) {
    const double seconds = std::max(1e-3, line.seconds());
    std::string text =
        fmt::format("{} tokens, {} documents, {} of text, {}", format_count(progress.tokens),
                    format_count(progress.documents), format_bytes(progress.text_bytes),
                    format_byte_rate(progress.text_bytes, seconds));
    if (progress.bytes_total > 0 && progress.bytes_read > 0) {
      const double done =
          static_cast<double>(progress.bytes_read) / static_cast<double>(progress.bytes_total);
      text += fmt::format(", {}, {} left", format_percent(done),
                          format_duration(std::max(0.0, seconds / done - seconds)));
    }
    return text;
  }

  // Of a folder that was finished before, examples are not known.
  static std::string in_brackets(const std::vector<std::string>& examples) {
    return examples.empty() ? "" : fmt::format(" ({})", fmt::join(examples, ", "));
  }

  void print(const TokenizeResult& result, const TokenizeProgress& progress, double seconds) const {
    const ShardManifest& manifest = result.manifest;
    const auto per_token =
        static_cast<double>(manifest.num_bytes()) / static_cast<double>(manifest.num_tokens());
    fmt::print("{}: {} tokens (u{}) of {} documents, {} of text, {:.2f} bytes a token, {} shards\n",
               folder, format_count(manifest.num_tokens()), 8 * manifest.token_bytes,
               format_count(manifest.num_documents()), format_bytes(manifest.num_bytes()),
               per_token, manifest.shards.size());
    if (progress.text_bytes > 0) {
      fmt::print("{} in {}: {}\n", format_bytes(progress.text_bytes), format_duration(seconds),
                 format_byte_rate(progress.text_bytes, seconds));
    }
    const nlohmann::json first = to_json(result.first_left_out);
    for (const auto& [reason, count] : manifest.left_out) {
      fmt::print("left out: {} {}{}\n", format_count(count), reason, first_place(first, reason));
    }
    if (manifest.duplicate_ids > 0) {
      fmt::print("kept, but with the id of an earlier document: {}{}\n",
                 format_count(manifest.duplicate_ids), in_brackets(result.duplicate_examples));
    }
    if (manifest.equal_documents > 0) {
      fmt::print(
          "kept, but equal to an earlier document: {}{}; ingot data dedup --method exact removes "
          "such\n",
          format_count(manifest.equal_documents), in_brackets(result.equal_examples));
    }
    json.print({{"finished", true},
                {"tokens", manifest.num_tokens()},
                {"documents", manifest.num_documents()},
                {"bytes", manifest.num_bytes()},
                {"shards", manifest.shards.size()},
                {"token_bytes", manifest.token_bytes},
                {"left_out", manifest.left_out},
                {"first_left_out", first},
                {"duplicate_ids", manifest.duplicate_ids},
                {"equal_documents", manifest.equal_documents},
                {"seconds", seconds}});
  }
};

}  // namespace

void add_data_tokenize(Command& data) {
  auto command = std::make_shared<TokenizeCommand>();
  command->settings.threads = available_cores();
  auto* tokenize = data.add_subcommand(
      "tokenize",
      "documents to token shards\n\n"
      "Reads text, JSON lines, CSV, parquet and WARC, local or remote, and writes shards of ids "
      "with a manifest that says what they are. Stopped at any moment, even by kill -9, the same "
      "command continues where it was. The bytes do not depend on threads or processes.");
  command->tokenizer.add_to(*tokenize);
  tokenize->add_option("inputs", command->inputs, "files, folders, globs, addresses");
  tokenize
      ->add_option("--source", command->sources,
                   "a named source of documents; repeatable, also with the same name")
      ->type_name("NAME=PATH")
      ->allow_extra_args(false);
  tokenize->add_option("--out", command->folder, "folder for the shards")->required();
  const std::vector<std::string> choices = {"auto", "yes", "no"};
  tokenize
      ->add_option("--bos", command->bos,
                   "BOS before each document; auto: where the tokenizer has one that is not EOS")
      ->capture_default_str()
      ->one_of(choices);
  tokenize
      ->add_option("--eos", command->eos,
                   "EOS after each document; auto is yes, as a tokenizer without one is refused")
      ->capture_default_str()
      ->one_of(choices);
  tokenize->add_flag("--no-eos", command->no_eos, "as --eos no: nothing ends a document");
  TokenizeSettings& settings = command->settings;
  add_settings(*tokenize, settings_of(settings));
  add_settings(*tokenize, settings_of(settings.read), {"text_field", "id_field", "keep_crlf"});
  tokenize->add_option("--threads", settings.threads, "threads that encode")
      ->capture_default_str()
      ->positive();
  tokenize
      ->add_option(
          "--process", command->process,
          "this is process K of N that share the work, counted from 0; without it as srun or "
          "mpirun says")
      ->type_name("K/N");
  command->remote.add_to(*tokenize);
  command->json.add_to(*tokenize);
  tokenize->callback([command] { run_as_process(command->process, [&] { command->run(); }); });
}

}  // namespace ingot::cli
