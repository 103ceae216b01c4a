#include <array>
#include <cstring>

#include "core/error/error.h"
#include "shards/foreign/import.h"

namespace ingot {
namespace {

constexpr int64_t kTokensAtOnce = int64_t{1} << 18;

// A file that appears under its name when it is whole.
class Aside {
 public:
  Aside(Storage& storage, std::string path)
      : storage_(storage), path_(std::move(path)), file_(storage.create(path_ + ".tmp")) {}

  void append(std::span<const std::byte> bytes) { file_->append(bytes); }
  template <class T>
  void append_value(T value) {
    append(std::as_bytes(std::span(&value, 1)));
  }
  void finish() {
    file_->sync();
    file_->close();
    storage_.rename(path_ + ".tmp", path_);
    storage_.sync_directory(parent_path(path_));
  }

 private:
  Storage& storage_;
  std::string path_;
  std::unique_ptr<WritableFile> file_;
};

// Values of one type, in blocks.
template <class T>
class Blocks {
 public:
  explicit Blocks(Aside& file) : file_(file) {}
  void push(T value) {
    values_.push_back(value);
    if (values_.size() == 65536) flush();
  }
  void flush() {
    file_.append(std::as_bytes(std::span(values_)));
    values_.clear();
  }

 private:
  Aside& file_;
  std::vector<T> values_;
};

template <class Id>
void append_tokens(const ShardReader& shard, Aside& file) {
  std::vector<int32_t> ids;
  std::vector<Id> narrow;
  for (int64_t at = 0; at < shard.num_tokens(); at += kTokensAtOnce) {
    ids.resize(static_cast<size_t>(std::min(kTokensAtOnce, shard.num_tokens() - at)));
    shard.tokens(at, ids);
    narrow.assign(ids.begin(), ids.end());
    file.append(std::as_bytes(std::span(narrow)));
  }
}

void append_tokens(const ShardFolder& shards, size_t shard, Aside& file) {
  if (shards.manifest().token_bytes == 2) {
    append_tokens<uint16_t>(shards.shard(shard), file);
  } else {
    append_tokens<uint32_t>(shards.shard(shard), file);
  }
}

template <class F>
void each_length(const ShardFolder& shards, const F& f) {
  for (size_t s = 0; s < shards.num_shards(); ++s) {
    const ShardReader& shard = shards.shard(s);
    for (int64_t i = 0; i < shard.num_documents(); ++i) {
      f(shard.document_end(i) - shard.document_begin(i));
    }
  }
}

// One sequence a document.
void export_megatron(Storage& storage, const ShardFolder& shards,
                     const std::vector<std::string>& files) {
  const auto width = shards.manifest().token_bytes;
  const auto count = static_cast<uint64_t>(shards.num_documents());
  Aside tokens(storage, files[0]), index(storage, files[1]);
  for (size_t s = 0; s < shards.num_shards(); ++s) append_tokens(shards, s, tokens);
  index.append(std::as_bytes(std::span("MMIDIDX\0", 9)));
  index.append_value<uint64_t>(1);
  index.append_value<uint8_t>(width == 2 ? 8 : 4);
  index.append_value<uint64_t>(count);
  index.append_value<uint64_t>(count + 1);
  Blocks<int32_t> lengths(index);
  each_length(shards, [&](int64_t length) {
    check(length > 0 && length <= INT32_MAX, ErrorCode::Config,
          "{}: a document of {} tokens: Megatron's index holds at most {}", shards.path(), length,
          INT32_MAX);
    lengths.push(static_cast<int32_t>(length));
  });
  lengths.flush();
  Blocks<int64_t> numbers(index);
  int64_t pointer = 0;
  each_length(shards, [&](int64_t length) {
    numbers.push(pointer);
    pointer += length * width;
  });
  for (uint64_t i = 0; i <= count; ++i) numbers.push(static_cast<int64_t>(i));
  numbers.flush();
  tokens.finish();
  index.finish();
}

void export_nanogpt(Storage& storage, const ShardFolder& shards,
                    const std::vector<std::string>& files) {
  check(shards.manifest().token_bytes == 2, ErrorCode::Config,
        "{}: a vocabulary of {}: nanoGPT's files hold u16 ids; use megatron or llmc", shards.path(),
        shards.manifest().vocab_size);
  Aside tokens(storage, files[0]);
  for (size_t s = 0; s < shards.num_shards(); ++s) append_tokens(shards, s, tokens);
  tokens.finish();
}

void export_llmc(Storage& storage, const ShardFolder& shards,
                 const std::vector<std::string>& files) {
  const bool is_u16 = shards.manifest().token_bytes == 2;
  for (size_t s = 0; s < shards.num_shards(); ++s) {
    const int64_t count = shards.shard(s).num_tokens();
    check(count <= INT32_MAX, ErrorCode::Config,
          "{}: a shard of {} tokens: llm.c's header holds at most {}; make smaller shards",
          shards.path(), count, INT32_MAX);
    std::array<int32_t, 256> header{};
    header[0] = is_u16 ? 20240520 : 20240801;
    header[1] = is_u16 ? 1 : 7;
    header[2] = static_cast<int32_t>(count);
    Aside tokens(storage, files[s]);
    tokens.append(std::as_bytes(std::span(header)));
    append_tokens(shards, s, tokens);
    tokens.finish();
  }
}

}  // namespace

std::vector<std::string> exported_files(const ShardFolder& shards, ForeignFormat format,
                                        const std::string& path) {
  if (format == ForeignFormat::Megatron) return {path + ".bin", path + ".idx"};
  if (format != ForeignFormat::LlmC) return {path};
  std::vector<std::string> files;
  for (size_t s = 0; s < shards.num_shards(); ++s)
    files.push_back(fmt::format("{}_{:06}.bin", path, s));
  return files;
}

std::vector<std::string> export_tokens(Storage& storage, const ShardFolder& shards,
                                       ForeignFormat format, const std::string& path) {
  for (size_t i = 0; i < shards.num_shards(); ++i) {  // what is written has no checksum to tell
    shards.shard(i).check_hashes(shards.manifest().shards[i]);
  }
  storage.make_directories(parent_path(path));
  const std::vector<std::string> files = exported_files(shards, format, path);
  switch (format) {
    case ForeignFormat::Megatron:
      export_megatron(storage, shards, files);
      break;
    case ForeignFormat::NanoGpt:
      export_nanogpt(storage, shards, files);
      break;
    case ForeignFormat::LlmC:
      export_llmc(storage, shards, files);
      break;
    case ForeignFormat::Datatrove:
      throw Error(ErrorCode::Config,
                  "datatrove's files are read, not written; use megatron, nanogpt or llmc");
  }
  return files;
}

}  // namespace ingot
