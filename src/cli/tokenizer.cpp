// ingot tokenizer encode | decode | info | compare
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>

#include "cli/command.h"
#include "core/error.h"
#include "core/storage.h"
#include "core/thread_pool.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/unicode_classes.h"

namespace ingot::cli {
namespace {

struct TokenizerOption {
  std::string path;
  std::string split;

  void add_to(CLI::App& command) {
    command
        .add_option("--tokenizer", path,
                    "tokenizer.json, .tiktoken, .model, vocab.json, tokenizer.bin, a folder, or "
                    "«byte»")
        ->required();
    command.add_option("--split", split,
                       "how text is cut, where the file does not say it: gpt2, cl100k, llama3, "
                       "qwen2, o200k, nanochat, none");
  }
  std::unique_ptr<Tokenizer> load() const {
    LoadOptions options;
    if (!split.empty()) {
      options.split = split_named(split);
      check(options.split.has_value(), ErrorCode::Usage,
            "--split {}: expected gpt2, cl100k, llama3, qwen2, o200k, nanochat or none", split);
    }
    return load_tokenizer(*posix_storage(), path, options);
  }
};

// A file, or stdin where no path is given.
class Input {
 public:
  explicit Input(const std::string& path)
      : name_(path.empty() ? "stdin" : path),
        file_(path.empty() ? stdin : std::fopen(path.c_str(), "rb"), &close) {
    check(file_ != nullptr, ErrorCode::Data, "{}: {}", name_, std::strerror(errno));
  }
  // Appends the next bytes; false at the end.
  bool read_more(std::string& into) {
    constexpr size_t kBytes = size_t{1} << 20;
    const size_t before = into.size();
    into.resize(before + kBytes);
    const size_t count = std::fread(into.data() + before, 1, kBytes, file_.get());
    check(std::ferror(file_.get()) == 0, ErrorCode::Storage, "{}: {}", name_, std::strerror(errno));
    into.resize(before + count);
    return count > 0;
  }
  std::string read_all() {
    std::string all;
    while (read_more(all)) {
    }
    return all;
  }
  const std::string& name() const { return name_; }

 private:
  static void close(FILE* file) {
    if (file != stdin) std::fclose(file);
  }
  std::string name_;
  std::unique_ptr<FILE, void (*)(FILE*)> file_;
};

// The documents of an input: a separator ends one, and so does the end of the input, unless nothing
// came since the last separator. Without a separator all is one document.
template <class OnDocument>
void for_each_document(Input& input, const std::string& separator, OnDocument on_document) {
  std::string buffer;
  size_t begin = 0, searched = 0;
  for (bool more = true; more;) {
    more = input.read_more(buffer);
    while (!separator.empty()) {
      const size_t end = buffer.find(separator, std::max(begin, searched));
      if (end == std::string::npos) break;
      on_document(std::string_view(buffer).substr(begin, end - begin));
      begin = end + separator.size();
    }
    buffer.erase(0, begin);
    begin = 0;
    searched = buffer.size() < separator.size() ? 0 : buffer.size() - separator.size();
  }
  if (!buffer.empty()) on_document(std::string_view(buffer));
}

void write(std::string_view bytes) {
  check(std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size(), ErrorCode::Storage,
        "cannot write to stdout: {}", std::strerror(errno));
}

void finish_output() {  // a full disk may show only here
  check(std::fflush(stdout) == 0, ErrorCode::Storage, "cannot write to stdout: {}",
        std::strerror(errno));
}

struct Format {
  std::string name = "text";

  bool is_text() const { return name == "text"; }
  void add_to(CLI::App& command, const std::string& what) {
    command.add_option("--format", name, what)
        ->capture_default_str()
        ->check(CLI::IsMember({"text", "u32"}));
  }
};

struct EncodeCommand {
  TokenizerOption tokenizer;
  std::string input, separator;
  Format format;
  bool specials = false;

  void run() const {
    const auto loaded = tokenizer.load();
    ThreadPool pool(available_cores());
    Input file(input);
    std::vector<int32_t> ids;
    for_each_document(file, separator, [&](std::string_view document) {
      ids.clear();
      if (specials) {
        loaded->encode_with_specials(document, ids);
      } else {
        loaded->encode_parallel(document, pool, ids);
      }
      if (format.is_text()) {
        write(fmt::format("{}\n", fmt::join(ids, " ")));
      } else {
        write({reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t)});
      }
    });
    finish_output();
  }
};

struct DecodeCommand {
  TokenizerOption tokenizer;
  std::string input, separator;
  Format format;

  void run() const {
    const auto loaded = tokenizer.load();
    Input file(input);
    if (format.is_text()) {
      for_each_document(file, "\n", [&](std::string_view line) {
        write(loaded->decode(parse_ids(line, file.name())) + separator);
      });
    } else {
      const std::string bytes = file.read_all();
      check(bytes.size() % sizeof(int32_t) == 0, ErrorCode::Data,
            "{}: expected ids of 4 bytes, got {} bytes", file.name(), bytes.size());
      std::vector<int32_t> ids(bytes.size() / sizeof(int32_t));
      std::memcpy(ids.data(), bytes.data(), bytes.size());
      write(loaded->decode(ids) + separator);
    }
    finish_output();
  }

 private:
  static std::vector<int32_t> parse_ids(std::string_view line, const std::string& name) {
    std::vector<int32_t> ids;
    while (true) {
      line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
      if (line.empty()) return ids;
      int32_t id = 0;
      const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), id);
      check(error == std::errc(), ErrorCode::Data, "{}: expected ids, got \"{}\"", name,
            line.substr(0, 20));
      ids.push_back(id);
      line.remove_prefix(static_cast<size_t>(end - line.data()));
    }
  }
};

struct InfoCommand {
  TokenizerOption tokenizer;
  JsonOption json;

  void run() const {
    const auto loaded = tokenizer.load();
    nlohmann::ordered_json result = {{"kind", loaded->kind()},
                                     {"vocab_size", loaded->vocab_size()},
                                     {"bos", loaded->bos()},
                                     {"eos", loaded->eos()}};
    for (const auto& [name, value] : loaded->facts()) result[name] = value;
    for (const auto& [name, value] : result.items()) {
      fmt::print("{:<16}{}\n", name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    json.print(result);
  }
};

struct TextCounts {
  int64_t bytes = 0, characters = 0, words = 0;

  explicit TextCounts(std::string_view text) : bytes(static_cast<int64_t>(text.size())) {
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
};

struct CompareCommand {
  std::vector<std::string> tokenizers, files;
  JsonOption json;

  void run() const {
    std::vector<std::unique_ptr<Tokenizer>> loaded;
    for (const std::string& path : tokenizers) loaded.push_back(TokenizerOption{path, ""}.load());
    nlohmann::json rows = nlohmann::json::array();
    fmt::print("{:>12} {:>12} {:>8} {:>8} {:>8}  tokenizer, text\n", "bytes", "tokens", "B/token",
               "per word", "per char");
    for (const std::string& file : files) {
      const std::string text = Input(file).read_all();
      const TextCounts counts(text);
      for (size_t i = 0; i < loaded.size(); ++i) {
        const auto tokens = static_cast<int64_t>(loaded[i]->encode(text).size());
        const auto ratio = [](int64_t a, int64_t b) {
          return b == 0 ? 0.0 : static_cast<double>(a) / static_cast<double>(b);
        };
        const double per_token = ratio(counts.bytes, tokens);
        const double per_word = ratio(tokens, counts.words);
        const double per_character = ratio(tokens, counts.characters);
        fmt::print("{:>12} {:>12} {:>8.3f} {:>8.3f} {:>8.3f}  {}, {}\n", counts.bytes, tokens,
                   per_token, per_word, per_character, file_name(tokenizers[i]), file);
        rows.push_back({{"file", file},
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
    json.print({{"rows", rows}});
  }
};

void add_encode(CLI::App& tokenizer) {
  auto command = std::make_shared<EncodeCommand>();
  auto* encode = tokenizer.add_subcommand("encode", "text to ids");
  command->tokenizer.add_to(*encode);
  encode->add_option("--input", command->input, "text file; stdin without it");
  command->format.add_to(*encode, "text: a line of ids for each document; u32: binary");
  encode->add_option("--separator", command->separator,
                     "what ends a document; without it the input is one");
  encode->add_flag("--specials", command->specials,
                   "special tokens spelt in the text become their ids");
  encode->callback([command] { command->run(); });
}

void add_decode(CLI::App& tokenizer) {
  auto command = std::make_shared<DecodeCommand>();
  auto* decode = tokenizer.add_subcommand("decode", "ids to text");
  command->tokenizer.add_to(*decode);
  decode->add_option("--input", command->input, "file of ids; stdin without it");
  command->format.add_to(*decode, "text: each line is a document; u32: binary, one document");
  decode->add_option("--separator", command->separator, "written after each document");
  decode->callback([command] { command->run(); });
}

void add_info(CLI::App& tokenizer) {
  auto command = std::make_shared<InfoCommand>();
  auto* info = tokenizer.add_subcommand("info", "what a tokenizer file holds");
  command->tokenizer.add_to(*info);
  command->json.add_to(*info);
  info->callback([command] { command->run(); });
}

void add_compare(CLI::App& tokenizer) {
  auto command = std::make_shared<CompareCommand>();
  auto* compare = tokenizer.add_subcommand(
      "compare", "compression and fertility of several tokenizers on the same texts");
  compare->add_option("--tokenizer", command->tokenizers, "as for encode; repeatable")
      ->required()
      ->allow_extra_args(false);
  compare->add_option("files", command->files, "text files")->required();
  command->json.add_to(*compare);
  compare->callback([command] { command->run(); });
}

}  // namespace

void add_tokenizer(CLI::App& app) {
  auto* tokenizer = app.add_subcommand("tokenizer", "encode, decode, look at, compare tokenizers");
  tokenizer->require_subcommand(1);
  add_encode(*tokenizer);
  add_decode(*tokenizer);
  add_info(*tokenizer);
  add_compare(*tokenizer);
}

}  // namespace ingot::cli
