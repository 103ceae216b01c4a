// Tokenizers kept from run to run: the same ids, and nothing that is damaged is believed.
#include "tokenizer/bpe/prepared.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <xxhash.h>

#include <csignal>

#include "core/error/error.h"
#include "support/own_folder.h"
#include "tokenizer/nasty_text.h"
#include "tokenizer/small_bpe.h"

namespace ingot {
namespace {

constexpr size_t kChecksumAt = 32, kHeader = 40;

BpeModel some_model() {
  BpeModel model = testing_support::random_model(1, 60, {"hello", "world", "你好"});
  model.split = Split::Llama3;
  model.whole_piece_first = true;
  model.tokens.push_back("unreached");
  testing_support::add_special(model, "<|endoftext|>");
  testing_support::add_special(model, "  ", false);
  model.bos = model.eos = static_cast<int32_t>(model.tokens.size()) - 2;
  model.post_processor = "{}";
  return model;
}

void expect_same(const Tokenizer& a, const Tokenizer& b) {
  EXPECT_EQ(a.serialize(), b.serialize());
  EXPECT_EQ(a.facts(), b.facts());
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const std::string text = testing_support::nasty_text(seed, 40) + "hello  unreached 你好";
    EXPECT_EQ(a.encode(text), b.encode(text));
  }
}

class Prepared : public testing::Test {
 protected:
  std::shared_ptr<Storage> storage_ = memory_storage();
  SourceKey key_ = source_key({"source"});
  std::unique_ptr<Tokenizer> made_ = bpe_tokenizer(some_model(), "test");

  std::string path() const { return join_path("cache", storage_->list("cache")[0]); }
  std::unique_ptr<Tokenizer> load() const { return load_prepared(*storage_, "cache", key_); }
};

TEST_F(Prepared, IsTheTokenizerThatWasKept) {
  EXPECT_EQ(load(), nullptr);
  keep_prepared(*storage_, "cache", key_, *made_);
  EXPECT_EQ(storage_->list("cache").size(), 1u);  // nothing is left aside
  const auto loaded = load();
  ASSERT_NE(loaded, nullptr);
  expect_same(*made_, *loaded);
  EXPECT_EQ(load_prepared(*storage_, "cache", source_key({"sourc", "e"})), nullptr);
}

TEST_F(Prepared, DamageIsNoticed) {
  keep_prepared(*storage_, "cache", key_, *made_);
  const std::string whole = read_text(*storage_, path());
  for (size_t at = 0; at < whole.size(); at += at < 2000 ? 1 : 9973) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_file_atomically(*storage_, path(), damaged);
    const bool reserved = at >= 12 && at < 16;
    EXPECT_EQ(load() == nullptr, !reserved) << at;
    if (at % 64 == 0) {
      write_file_atomically(*storage_, path(), whole.substr(0, at));
      EXPECT_EQ(load(), nullptr) << at;
    }
  }
  write_file_atomically(*storage_, path(), whole + "x");
  EXPECT_EQ(load(), nullptr);
}

// Who writes the file can also write the checksum: then nothing may lead outside the tables.
TEST_F(Prepared, AForgedFileDoesNoHarm) {
  keep_prepared(*storage_, "cache", key_, *made_);
  const std::string whole = read_text(*storage_, path());
  const RandomStream random(5, Purpose::Test);
  for (uint64_t i = 0; i < 150; ++i) {
    std::string forged = whole;
    const size_t range = i % 2 == 0 ? 4000 : forged.size() - kHeader;
    for (uint64_t change = 0; change < 3; ++change) {
      const uint64_t bits = random.bits(i * 8 + change);
      forged[kHeader + bits % range] = static_cast<char>(bits >> 40);
    }
    const uint64_t checksum = XXH3_64bits(forged.data() + kHeader, forged.size() - kHeader);
    std::memcpy(forged.data() + kChecksumAt, &checksum, sizeof checksum);
    write_file_atomically(*storage_, path(), forged);
    const auto loaded = load();
    if (loaded == nullptr) continue;
    try {
      for (const int32_t id : loaded->encode("hello  world 你好<|endoftext|> unreached")) {
        ASSERT_LT(id, loaded->vocab_size());
        loaded->decode(id);
      }
    } catch (const Error&) {
    }
  }
}

TEST_F(Prepared, FewFilesAreKept) {
  for (int i = 0; i < 20; ++i) {
    keep_prepared(*storage_, "cache", source_key({std::to_string(i)}), *made_);
  }
  EXPECT_EQ(storage_->list("cache").size(), 8u);
  EXPECT_NE(load_prepared(*storage_, "cache", source_key({"19"})), nullptr);
}

TEST_F(Prepared, AFolderThatCannotBeWrittenIsNoError) {
  const auto broken = faulty_storage(storage_, {.operations_before_cut = 0});
  EXPECT_NO_THROW(keep_prepared(*broken, "cache", key_, *made_));
  EXPECT_EQ(load(), nullptr);
}

TEST_F(Prepared, WhatDoesNotFitOnTheDiskLeavesNothingThere) {
  const std::string folder = testing_support::own_folder();
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit usual{};
  getrlimit(RLIMIT_FSIZE, &usual);
  const rlimit small{100, usual.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  keep_prepared(*posix_storage(), folder, key_, *made_);
  setrlimit(RLIMIT_FSIZE, &usual);
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(posix_storage()->list(folder), std::vector<std::string>{});
  posix_storage()->remove(folder);
}

TEST_F(Prepared, LoadingALargeFileKeepsItAndNoticesAnother) {
  const std::string file = to_tokenizer_json(some_model()) + std::string(1 << 20, ' ');
  write_file_atomically(*storage_, "tokenizer.json", file);
  const auto disk = posix_storage();
  const std::filesystem::path folder = testing_support::own_folder();
  const std::string cache = folder / "cache";
  keep_tokenizers_in(cache);
  const auto load = [&](const LoadOptions& options = {}) {
    return load_tokenizer(*storage_, "tokenizer.json", options);
  };
  const auto first = load();
  ASSERT_EQ(disk->list(cache).size(), 1u);
  expect_same(*first, *load());
  // Damaged, it is read from the source again.
  const std::string kept = join_path(cache, disk->list(cache)[0]);
  std::string damaged = read_text(*disk, kept);
  damaged.resize(damaged.size() / 2);
  write_file_atomically(*disk, kept, damaged);
  expect_same(*first, *load());
  EXPECT_GT(read_text(*disk, kept).size(), damaged.size());
  // What else is read counts, too.
  write_file_atomically(*storage_, "tokenizer_config.json", R"({"bos_token":null})");
  EXPECT_EQ(load()->bos(), -1);
  EXPECT_EQ(disk->list(cache).size(), 2u);
  keep_tokenizers_in("");
  write_file_atomically(*storage_, "tokenizer_config.json", "{}");
  load();
  EXPECT_EQ(disk->list(cache).size(), 2u);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ingot
