// ingot data inspect | cat
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <memory>

#include "cli/frame/command.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/format.h"
#include "core/text/utf8.h"
#include "ingest/tokenize/tokenize.h"
#include "shards/shard_folder.h"

namespace ingot::cli {
namespace {

// The tokenizer that is named, or the one that lies with the shards; nothing where there is none.
std::unique_ptr<Tokenizer> tokenizer_of(const ShardFolder& folder, const std::string& named) {
  const auto storage = posix_storage();
  const std::string own = join_path(folder.path(), kShardTokenizerName);
  if (named.empty() && !storage->exists(own)) return nullptr;
  auto tokenizer = load_tokenizer(*storage, named.empty() ? own : named);
  check_tokenizer(folder.manifest(), *tokenizer, folder.path());
  return tokenizer;
}

double per(int64_t a, int64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

// Documents by length: bucket b holds those of 2^b to 2^(b+1)-1 tokens.
struct Lengths {
  static constexpr size_t kBuckets = 48;
  std::array<int64_t, kBuckets> documents{}, tokens{};
  int64_t shortest = INT64_MAX, longest = 0;

  explicit Lengths(const ShardFolder& folder) {
    for (size_t s = 0; s < folder.num_shards(); ++s) {
      const ShardReader& shard = folder.shard(s);
      for (int64_t i = 0; i < shard.num_documents(); ++i) {
        const int64_t length = shard.document_end(i) - shard.document_begin(i);
        check(length > 0, ErrorCode::Data,
              "{}.documents: document {} ends before it begins; see ingot data verify",
              shard.path(), i);
        const auto bucket = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(length))) - 1;
        documents[std::min(bucket, kBuckets - 1)] += 1;
        tokens[std::min(bucket, kBuckets - 1)] += length;
        shortest = std::min(shortest, length);
        longest = std::max(longest, length);
      }
    }
  }
};

struct InspectCommand {
  std::string path, tokenizer;
  int64_t samples = 3;
  JsonOption json;

  void run() const {
    const ShardFolder folder(path);
    print_facts(folder.manifest());
    const Lengths lengths(folder);
    print_lengths(lengths, folder.manifest());
    print_samples(folder);
    print_json(folder.manifest(), lengths);
  }

 private:
  void print_facts(const ShardManifest& manifest) const {
    fmt::print("{}\n", path);
    fmt::print("  tokens      {} (u{}), {:.3f} bytes of text each\n",
               format_count(manifest.num_tokens()), 8 * manifest.token_bytes,
               per(manifest.num_bytes(), manifest.num_tokens()));
    fmt::print("  documents   {}, {:.1f} tokens each\n", format_count(manifest.num_documents()),
               per(manifest.num_tokens(), manifest.num_documents()));
    fmt::print("  text        {}\n", format_bytes(manifest.num_bytes()));
    fmt::print("  shards      {}\n", manifest.shards.size());
    fmt::print("  tokenizer   {} {:016x}, {} ids, BOS {}, EOS {}\n", manifest.tokenizer_kind,
               manifest.tokenizer_hash, format_count(manifest.vocab_size), manifest.bos,
               manifest.eos);
    if (!manifest.cut_documents.empty()) {
      fmt::print("  cut         {} documents to make the token count exact: {}\n",
                 manifest.cut_documents.size(), fmt::join(manifest.cut_documents, ", "));
    }
    if (manifest.duplicate_ids > 0) {
      fmt::print("  same id     {} documents have an earlier one's\n",
                 format_count(manifest.duplicate_ids));
    }
    if (manifest.equal_documents > 0) {
      fmt::print("  same text   {} documents say what an earlier one does\n",
                 format_count(manifest.equal_documents));
    }
    for (const auto& [reason, count] : manifest.left_out) {
      fmt::print("  left out    {} {}\n", format_count(count), reason);
    }
    fmt::print("\n{:>16} {:>12} {:>8} {:>8}  source\n", "tokens", "documents", "share", "B/token");
    for (const ShardSource& source : manifest.sources) {
      fmt::print("{:>16} {:>12} {:>8} {:>8.3f}  {}\n", format_count(source.num_tokens),
                 format_count(source.num_documents),
                 format_percent(source.num_tokens, manifest.num_tokens(), 2),
                 per(source.num_bytes, source.num_tokens), source.name);
    }
  }

  static void print_lengths(const Lengths& lengths, const ShardManifest& manifest) {
    fmt::print("\nlengths in tokens, {} to {}\n", format_count(lengths.shortest),
               format_count(lengths.longest));
    const int64_t most = *std::max_element(lengths.documents.begin(), lengths.documents.end());
    for (size_t b = 0; b < Lengths::kBuckets; ++b) {
      if (lengths.documents[b] == 0) continue;
      const auto width = static_cast<size_t>(40 * per(lengths.documents[b], most));
      fmt::print("{:>16} {:>12} {:>8} of tokens {}\n",
                 fmt::format("{}+", format_count(int64_t{1} << b)),
                 format_count(lengths.documents[b]),
                 format_percent(lengths.tokens[b], manifest.num_tokens(), 2),
                 std::string(std::max<size_t>(1, width), '#'));
    }
  }

  // From all over the folder; as ids where there is no tokenizer.
  void print_samples(const ShardFolder& folder) const {
    constexpr size_t kIds = 60;
    const auto loaded = tokenizer_of(folder, tokenizer);
    const int64_t count = std::min(samples, folder.num_documents());
    for (int64_t i = 0; i < count; ++i) {
      const int64_t number = folder.num_documents() * i / count;
      const auto place = folder.document(number);
      const DocumentName name = place.shard->name(place.document);
      std::vector<int32_t> ids = folder.ids(number);
      fmt::print("\ndocument {}, «{}» of {}, {} tokens\n", number, name.id,
                 folder.manifest().sources[static_cast<size_t>(name.source)].name, ids.size());
      const bool is_long = ids.size() > kIds;
      if (is_long) ids.resize(kIds);
      std::string text = loaded ? loaded->decode(ids) : fmt::format("{}", fmt::join(ids, " "));
      if (is_long) text.resize(valid_utf8_prefix(text));  // the last id may be half a character
      fmt::print("{}{}\n", text, is_long ? " …" : "");
    }
  }

  void print_json(const ShardManifest& manifest, const Lengths& lengths) const {
    auto sources = nlohmann::json::array();
    for (const ShardSource& source : manifest.sources) {
      sources.push_back({{"name", source.name},
                         {"tokens", source.num_tokens},
                         {"documents", source.num_documents},
                         {"bytes", source.num_bytes}});
    }
    json.print({{"tokens", manifest.num_tokens()},
                {"documents", manifest.num_documents()},
                {"bytes", manifest.num_bytes()},
                {"shards", manifest.shards.size()},
                {"token_bytes", manifest.token_bytes},
                {"vocab_size", manifest.vocab_size},
                {"bos", manifest.bos},
                {"eos", manifest.eos},
                {"tokenizer_hash", fmt::format("{:016x}", manifest.tokenizer_hash)},
                {"manifest_hash", fmt::format("{:016x}", manifest_hash(manifest))},
                {"sources", sources},
                {"left_out", manifest.left_out},
                {"equal_documents", manifest.equal_documents},
                {"duplicate_ids", manifest.duplicate_ids},
                {"cut_documents", manifest.cut_documents},
                {"shortest", lengths.shortest},
                {"longest", lengths.longest},
                {"documents_by_log2_length", lengths.documents}});
  }
};

struct CatCommand {
  std::string path, tokenizer;
  std::vector<std::string> wanted;
  bool as_ids = false, headers = false, as_json = false;

  void run() const {
    const ShardFolder folder(path);
    const auto loaded = as_ids ? nullptr : tokenizer_of(folder, tokenizer);
    check(as_ids || loaded, ErrorCode::Usage,
          "{} has no tokenizer with it: give --tokenizer, or --ids for numbers", path);
    if (wanted.empty()) print_range(folder, loaded.get(), 0, folder.num_documents());
    for (const std::string& what : wanted) {
      int64_t begin = 0, end = 0;
      if (parse_range(what, begin, end)) {
        print_range(folder, loaded.get(), begin, end);
      } else {
        print_named(folder, loaded.get(), what);
      }
    }
    check(std::fflush(stdout) == 0, ErrorCode::Storage, "cannot write to stdout");
  }

 private:
  // "7" or "7-9", both ends included.
  static bool parse_range(const std::string& text, int64_t& begin, int64_t& end) {
    const char* last = text.data() + text.size();
    auto [at, error] = std::from_chars(text.data(), last, begin);
    if (error != std::errc() || begin < 0 || text.size() == 32) return false;
    end = begin + 1;
    if (at == last) return true;
    if (*at != '-') return false;
    int64_t through = 0;
    const auto [rest, second] = std::from_chars(at + 1, last, through);
    end = through + 1;
    return second == std::errc() && rest == last && through >= begin;
  }

  void print_range(const ShardFolder& folder, const Tokenizer* loaded, int64_t begin,
                   int64_t end) const {
    folder.document(begin);  // out of range is an error, an end beyond the last is not
    for (int64_t i = begin; i < std::min(end, folder.num_documents()); ++i) {
      print_document(folder, loaded, i);
    }
  }

  // By 128-bit id, or by its own id in any of the sources: that gives the 128 bits.
  void print_named(const ShardFolder& folder, const Tokenizer* loaded,
                   const std::string& what) const {
    std::vector<DocumentId> ids;
    if (DocumentId id; parse_document_id(what, id)) ids.push_back(id);
    for (const ShardSource& source : folder.manifest().sources) {
      ids.push_back(document_id(source.name, what));
    }
    bool found = false;
    for (size_t s = 0; s < folder.num_shards(); ++s) {
      const ShardReader& shard = folder.shard(s);
      for (int64_t i = 0; i < shard.num_documents(); ++i) {
        if (std::find(ids.begin(), ids.end(), shard.id(i)) == ids.end()) continue;
        print_document(folder, loaded, folder.first_document(s) + i);
        found = true;
      }
    }
    check(found, ErrorCode::Usage,
          "{}: no document «{}»: expected a number, a range A-B, a 128-bit id or a document's own "
          "id",
          path, what);
  }

  void print_document(const ShardFolder& folder, const Tokenizer* loaded, int64_t number) const {
    const auto place = folder.document(number);
    if (as_json) return print_json(folder, loaded, number, place);
    if (headers) {
      const DocumentName name = place.shard->name(place.document);
      fmt::print("==> {} {} {} «{}»\n", number, to_hex(place.shard->id(place.document)),
                 folder.manifest().sources[static_cast<size_t>(name.source)].name, name.id);
    }
    const std::vector<int32_t> ids = folder.ids(number);
    const std::string text = loaded ? loaded->decode(ids) : fmt::format("{}", fmt::join(ids, " "));
    write_line(text);
  }

  void print_json(const ShardFolder& folder, const Tokenizer* loaded, int64_t number,
                  const ShardFolder::Place& place) const {
    const DocumentName name = place.shard->name(place.document);
    const std::vector<int32_t> ids = folder.ids(number);
    nlohmann::ordered_json object = {
        {"number", number},
        {"id", to_hex(place.shard->id(place.document))},
        {"source", folder.manifest().sources[static_cast<size_t>(name.source)].name},
        {"name", name.id}};
    if (loaded != nullptr) {
      object["text"] = loaded->decode(ids);
    } else {
      object["ids"] = ids;
    }
    write_line(object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }

  static void write_line(const std::string& line) {
    const bool written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size() &&
                         std::fputc('\n', stdout) == '\n';
    check(written, ErrorCode::Storage, "cannot write to stdout");
  }
};

}  // namespace

void add_data_inspect(Command& data) {
  auto command = std::make_shared<InspectCommand>();
  auto* inspect = data.add_subcommand(
      "inspect", "what is in a folder of shards: sources, tokens, lengths, samples");
  inspect->add_option("folder", command->path, "folder of shards")->required();
  inspect->add_option("--samples", command->samples, "how many documents to show the beginning of")
      ->capture_default_str()
      ->not_negative();
  inspect->add_option("--tokenizer", command->tokenizer,
                      "tokenizer to decode with; without it the one beside the shards");
  command->json.add_to(*inspect);
  inspect->callback([command] { command->run(); });
}

void add_data_cat(Command& data) {
  auto command = std::make_shared<CatCommand>();
  auto* cat = data.add_subcommand("cat", "documents of a folder of shards, decoded");
  cat->add_option("folder", command->path, "folder of shards")->required();
  cat->add_option("documents", command->wanted,
                  "numbers, ranges A-B, 128-bit ids or documents' own ids; without any: all");
  cat->add_flag("--ids", command->as_ids, "token ids, a line a document, in place of text");
  cat->add_flag("--headers", command->headers,
                "a line with number, id, source and name before each");
  cat->add_flag("--json", command->as_json,
                "a JSON object a line for each document, with number, id, source and name");
  cat->add_option("--tokenizer", command->tokenizer,
                  "tokenizer to decode with; without it the one beside the shards");
  cat->callback([command] { command->run(); });
}

}  // namespace ingot::cli
