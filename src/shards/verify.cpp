#include "shards/verify.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "core/device/thread_pool.h"
#include "core/error/error.h"
#include "shards/shard_reader.h"

namespace ingot {
namespace {

constexpr int64_t kTokensAtOnce = int64_t{1} << 16;

void check_document(const ShardReader& shard, int64_t document, const ShardManifest& manifest,
                    bool is_cut, std::vector<int32_t>& ids) {
  ContentHasher content(manifest.bos, manifest.eos);
  const int64_t begin = shard.document_begin(document), end = shard.document_end(document);
  check(end > begin, ErrorCode::Data,
        "{}.documents: document {} ends at {}, expected beyond the end of the one before it, {}",
        shard.path(), document, end, begin);
  const int64_t eos_at = manifest.eos >= 0 && !is_cut ? end - 1 : -1;
  const int64_t bos_at = manifest.bos >= 0 ? begin : -1;
  for (int64_t at = begin; at < end; at += kTokensAtOnce) {
    ids.resize(static_cast<size_t>(std::min(kTokensAtOnce, end - at)));
    shard.tokens(at, ids);
    content.add(ids);
    for (int64_t i = at; i < at + static_cast<int64_t>(ids.size()); ++i) {
      const int32_t id = ids[static_cast<size_t>(i - at)];
      const bool is_bos = manifest.bos >= 0 && id == manifest.bos;
      const bool is_eos = manifest.eos >= 0 && id == manifest.eos;
      const bool fits = (i == bos_at || i == eos_at)
                            ? (i != bos_at || is_bos) && (i != eos_at || is_eos)
                            : !is_bos && !is_eos;
      check(fits, ErrorCode::Data,
            "{}.tokens: document {} has id {} at its token {} of {}: expected BOS {} and EOS {} "
            "once, at its ends",
            shard.path(), document, id, i - begin, end - begin, manifest.bos, manifest.eos);
    }
  }
  check(!shard.has_hashes() || shard.content(document) == content.finish(), ErrorCode::Data,
        "{}.hashes: the hash of document {}'s content is not that of its tokens", shard.path(),
        document);
}

void add_to(std::vector<ShardSource>& sums, const ShardReader& shard, int64_t document,
            const ShardManifest& manifest) {
  const DocumentName name = shard.name(document);
  const auto source = static_cast<size_t>(name.source);
  check(
      document_id(manifest.sources[source].name, name.id) == shard.id(document), ErrorCode::Data,
      "{}.names: document {}, «{}» of source {}, does not have the id {} that it has in .documents",
      shard.path(), document, name.id, manifest.sources[source].name, to_hex(shard.id(document)));
  sums[source].num_documents += 1;
  sums[source].num_tokens += shard.document_end(document) - shard.document_begin(document);
  sums[source].num_bytes += shard.num_bytes(document);
}

std::vector<ShardSource> verify_shard(const std::string& folder, const ShardManifest& manifest,
                                      size_t number, int64_t first_document) {
  const ShardReader shard(folder, manifest, number);
  shard.check_hashes(manifest.shards[number]);
  std::vector<ShardSource> sums(manifest.sources.size());
  std::vector<int32_t> ids;
  for (int64_t i = 0; i < shard.num_documents(); ++i) {
    const bool is_cut = std::binary_search(manifest.cut_documents.begin(),
                                           manifest.cut_documents.end(), first_document + i);
    check_document(shard, i, manifest, is_cut, ids);
    add_to(sums, shard, i, manifest);
  }
  return sums;
}

// Where all shards are well, their sums must be the manifest's.
void check_sums(const std::vector<ShardSource>& sums, const ShardManifest& manifest,
                const std::string& folder, std::vector<std::string>& problems) {
  for (size_t i = 0; i < sums.size(); ++i) {
    const ShardSource& said = manifest.sources[i];
    if (sums[i].num_documents == said.num_documents && sums[i].num_tokens == said.num_tokens &&
        sums[i].num_bytes == said.num_bytes) {
      continue;
    }
    problems.push_back(fmt::format(
        "{}: the manifest says {} documents, {} tokens and {} bytes of source {}, the shards hold "
        "{}, {} and {}",
        folder, said.num_documents, said.num_tokens, said.num_bytes, said.name,
        sums[i].num_documents, sums[i].num_tokens, sums[i].num_bytes));
  }
}

}  // namespace

std::vector<std::string> verify_shards(const std::string& folder, const ShardManifest& manifest,
                                       int64_t threads,
                                       const std::function<void(int64_t tokens)>& progress) {
  const auto num_shards = static_cast<int64_t>(manifest.shards.size());
  std::vector<int64_t> first_documents(manifest.shards.size());
  std::transform_exclusive_scan(manifest.shards.begin(), manifest.shards.end(),
                                first_documents.begin(), int64_t{0}, std::plus<>(),
                                [](const ShardFile& shard) { return shard.num_documents; });
  std::vector<std::string> problems(manifest.shards.size());  // empty: none
  std::vector<ShardSource> sums(manifest.sources.size());
  std::mutex mutex;
  int64_t tokens_done = 0;
  ThreadPool pool(
      static_cast<int>(std::clamp<int64_t>(threads, 1, std::max<int64_t>(1, num_shards))));
  pool.run(num_shards, [&](int64_t i, int) {
    const auto number = static_cast<size_t>(i);
    std::vector<ShardSource> its_sums(manifest.sources.size());
    try {
      its_sums = verify_shard(folder, manifest, number, first_documents[number]);
    } catch (const Error& error) {
      problems[number] = error.what();
    }
    const std::lock_guard lock(mutex);
    for (size_t s = 0; s < sums.size(); ++s) {
      sums[s].num_documents += its_sums[s].num_documents;
      sums[s].num_tokens += its_sums[s].num_tokens;
      sums[s].num_bytes += its_sums[s].num_bytes;
    }
    tokens_done += manifest.shards[number].num_tokens;
    if (progress) progress(tokens_done);
  });
  std::erase_if(problems, [](const std::string& problem) { return problem.empty(); });
  if (problems.empty()) check_sums(sums, manifest, folder, problems);
  return problems;
}

}  // namespace ingot
