// ingot data tokenize, below the command: which tokens come out, and that they are always the same.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "core/error/error.h"
#include "core/random/random.h"
#include "ingest/tokenize/document_batches.h"
#include "ingest/tokenize/tokenize.h"
#include "shards/duplicates.h"
#include "shards/shard_reader.h"
#include "support/files.h"
#include "tokenizer/bpe/model.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using testing_support::error_of;
using testing_support::TemporaryFolder;

// Words of its bytes, and a few merges: "th", "the", " the", "an", "and".
std::unique_ptr<Tokenizer> small_bpe(Split split = Split::Gpt2) {
  BpeModel model;
  model.split = split;
  for (int byte = 0; byte < 256; ++byte) model.tokens.emplace_back(1, static_cast<char>(byte));
  const auto merge = [&](int32_t left, int32_t right) {
    const auto result = static_cast<int32_t>(model.tokens.size());
    model.tokens.push_back(model.tokens[static_cast<size_t>(left)] +
                           model.tokens[static_cast<size_t>(right)]);
    model.merges.push_back({left, right, result});
    return result;
  };
  const int32_t the = merge(merge('t', 'h'), 'e');
  merge(' ', the);
  merge(merge('a', 'n'), 'd');
  model.bos = static_cast<int32_t>(model.tokens.size());
  model.added.push_back({"<s>", model.bos, true});
  model.tokens.emplace_back("<s>");
  model.eos = static_cast<int32_t>(model.tokens.size());
  model.added.push_back({"</s>", model.eos, true});
  model.tokens.emplace_back("</s>");
  return bpe_tokenizer(std::move(model), "small");
}

std::string some_text(uint64_t seed, size_t size) {
  static const std::vector<std::string> words = {"the",  "and", "band",  "other", "\n", "über",
                                                 "漢字", ",",   "thand", "1984",  "  ", "x</s>"};
  const RandomStream random(seed, Purpose::Test);
  std::string text;
  for (uint64_t i = 0; text.size() < size; ++i) {
    text += words[random.bits(i) % words.size()] + " ";
  }
  return text;
}

// Twelve files of both kinds, in two sources, with things to leave out.
struct Corpus {
  explicit Corpus(const TemporaryFolder& folder) {
    for (int file = 0; file < 12; ++file) {
      const auto seed = static_cast<uint64_t>(file);
      const std::string source = file < 7 ? "web" : "books";
      if (file % 3 == 0) {
        add(folder, source, std::to_string(file) + ".txt", some_text(seed, 3000));
        continue;
      }
      std::string lines;
      for (int line = 0; line < 40; ++line) {
        nlohmann::json record = {{"text", some_text(100 * seed + static_cast<uint64_t>(line),
                                                    static_cast<size_t>(line * 17))}};
        if (line % 2 == 0) record["id"] = "id-" + std::to_string(line);
        lines += record.dump() + "\n";
      }
      add(folder, source, std::to_string(file) + ".jsonl", lines);
    }
    for (const char* source : {"web", "books"}) {
      sources.push_back({source, list_input_files({folder.path(std::string("in/") + source)})});
    }
  }
  static void add(const TemporaryFolder& folder, const std::string& source, const std::string& name,
                  const std::string& contents) {
    folder.write("in/" + source + "/" + name, contents);
  }

  std::vector<TokenizeSource> sources;
};

TokenizeSettings small_settings(const Tokenizer& tokenizer) {
  TokenizeSettings settings;
  settings.bos = tokenizer.bos();
  settings.eos = tokenizer.eos();
  settings.shard_tokens = 12'000;
  settings.task_bytes = 20'000;
  return settings;
}

TokenizeResult tokenize(const std::shared_ptr<Storage>& storage, const Tokenizer& tokenizer,
                        const std::vector<TokenizeSource>& sources,
                        const TokenizeSettings& settings, const std::string& folder,
                        int64_t threads = 1, ProcessShare share = {}) {
  StageObserver observer;
  return ingot::tokenize({storage, folder, share, threads, &observer}, tokenizer, sources,
                         settings);
}

// Everything that readers of the folder see.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    files[entry.path().filename()] = read_text(*posix_storage(), entry.path());
  }
  return files;
}

TEST(Tokenize, EveryDocumentOnceInOrderBetweenBosAndEos) {
  const TemporaryFolder folder;
  const Corpus corpus(folder);
  const auto tokenizer = small_bpe();
  const std::string out = folder.path("out");
  const TokenizeResult result =
      tokenize(posix_storage(), *tokenizer, corpus.sources, small_settings(*tokenizer), out);
  ASSERT_TRUE(result.finished);
  const ShardManifest manifest = read_manifest(*posix_storage(), out);
  EXPECT_EQ(to_json(manifest), to_json(result.manifest));
  EXPECT_GT(manifest.shards.size(), 5u);

  size_t shard = 0;
  int64_t document = 0;
  std::unique_ptr<ShardReader> reader;
  int64_t num_documents = 0;
  for (size_t source = 0; source < corpus.sources.size(); ++source) {
    ReadSettings settings;
    settings.source = corpus.sources[source].name;
    for (const InputFile& file : corpus.sources[source].files) {
      const auto documents = open_documents(file, settings);
      for (Document expected; documents->next(expected); ++num_documents, ++document) {
        if (!reader || document == reader->num_documents()) {
          ASSERT_LT(shard, manifest.shards.size());
          reader = std::make_unique<ShardReader>(out, manifest, shard++);
          document = 0;
        }
        std::vector<int32_t> ids = {tokenizer->bos()}, got;
        tokenizer->encode(expected.text, ids);
        ids.push_back(tokenizer->eos());
        const int64_t begin = reader->document_begin(document);
        got.resize(static_cast<size_t>(reader->document_end(document) - begin));
        reader->tokens(begin, got);
        ASSERT_EQ(got, ids);
        EXPECT_EQ(std::count(got.begin(), got.end(), tokenizer->eos()), 1);
        EXPECT_EQ(reader->name(document).id, expected.id);
        EXPECT_EQ(reader->name(document).source, static_cast<int64_t>(source));
        EXPECT_EQ(reader->id(document), document_id(settings.source, expected.id));
        EXPECT_EQ(reader->num_bytes(document), static_cast<int64_t>(expected.text.size()));
      }
    }
  }
  EXPECT_EQ(num_documents, manifest.num_documents());
  EXPECT_EQ(shard, manifest.shards.size());
  EXPECT_EQ(manifest.left_out, (std::map<std::string, int64_t>{{"empty", 8}}));
  // Of each of eight files of lines: twenty ids that the others have too, less the empty document.
  EXPECT_EQ(manifest.duplicate_ids, 3 * 19 + 3 * 19);
  EXPECT_EQ(result.duplicate_examples.size(), 3u);
  EXPECT_EQ(tokenizer_hash(*load_tokenizer(*posix_storage(), out + "/tokenizer")),
            manifest.tokenizer_hash);
}

TEST(Tokenize, EqualBytesForAnyThreadsAndProcesses) {
  const TemporaryFolder folder;
  const Corpus corpus(folder);
  const auto tokenizer = small_bpe();
  const auto run = [&](const std::string& out, int64_t threads, int64_t task_bytes,
                       ProcessShare share = {}) {
    TokenizeSettings settings = small_settings(*tokenizer);
    settings.task_bytes = task_bytes;
    return tokenize(posix_storage(), *tokenizer, corpus.sources, settings, folder.path(out),
                    threads, share);
  };
  for (const int64_t task_bytes : {20'000, 1'000'000}) {
    const std::string name = std::to_string(task_bytes);
    run(name + "-1", 1, task_bytes);
    for (const int64_t threads : {2, 8}) {
      const std::string other = name + "-" + std::to_string(threads);
      run(other, threads, task_bytes);
      EXPECT_EQ(contents(folder.path(other)), contents(folder.path(name + "-1"))) << other;
    }
  }
  EXPECT_FALSE(run("shared", 2, 20'000, {1, 3}).finished);
  EXPECT_FALSE(run("shared", 1, 20'000, {0, 3}).finished);
  EXPECT_TRUE(run("shared", 1, 20'000, {2, 3}).finished);
  EXPECT_EQ(contents(folder.path("shared")), contents(folder.path("20000-1")));
}

// One task of many batches, so that threads overtake each other inside it.
TEST(Tokenize, BatchesAreWrittenInTheOrderTheyWereRead) {
  const TemporaryFolder folder;
  std::string lines;
  for (uint64_t i = 0; lines.size() < static_cast<size_t>(6) << 20; ++i) {
    lines += nlohmann::json({{"text", some_text(i, 200 + i % 7000)}}).dump() + "\n";
  }
  folder.write("in/a.jsonl", lines);
  const std::vector<TokenizeSource> sources = {{"s", list_input_files({folder.path("in")})}};
  const auto tokenizer = small_bpe();
  TokenizeSettings settings = small_settings(*tokenizer);
  settings.task_bytes = int64_t{1} << 30;
  settings.shard_tokens = 500'000;
  for (const int64_t threads : {1, 2, 8}) {
    tokenize(posix_storage(), *tokenizer, sources, settings,
             folder.path("out-" + std::to_string(threads)), threads);
  }
  EXPECT_TRUE(contents(folder.path("out-2")) == contents(folder.path("out-1")));
  EXPECT_TRUE(contents(folder.path("out-8")) == contents(folder.path("out-1")));
}

TEST(Tokenize, EqualBytesAfterPowerCutsAtAnyMoment) {
  const TemporaryFolder folder;
  const Corpus corpus(folder);
  const auto tokenizer = small_bpe();
  for (const int64_t task_bytes : {20'000, 1'000'000}) {
    TokenizeSettings settings = small_settings(*tokenizer);
    settings.task_bytes = task_bytes;
    const auto run = [&](const std::shared_ptr<Storage>& storage, const std::string& out) {
      return tokenize(storage, *tokenizer, corpus.sources, settings, out, 2);
    };
    const std::string whole = folder.path("whole-" + std::to_string(task_bytes));
    const std::string cut = folder.path("cut-" + std::to_string(task_bytes));
    run(posix_storage(), whole);
    const RandomStream random(3, Purpose::Test);
    int cuts = 0;
    for (bool finished = false; !finished; ++cuts) {
      ASSERT_LT(cuts, 200);
      const int64_t operations = 28 + random.bits(static_cast<uint64_t>(cuts)) % 40;
      try {
        finished = run(faulty_storage(posix_storage(), {operations, true}), cut).finished;
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::Storage) << error.what();
      }
    }
    EXPECT_GT(cuts, 4);
    auto got = contents(cut);
    std::erase_if(got,
                  [](const auto& file) { return file.first.find(".tmp") != std::string::npos; });
    EXPECT_EQ(got, contents(whole));
  }
}

TEST(Tokenize, LongTextsInPartsHaveTheIdsOfTheWhole) {
  const TemporaryFolder folder;
  const std::string streamed = some_text(1, static_cast<size_t>(5) << 20);
  const std::string held = some_text(2, static_cast<size_t>(3) << 20);
  const std::string unbroken(static_cast<size_t>(2) << 20, 'a');  // no place to cut
  folder.write("in/a.txt", "\xEF\xBB\xBF" + streamed);
  folder.write("in/b.txt", held);
  folder.write("in/c.txt", unbroken);
  const std::vector<TokenizeSource> sources = {{"long", list_input_files({folder.path("in")})}};
  const auto byte = byte_tokenizer();
  const auto bpe = small_bpe();
  for (const Tokenizer* tokenizer : {byte.get(), bpe.get()}) {
    TokenizeSettings settings;
    settings.eos = tokenizer->eos();
    settings.read.max_document_bytes = 4 << 20;  // a text file may be longer
    const std::string out = folder.path("out-" + tokenizer->kind());
    const ShardManifest manifest =
        tokenize(posix_storage(), *tokenizer, sources, settings, out, 4).manifest;
    ASSERT_EQ(manifest.num_documents(), 3);
    const ShardReader reader(out, manifest, 0);
    int64_t number = 0;
    for (const std::string* text : {&streamed, &held, &unbroken}) {
      const int64_t begin = reader.document_begin(number);
      std::vector<int32_t> got(static_cast<size_t>(reader.document_end(number) - begin));
      reader.tokens(begin, got);
      std::vector<int32_t> expected = tokenizer->encode(*text);
      expected.push_back(tokenizer->eos());
      EXPECT_TRUE(got == expected) << tokenizer->kind() << " " << number;
      EXPECT_EQ(reader.num_bytes(number), static_cast<int64_t>(text->size()));
      ++number;
    }
  }
}

// The cuts of a tokenizer with added tokens that texts may hold.
TEST(Tokenize, CutsKeepOutOfAddedTokens) {
  BpeModel model;
  for (int byte = 0; byte < 256; ++byte) model.tokens.emplace_back(1, static_cast<char>(byte));
  for (const char* content : {"a b", "ab-c", "   "}) {
    model.added.push_back({content, static_cast<int32_t>(model.tokens.size()), false});
    model.tokens.emplace_back(content);
  }
  const auto tokenizer = bpe_tokenizer(std::move(model), "added");
  const std::string text = "xyz a bab-c b a bca   b ab-ca bxy, ab-cab a b zz ab c";
  const std::vector<int32_t> whole = tokenizer->encode(text);
  int cuts = 0;
  for (size_t limit = 1; limit < text.size(); ++limit) {
    const size_t cut = tokenizer->safe_cut(text, limit);
    ASSERT_LE(cut, limit);
    if (cut == 0) continue;
    std::vector<int32_t> parts = tokenizer->encode(text.substr(0, cut));
    tokenizer->encode(text.substr(cut), parts);
    EXPECT_EQ(parts, whole) << limit << " " << cut;
    ++cuts;
  }
  EXPECT_GT(cuts, 10);
}

TEST(Tokenize, WhatIsLeftOutIsCounted) {
  const TemporaryFolder folder;
  folder.write(
      "in/a.jsonl",
      "{\"text\": \"good\"}\n{\"text\": \"\"}\n{\"txt\": 1}\nno json\n{\"text\": \"b\xFF\"}\n" +
          std::string("{\"text\": \"x\", \"id\": \"") + std::string(kMaxNameBytes + 1, 'i') +
          "\"}\n{\"text\": \"last\"}\n");
  folder.write("in/bad.txt", "caf\xE9");
  std::string large = some_text(3, static_cast<size_t>(5) << 20);
  large[large.size() / 2] = '\xFF';
  folder.write("in/large.txt", large);
  const auto tokenizer = byte_tokenizer();
  const ShardManifest manifest =
      tokenize(posix_storage(), *tokenizer, {{"s", list_input_files({folder.path("in")})}},
               TokenizeSettings(), folder.path("out"))
          .manifest;
  EXPECT_EQ(manifest.num_documents(), 2);
  auto left_out = manifest.left_out;
  EXPECT_EQ(left_out["empty"], 1);
  EXPECT_EQ(left_out["id_too_long"], 1);
  int64_t sum = 0;
  for (const auto& [reason, count] : left_out) sum += count;
  EXPECT_EQ(sum, 7);
}

// A task that was stopped between two shards has taken documents of one file, and all of others.
TEST(Tokenize, WhatAStoppedTaskHasReadMustBeThereStill) {
  const TemporaryFolder folder;
  const auto tokenizer = byte_tokenizer();
  std::string first, second;
  for (uint64_t i = 0; i < 20; ++i) {
    first += nlohmann::json({{"text", some_text(i, 100)}}).dump() + "\n";
    second += nlohmann::json({{"text", some_text(100 + i, 2000)}}).dump() + "\n";
  }
  TokenizeSettings settings = small_settings(*tokenizer);
  settings.task_bytes = 1 << 30;
  settings.shard_tokens = 10'000;
  const auto run = [&](const std::shared_ptr<Storage>& storage, const std::string& out) {
    return tokenize(storage, *tokenizer, {{"s", list_input_files({folder.path("in")})}}, settings,
                    folder.path(out));
  };
  folder.write("in/a.jsonl", first);
  folder.write("in/b.jsonl", second);
  run(posix_storage(), "whole");
  const auto stop = [&](const std::string& out) {
    fs::remove_all(folder.path(out));
    for (int64_t operations = 15; !fs::exists(folder.path(out + "/tasks/00000.partial"));
         ++operations) {
      ASSERT_LT(operations, 400);
      fs::remove_all(folder.path(out));
      try {
        run(faulty_storage(posix_storage(), {operations, false}), out);
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::Storage) << error.what();
      }
    }
    ASSERT_FALSE(fs::exists(folder.path(out + "/manifest.json")));
  };
  const auto with_change = [](std::string text, size_t at) {
    const size_t place = text.find_first_of("aeiou", at);
    text[place] = text[place] == 'a' ? 'e' : 'a';
    return text;
  };
  stop("changed");
  folder.write("in/a.jsonl", with_change(first, first.size() / 2));
  EXPECT_NE(error_of(ErrorCode::Config, [&] { run(posix_storage(), "changed"); }).find("a.jsonl"),
            std::string::npos);
  folder.write("in/a.jsonl", first);
  folder.write("in/b.jsonl", with_change(second, 500));
  EXPECT_NE(error_of(ErrorCode::Config, [&] { run(posix_storage(), "changed"); }).find("b.jsonl"),
            std::string::npos);
  folder.write("in/b.jsonl", second);
  EXPECT_TRUE(run(posix_storage(), "changed").finished);
  EXPECT_EQ(contents(folder.path("changed")), contents(folder.path("whole")));
}

TEST(Tokenize, OtherSettingsOrInputsAreRefused) {
  const TemporaryFolder folder;
  const Corpus corpus(folder);
  const auto tokenizer = small_bpe();
  const TokenizeSettings settings = small_settings(*tokenizer);
  const std::string out = folder.path("out");
  const auto begin = [&](const Tokenizer& other, const TokenizeSettings& changed) {
    return tokenize(posix_storage(), other, corpus.sources, changed, out);
  };
  begin(*tokenizer, settings);
  EXPECT_TRUE(begin(*tokenizer, settings).finished);
  const auto refused = [&](const Tokenizer& other, const TokenizeSettings& changed) {
    return error_of(ErrorCode::Config, [&] { begin(other, changed); });
  };
  TokenizeSettings changed = settings;
  changed.eos = -1;
  EXPECT_NE(refused(*tokenizer, changed).find("eos"), std::string::npos);
  EXPECT_NE(refused(*small_bpe(Split::Cl100k), settings).find("tokenizer"), std::string::npos);
  folder.write("in/web/0.txt", "changed");
  const std::vector<TokenizeSource> other = {{"web", list_input_files({folder.path("in/web")})},
                                             corpus.sources[1]};
  const std::string message = error_of(
      ErrorCode::Config, [&] { tokenize(posix_storage(), *tokenizer, other, settings, out); });
  EXPECT_NE(message.find("files_hash"), std::string::npos) << message;
}

TEST(Tokenize, DocumentsAreReadThroughTheStorageThatItIsGiven) {
  const auto storage = memory_storage();
  const auto write = [&](const std::string& path, const std::string& contents) {
    storage->make_directories(parent_path(path));
    storage->create(path)->append(std::as_bytes(std::span(contents)));
  };
  write("in/a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
  write("in/b.txt", std::string(5 << 20, 'x'));  // longer than what is read at once
  const std::vector<TokenizeSource> sources = {
      {"s", {{"in/a.jsonl", "a.jsonl", 34}, {"in/b.txt", "b.txt", 5 << 20}}}};
  const auto tokenizer = byte_tokenizer();
  const TokenizeResult result =
      tokenize(storage, *tokenizer, sources, small_settings(*tokenizer), "out");
  EXPECT_EQ(result.manifest.num_documents(), 3);
  EXPECT_EQ(result.text_bytes, 6 + (5 << 20));
  // A second time, its inputs are compared with what was read.
  write("in/a.jsonl", "{\"text\": \"one\"}\n{\"text\": \"new\"}\n");
  storage->remove("out/manifest.json");
  EXPECT_NE(
      error_of(ErrorCode::Config,
               [&] { tokenize(storage, *tokenizer, sources, small_settings(*tokenizer), "out"); })
          .find("in/a.jsonl"),
      std::string::npos);
}

TEST(Tokenize, TheObserverIsToldAllOfIt) {
  struct Sums : StageObserver {
    void on_tasks(std::string_view step, int64_t done, int64_t of) override {
      EXPECT_EQ(step, "tokenize");
      last_done = done;
      tasks = of;
    }
    void on_documents(int64_t count, int64_t bytes) override {
      documents += count;
      text_bytes += bytes;
    }
    void on_tokens(int64_t count) override { tokens += count; }
    void on_input(int64_t bytes, int64_t of) override {
      bytes_read = bytes;
      bytes_total = of;
    }
    int64_t last_done = -1, tasks = 0, documents = 0, text_bytes = 0, tokens = 0, bytes_read = 0,
            bytes_total = 0;
  } sums;
  const TemporaryFolder folder;
  const Corpus corpus(folder);
  const auto tokenizer = small_bpe();
  const TokenizeResult result =
      ingot::tokenize({posix_storage(), folder.path("out"), {}, 1, &sums}, *tokenizer,
                      corpus.sources, small_settings(*tokenizer));
  EXPECT_EQ(sums.last_done, sums.tasks);
  EXPECT_GT(sums.tasks, 1);
  EXPECT_EQ(sums.documents, result.manifest.num_documents());
  EXPECT_EQ(sums.text_bytes, result.manifest.num_bytes());
  EXPECT_EQ(sums.tokens, result.manifest.num_tokens());
  EXPECT_EQ(sums.bytes_read, sums.bytes_total);
}

TEST(Tokenize, NothingToReadIsAnError) {
  const TemporaryFolder folder;
  folder.write("in/a.jsonl", "{\"text\": \"\"}\n");
  const std::string message = error_of(ErrorCode::Data, [&] {
    tokenize(posix_storage(), *byte_tokenizer(), {{"s", list_input_files({folder.path("in")})}},
             TokenizeSettings(), folder.path("out"));
  });
  EXPECT_NE(message.find("no documents"), std::string::npos) << message;
  EXPECT_FALSE(fs::exists(folder.path("out/manifest.json")));
}

TEST(Tokenize, DuplicateIdsAreFoundWithLittleMemoryToo) {
  const TemporaryFolder folder;
  const Corpus corpus(folder);
  const auto tokenizer = small_bpe();
  const std::string out = folder.path("out");
  const ShardManifest manifest =
      tokenize(posix_storage(), *tokenizer, corpus.sources, small_settings(*tokenizer), out)
          .manifest;
  for (const int64_t memory_bytes : {500, 3'000, 1 << 20}) {
    const auto find = [&](DocumentKey key) {
      return find_duplicate_documents(*posix_storage(), {{out, &manifest}}, key, memory_bytes,
                                      folder.path("aside"));
    };
    EXPECT_EQ(find(DocumentKey::Id).count, manifest.duplicate_ids) << memory_bytes;
    EXPECT_EQ(find(DocumentKey::Id).examples.size(), 3u);
    EXPECT_EQ(find(DocumentKey::Content).count, manifest.equal_documents) << memory_bytes;
    EXPECT_EQ(find(DocumentKey::IdAndContent).count, 0) << memory_bytes;
    EXPECT_FALSE(fs::exists(folder.path("aside")));
  }
}

}  // namespace
}  // namespace ingot::test
