// A shard whose files are arbitrary bytes of the right size: all that is read of it is in range, or
// Error. Input: one byte of document count, then the records, then 64 bytes of tokens, then the
// names; records that are not there are zero.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "memory_files.h"
#include "shards/shard_reader.h"

namespace {

constexpr size_t kTokenBytes = 64;

void read_all(const std::string& folder, const ingot::ShardManifest& manifest) {
  const ingot::ShardReader shard(folder, manifest, 0);
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
  static ingot::fuzz::MemoryFiles files({"00000.documents", "00000.tokens", "00000.names"});
  const size_t num_documents = 1 + data[0] % 8;
  std::string bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t record_bytes = num_documents * sizeof(ingot::DocumentRecord);
  bytes.resize(std::max(bytes.size(), record_bytes + kTokenBytes + 1));
  ingot::ShardManifest manifest;
  manifest.vocab_size = 300;
  manifest.sources = {{"a", 0, 0, 0}, {"b", 0, 0, 0}};
  manifest.shards = {{"00000", kTokenBytes / 2, static_cast<int64_t>(num_documents), 0, 0, 0}};
  files.write("00000.documents", bytes.substr(0, record_bytes));
  files.write("00000.tokens", bytes.substr(record_bytes, kTokenBytes));
  files.write("00000.names", bytes.substr(record_bytes + kTokenBytes));
  try {
    read_all(files.folder(), manifest);
  } catch (const ingot::Error&) {
  }
  return 0;
}
