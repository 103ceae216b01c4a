// A shard whose files are arbitrary bytes of the right size: all that is read of it is in range, or
// Error. Input: one byte of document count, then the records, then 64 bytes of tokens, then the
// names; records that are not there are zero.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/shards/shard_reader.h"

namespace {

constexpr size_t kTokenBytes = 64;

const std::string& folder() {
  static const std::string path = [] {
    const auto made = std::filesystem::temp_directory_path() /
                      ("ingot_fuzz_shard_files_" + std::to_string(getpid()));
    std::filesystem::create_directories(made);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return made.string();
  }();
  return path;
}

void write(const char* name, const std::string& bytes) {
  std::ofstream(folder() + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
}

void read_all(const ingot::ShardManifest& manifest) {
  const ingot::ShardReader shard(folder(), manifest, 0);
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < shard.num_documents(); ++i) {
    const int64_t begin = shard.document_begin(i), end = shard.document_end(i);
    if (begin < 0 || end > shard.num_tokens()) abort();
    if (end > begin) {
      ids.resize(static_cast<size_t>(end - begin));
      shard.tokens(begin, ids);
    }
    const ingot::DocumentName name = shard.name(i);
    if (name.source < 0 || name.source >= static_cast<int64_t>(manifest.sources.size())) abort();
  }
  for (int64_t i = 0; i < shard.num_tokens(); ++i) {
    const int64_t document = shard.document_of(i);
    if (document < 0 || document >= shard.num_documents()) abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t num_documents = 1 + data[0] % 8;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t record_bytes = num_documents * sizeof(ingot::DocumentRecord);
  bytes.resize(std::max(bytes.size(), record_bytes + kTokenBytes + 1));
  ingot::ShardManifest manifest;
  manifest.vocab_size = 300;
  manifest.sources = {{"a", 0, 0, 0}, {"b", 0, 0, 0}};
  manifest.shards = {{"00000", kTokenBytes / 2, static_cast<int64_t>(num_documents), 0, 0, 0}};
  write("00000.documents", bytes.substr(0, record_bytes));
  write("00000.tokens", bytes.substr(record_bytes, kTokenBytes));
  write("00000.names", bytes.substr(record_bytes + kTokenBytes));
  try {
    read_all(manifest);
  } catch (const ingot::Error&) {
  }
  return 0;
}
