// ingot data verify
#include <fmt/format.h>

#include <memory>

#include "cli/command.h"
#include "cli/data/data.h"
#include "cli/progress_line.h"
#include "core/error.h"
#include "core/storage.h"
#include "core/text/format.h"
#include "core/thread_pool.h"
#include "ingest/tokenize/tokenize.h"
#include "shards/verify.h"

namespace ingot::cli {
namespace {

constexpr size_t kMaxShown = 20;

struct VerifyCommand {
  std::string folder, tokenizer;
  int64_t threads = 1;
  JsonOption json;

  void run() const {
    const auto storage = posix_storage();
    const ShardManifest manifest = read_manifest(*storage, folder);
    check_its_tokenizer(*storage, manifest);
    ProgressLine line;
    const auto problems = verify_shards(folder, manifest, threads, [&](int64_t tokens) {
      if (line.is_due()) {
        line.show(fmt::format("{} of {} tokens", format_count(tokens),
                              format_count(manifest.num_tokens())));
      }
    });
    json_result(problems, manifest);
    if (problems.empty()) {
      fmt::print("{}: good: {} tokens of {} documents in {} shards\n", folder,
                 format_count(manifest.num_tokens()), format_count(manifest.num_documents()),
                 manifest.shards.size());
      return;
    }
    for (size_t i = 1; i < std::min(problems.size(), kMaxShown); ++i) {
      fmt::print(stderr, "ingot: {}\n", problems[i]);
    }
    const size_t more = problems.size() - std::min(problems.size(), kMaxShown);
    throw Error(ErrorCode::Data,
                more == 0 ? problems[0] : fmt::format("{} (and {} more)", problems[0], more));
  }

 private:
  // The one that is given, and the one that lies with the shards.
  void check_its_tokenizer(Storage& storage, const ShardManifest& manifest) const {
    if (!tokenizer.empty()) check_tokenizer(manifest, *load_tokenizer(storage, tokenizer), folder);
    const std::string own = join_path(folder, kShardTokenizerName);
    if (storage.exists(own)) check_tokenizer(manifest, *load_tokenizer(storage, own), folder);
  }

  void json_result(const std::vector<std::string>& problems, const ShardManifest& manifest) const {
    json.print({{"good", problems.empty()},
                {"problems", problems},
                {"tokens", manifest.num_tokens()},
                {"documents", manifest.num_documents()}});
  }
};

}  // namespace

void add_data_verify(Command& data) {
  auto command = std::make_shared<VerifyCommand>();
  command->threads = available_cores();
  auto* verify = data.add_subcommand(
      "verify",
      "is a folder of shards what its manifest says?\n\n"
      "Reads every byte: checksums, ids, document offsets, BOS and EOS once per document, names, "
      "sums. What is wrong is named; exit code 1.");
  verify->add_option("folder", command->folder, "folder of shards")->required();
  verify->add_option("--tokenizer", command->tokenizer,
                     "also: were the shards made with this one?");
  verify->add_option("--threads", command->threads, "threads that read")
      ->capture_default_str()
      ->positive();
  command->json.add_to(*verify);
  verify->callback([command] { command->run(); });
}

}  // namespace ingot::cli
