// ingot bench encode
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "cli/bench/bench.h"
#include "cli/frame/command.h"
#include "cli/tokenizer/tokenizer.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

struct Options {
  TokenizerOption tokenizer;
  std::string input;
  int threads = 1;
  int runs = 5;
  JsonOption json;
};

void run(const Options& options) {
  const auto tokenizer = options.tokenizer.load();
  const std::string text = read_text(*posix_storage(), options.input);
  check(!text.empty(), ErrorCode::Data, "{}: expected text, got an empty file", options.input);
  ThreadPool pool(options.threads);
  std::vector<int32_t> ids;
  double seconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= options.runs; ++i) {  // the first fills caches
    ids.clear();
    const double start = seconds_since_process_start();
    tokenizer->encode_parallel(text, pool, ids);
    if (i > 0) seconds = std::min(seconds, seconds_since_process_start() - start);
  }
  const auto bytes = static_cast<double>(text.size()), tokens = static_cast<double>(ids.size());
  fmt::print("{}: {} in {} tokens ({:.3f} bytes a token), {} thread{}: {}, {} tok/s\n",
             options.input, format_bytes(static_cast<int64_t>(text.size())),
             format_count(static_cast<int64_t>(ids.size())), bytes / tokens, options.threads,
             options.threads == 1 ? "" : "s",
             format_byte_rate(static_cast<int64_t>(text.size()), seconds),
             format_count(static_cast<int64_t>(tokens / seconds)));
  options.json.print({{"bytes", text.size()},
                      {"tokens", ids.size()},
                      {"threads", options.threads},
                      {"seconds", seconds},
                      {"mb_s", bytes / seconds / 1e6},
                      {"tok_s", tokens / seconds}});
}

}  // namespace

void add_bench_encode(Command& bench) {
  auto options = std::make_shared<Options>();
  auto* encode = bench.add_subcommand("encode", "encode a text file: MB/s of the best run");
  options->tokenizer.add_to(*encode);
  encode->add_option("--input", options->input, "text file")->required();
  encode->add_option("--threads", options->threads, "threads")->positive()->capture_default_str();
  encode->add_option("--runs", options->runs, "timed runs")->positive()->capture_default_str();
  options->json.add_to(*encode);
  encode->callback([options] { run(*options); });
}

}  // namespace ingot::cli
