// How fast the loader fills batches from shards in the page cache, one thread.
//
// loader_bench [FOLDER]: writes 100 million random u16 ids in documents of 20 to 2,000 tokens below
// FOLDER (a temporary folder unless given), 200 MB in all, and removes them. Prints million tokens
// per second, best of several interleaved runs in CPU time of the thread, what a plan costs, and
// the first pass over all tokens, in which hashes are compared, beside the second one.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "core/random/random.h"
#include "data/bench_text.h"
#include "feed/loader.h"
#include "feed/open_source.h"
#include "shards/shard_writer.h"

namespace {

using namespace ingot;

constexpr int64_t kTokens = 100'000'000;
constexpr int64_t kBatchTokens = 16'384, kBatches = 200;

void write_shards(const std::string& folder, const Tokenizer& tokenizer) {
  const auto storage = posix_storage();
  storage->make_directories(folder);
  WrittenShards before;
  before.sources.push_back({"random"});
  ShardSettings settings;
  settings.shard_tokens = kTokens / 4;
  ShardWriter writer(storage, folder, settings, before);
  const RandomStream random(1, Purpose::Test);
  std::vector<int32_t> ids;
  for (int64_t written = 0, document = 0; written < kTokens; ++document) {
    ids.resize(20 + random.bits(static_cast<uint64_t>(document)) % 1'981);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>((static_cast<size_t>(document) * 31 + i * 7) % 256);
    writer.append(ids);
    writer.end_document(document_id("random", std::to_string(document)),
                        static_cast<int64_t>(ids.size()), 0, std::to_string(document));
    written += static_cast<int64_t>(ids.size());
  }
  writer.finish();
  ShardManifest manifest;
  manifest.vocab_size = tokenizer.vocab_size();
  manifest.tokenizer_hash = tokenizer_hash(tokenizer);
  manifest.tokenizer_kind = tokenizer.kind();
  manifest.sources = writer.written().sources;
  manifest.shards = writer.written().shards;
  write_manifest(*storage, folder, manifest);
}

struct Case {
  std::string label;
  std::unique_ptr<SampleStream> stream;
  bool document_mask = false;
  double best_seconds = 1e9;
};

std::unique_ptr<SampleStream> one_part(const TokenSource& source, Packing packing, int64_t T) {
  std::vector<StreamPart> list;
  list.push_back({&source, make_plan(packing, source, T, 1)});
  return std::make_unique<SampleStream>(std::move(list), T, 1);
}

std::unique_ptr<SampleStream> mixed(const TokenSource& source, int64_t T, int64_t parts) {
  std::vector<StreamPart> list;
  for (int64_t i = 0; i < parts; ++i)
    list.push_back(
        {&source, make_plan(Packing::Concat, source, T, 1), 1.0 + static_cast<double>(i)});
  return std::make_unique<SampleStream>(std::move(list), T, 1);
}

void measure(const TokenSource& source) {
  std::vector<Case> cases;
  for (const int64_t T : {64, 512, 2'048}) {
    double start = bench::thread_seconds();
    auto best_fit = one_part(source, Packing::BestFit, T);
    fmt::print("T {:5}: best-fit plan of {} documents in {:.3f} s: {}\n", T, source.num_documents(),
               bench::thread_seconds() - start, best_fit->parts()[0].plan->describe());
    cases.push_back({fmt::format("T {:5} concat", T), mixed(source, T, 1)});
    cases.push_back({fmt::format("T {:5} concat, document mask", T), mixed(source, T, 1), true});
    cases.push_back({fmt::format("T {:5} 8 sources", T), mixed(source, T, 8)});
    cases.push_back({fmt::format("T {:5} best fit, document mask", T), std::move(best_fit), true});
  }
  Batch batch;
  for (int round = 0; round < bench::kRuns; ++round)
    for (Case& c : cases) {
      const Loader loader(*c.stream, c.document_mask);
      const int64_t B = kBatchTokens / c.stream->T();
      const double start = bench::thread_seconds();
      for (int64_t i = 0; i < kBatches; ++i) loader.fill(i * B, B, batch);
      c.best_seconds = std::min(c.best_seconds, bench::thread_seconds() - start);
    }
  for (const Case& c : cases)
    fmt::print("{:36} {:8.0f} M tokens/s\n", c.label,
               static_cast<double>(kBatchTokens * kBatches) / c.best_seconds / 1e6);
}

// Every sample once, by a source that was just opened, and once more.
void measure_passes(const std::string& folder, const Tokenizer& tokenizer) {
  constexpr int64_t T = 2'048, B = kBatchTokens / T;
  const auto source = open_token_source(folder, tokenizer, TokenDType::Auto, 257);
  const auto stream = mixed(*source, T, 1);
  const Loader loader(*stream, false);
  Batch batch;
  const int64_t batches = kTokens / kBatchTokens;
  for (const char* pass : {"first", "second"}) {
    const double start = bench::thread_seconds();
    for (int64_t i = 0; i < batches; ++i) loader.fill(i * B, B, batch);
    fmt::print(
        "T {:5} {} pass over {} M tokens {:8.0f} M tokens/s\n", T, pass, kTokens / 1'000'000,
        static_cast<double>(batches * kBatchTokens) / (bench::thread_seconds() - start) / 1e6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(argc > 1 ? argv[1] : fs::temp_directory_path().string()) /
                          fmt::format("ingot_loader_bench_{}", getpid());
  int code = 0;
  try {
    const auto tokenizer = byte_tokenizer();
    write_shards(folder.string(), *tokenizer);
    measure_passes(folder.string(), *tokenizer);
    measure(*open_token_source(folder.string(), *tokenizer, TokenDType::Auto, 257));
  } catch (const std::exception& error) {
    fmt::print(stderr, "loader_bench: {}\n", error.what());
    code = 1;
  }
  fs::remove_all(folder);
  return code;
}
