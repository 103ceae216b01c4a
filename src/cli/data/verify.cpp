// ingot data verify
#include <fmt/format.h>

#include <memory>

#include "cli/frame/command.h"
#include "cli/frame/progress_line.h"
#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/format.h"
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
    ProgressLine line;
    auto problems = verify_shards(folder, manifest, threads, [&](int64_t tokens) {
      if (line.is_due()) {
        line.show(fmt::format("{} of {} tokens", format_count(tokens),
                              format_count(manifest.num_tokens())));
      }
    });
    for (std::string& problem : tokenizer_problems(*storage, manifest)) {
      problems.push_back(std::move(problem));
    }
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
  // Of the one that is given, and of the one that lies with the shards.
  std::vector<std::string> tokenizer_problems(Storage& storage,
                                              const ShardManifest& manifest) const {
    std::vector<std::string> problems;
    const auto compare = [&](const std::string& path) {
      try {
        check_tokenizer(manifest, *load_tokenizer(storage, path), folder);
      } catch (const Error& error) {
        problems.emplace_back(error.what());
      }
    };
    if (!tokenizer.empty()) compare(tokenizer);
    const std::string own = join_path(folder, kShardTokenizerName);
    if (storage.exists(own)) {
      compare(own);
    } else if (manifest.tokenizer_hash != 0) {
      problems.push_back(fmt::format(
          "{}: missing: the manifest says that a {} tokenizer of {} ids made the shards; put it "
          "back, or make them again",
          own, manifest.tokenizer_kind, format_count(manifest.vocab_size)));
    }
    return problems;
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
      "check a folder of shards against its manifest\n\n"
      "Reads every byte: checksums, ids, document offsets, BOS and EOS once per document, names, "
      "sums, and the tokenizer. What is wrong is named; exit code 1.");
  verify->add_option("folder", command->folder, "folder of shards")->required();
  verify->add_option("--tokenizer", command->tokenizer,
                     "also check that the shards were made with this tokenizer");
  verify->add_option("--threads", command->threads, "threads that read")
      ->capture_default_str()
      ->positive();
  command->json.add_to(*verify);
  verify->callback([command] { command->run(); });
}

}  // namespace ingot::cli
