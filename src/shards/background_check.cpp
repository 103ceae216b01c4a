#include "shards/background_check.h"

#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "core/error/error.h"
#include "core/error/log.h"
#include "core/text/format.h"

namespace ingot {
namespace {

constexpr int64_t kBytesAtOnce = int64_t{4} << 20;

int64_t document_bytes(const ShardFile& shard) {
  return shard.num_documents * static_cast<int64_t>(sizeof(DocumentRecord));
}

}  // namespace

BackgroundCheck::BackgroundCheck(std::shared_ptr<Storage> storage, std::string folder,
                                 std::vector<ShardFile> shards, int64_t token_bytes)
    : storage_(std::move(storage)),
      folder_(std::move(folder)),
      shards_(std::move(shards)),
      token_bytes_(token_bytes) {
  for (const ShardFile& shard : shards_)
    bytes_ += shard.num_tokens * token_bytes_ + document_bytes(shard);
  log::info("data_compared_meanwhile",
            {{"folder", folder_},
             {"bytes", format_bytes(bytes_)},
             {"why",
              "its shards have no hashes of their parts: the files are read once and "
              "compared with the manifest during the run"}});
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

BackgroundCheck::~BackgroundCheck() {
  thread_.request_stop();
  wait();
  if (!failed_ && done_ < bytes_)
    log::info("data_not_all_compared",
              {{"folder", folder_},
               {"compared", fmt::format("{} of {}", format_bytes(done_), format_bytes(bytes_))},
               {"advice", "ingot data verify compares all"}});
}

void BackgroundCheck::wait() {
  if (thread_.joinable()) thread_.join();
}

void BackgroundCheck::work(const std::stop_token& stop) {
  try {
    for (const ShardFile& shard : shards_) {
      compare(shard.name + ".documents", document_bytes(shard), shard.documents_hash, stop);
      compare(shard.name + ".tokens", shard.num_tokens * token_bytes_, shard.tokens_hash, stop);
      if (stop.stop_requested()) return;
    }
    log::info("data_compared", {{"folder", folder_}, {"bytes", format_bytes(bytes_)}});
  } catch (...) {
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_release);
  }
}

void BackgroundCheck::compare(const std::string& name, int64_t size, uint64_t hash,
                              const std::stop_token& stop) {
  const std::string path = join_path(folder_, name);
  const auto file = storage_->open_once(path);
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              &XXH3_freeState);
  XXH3_64bits_reset(state.get());
  std::vector<std::byte> bytes(static_cast<size_t>(std::min(size, kBytesAtOnce)));
  for (int64_t at = 0; at < size; at += kBytesAtOnce) {
    if (stop.stop_requested()) return;
    const auto part =
        std::span(bytes).first(static_cast<size_t>(std::min<int64_t>(kBytesAtOnce, size - at)));
    file->read(at, part);
    XXH3_64bits_update(state.get(), part.data(), part.size());
    done_ += static_cast<int64_t>(part.size());
    pause(stop);
  }
  const uint64_t got = XXH3_64bits_digest(state.get());
  check(got == hash, ErrorCode::Data,
        "{}: the file changed after it was written: its manifest says hash {:016x}, got {:016x}; "
        "restore it from a copy or make the shards again (ingot data verify names all that "
        "changed)",
        path, hash, got);
}

// After each part, as long as it takes at kBytesPerSecond.
void BackgroundCheck::pause(const std::stop_token& stop) const {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop,
                 std::chrono::duration<double>(static_cast<double>(kBytesAtOnce) /
                                               static_cast<double>(kBytesPerSecond)),
                 [] { return false; });
}

}  // namespace ingot
