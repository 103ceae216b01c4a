// ingot tokenizer encode | decode
#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/tokenizer/separated_input.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"

namespace ingot::cli {
namespace {

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
  void add_to(Command& command, const std::string& what) {
    command.add_option("--format", name, what)->capture_default_str()->one_of({"text", "u32"});
  }
};

// Ids with spaces between them, and a line end.
void append_line(const std::vector<int32_t>& ids, std::string& text) {
  constexpr size_t kLongestId = 10;  // digits
  size_t at = text.size();
  text.resize(at + ids.size() * (kLongestId + 1) + 1);
  for (const int32_t id : ids) {
    char* const begin = text.data() + at;
    char* const end = std::to_chars(begin, begin + kLongestId, id).ptr;
    *end = ' ';
    at += static_cast<size_t>(end - begin) + 1;
  }
  if (!ids.empty()) --at;
  text[at++] = '\n';
  text.resize(at);
}

constexpr char kJsonHelp[] = "a JSON object a line for each document";

std::string json_line(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

struct EncodeCommand {
  TokenizerOption tokenizer;
  std::string input, separator;
  Format format;
  bool specials = false, json = false;
  int threads = available_cores();

  void run() const {
    const auto loaded = tokenizer.load();
    ThreadPool pool(threads);
    SeparatedInput stream(input, unescaped(separator));
    std::vector<std::string> written;
    for (auto documents = stream.next(); !documents.empty(); documents = stream.next()) {
      written.assign(documents.size(), {});
      if (documents.size() == 1 && !specials) {
        std::vector<int32_t> ids;
        loaded->encode_parallel(documents[0], pool, ids);
        written[0] = formatted(ids);
      } else {
        pool.run(static_cast<int64_t>(documents.size()),
                 [&](int64_t i, int) { written[i] = formatted(ids_of(*loaded, documents[i])); });
      }
      for (const std::string& bytes : written) write(bytes);
    }
    finish_output();
  }

 private:
  std::vector<int32_t> ids_of(const Tokenizer& loaded, std::string_view document) const {
    std::vector<int32_t> ids;
    if (specials) {
      loaded.encode_with_specials(document, ids);
    } else {
      loaded.encode(document, ids);
    }
    return ids;
  }
  std::string formatted(const std::vector<int32_t>& ids) const {
    std::string bytes;
    if (json) {
      bytes = json_line({{"ids", ids}});
    } else if (format.is_text()) {
      append_line(ids, bytes);
    } else {
      bytes.assign(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t));
    }
    return bytes;
  }
};

struct DecodeCommand {
  TokenizerOption tokenizer;
  std::string input, separator;
  Format format;
  bool json = false;

  void run() const {
    const auto loaded = tokenizer.load();
    const std::string between = unescaped(separator);
    SeparatedInput stream(input, format.is_text() ? "\n" : "");
    bool first = true;
    for (auto documents = stream.next(); !documents.empty(); documents = stream.next()) {
      for (const std::string_view document : documents) {
        if (!std::exchange(first, false) && !json) write(between);
        std::vector<int32_t> ids = format.is_text() ? parse_text(document, stream.name())
                                                    : parse_u32(document, stream.name());
        // A document begins with BOS, after which formats that mark word starts drop a space.
        if (loaded->bos() >= 0) ids.insert(ids.begin(), loaded->bos());
        const std::string text = loaded->decode(ids);
        write(json ? json_line({{"text", text}}) : text);
      }
    }
    finish_output();
  }

 private:
  static std::vector<int32_t> parse_u32(std::string_view bytes, const std::string& name) {
    check(bytes.size() % sizeof(int32_t) == 0, ErrorCode::Data,
          "{}: expected ids of 4 bytes, got {} bytes", name, bytes.size());
    std::vector<int32_t> ids(bytes.size() / sizeof(int32_t));
    std::memcpy(ids.data(), bytes.data(), bytes.size());
    return ids;
  }
  static std::vector<int32_t> parse_text(std::string_view line, const std::string& name) {
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

}  // namespace

void add_tokenizer_encode(Command& tokenizer) {
  auto command = std::make_shared<EncodeCommand>();
  auto* encode = tokenizer.add_subcommand("encode", "text to ids");
  command->tokenizer.add_to(*encode);
  encode->add_option("--input", command->input, "text file; stdin without it");
  command->format.add_to(*encode, "text: a line of ids for each document; u32: binary");
  encode->add_option("--separator", command->separator,
                     "what ends a document (\\n, \\t, \\r, \\0 and \\\\ are understood); without "
                     "it the input is one");
  encode->add_flag("--specials", command->specials,
                   "special tokens spelt in the text become their ids");
  encode->add_option("--threads", command->threads, "threads; the ids are the same for any number")
      ->positive()
      ->capture_default_str();
  encode->add_flag("--json", command->json, kJsonHelp);
  encode->callback([command] { command->run(); });
}

void add_tokenizer_decode(Command& tokenizer) {
  auto command = std::make_shared<DecodeCommand>();
  auto* decode = tokenizer.add_subcommand("decode", "ids to text");
  command->tokenizer.add_to(*decode);
  decode->add_option("--input", command->input, "file of ids; stdin without it");
  command->format.add_to(*decode, "text: each line is a document; u32: binary, one document");
  decode->add_option("--separator", command->separator,
                     "written between documents, escapes as for encode");
  decode->add_flag("--json", command->json, kJsonHelp);
  decode->callback([command] { command->run(); });
}

}  // namespace ingot::cli
