#include "ingest/read/byte_stream.h"

#include <algorithm>

#include "core/error/error.h"
#include "ingest/read/input_content.h"
#include "ingest/read/remote/remote.h"

namespace ingot {
namespace {

// Looks at the first bytes that are read.
class AsNamed final : public ByteStream {
 public:
  AsNamed(InputFile file, std::unique_ptr<ByteStream> inner)
      : file_(std::move(file)), inner_(std::move(inner)) {}

  size_t read(char* into, size_t size) override {
    const size_t count = inner_->read(into, size);
    if (!is_checked_) {
      head_.append(into, count);
      is_checked_ = head_.size() >= kBytesLookedAt || count == 0;
      if (is_checked_) check_first_bytes(file_, head_);
    }
    return count;
  }
  int64_t bytes_read() const override { return inner_->bytes_read(); }
  InputContent content() override { return inner_->content(); }

 private:
  static constexpr size_t kBytesLookedAt = 4;

  InputFile file_;
  std::unique_ptr<ByteStream> inner_;
  std::string head_;
  bool is_checked_ = false;
};

}  // namespace

void check_first_bytes(const InputFile& file, std::string_view head) {
  const std::string_view kind = kind_of_bytes(head);
  check(kind.empty() || kind == file_kind(file.name).kind, ErrorCode::Data,
        "{}: by its first bytes this is {} data, which its name does not say: expected a name that "
        "ends as what it holds (.jsonl.gz, .txt.zst, .parquet, …)",
        file.location, kind.substr(std::min<size_t>(1, kind.size())));
}

std::unique_ptr<ByteStream> open_stream(const InputFile& file, const ReadSettings& settings) {
  std::unique_ptr<ByteStream> stream =
      hashed(is_remote(file.location) ? open_remote(file.location, settings)
                                      : open_byte_stream(*settings.storage, file.location));
  const std::string compression = file_kind(file.name).compression;
  if (compression == ".gz") stream = decompress_gzip(std::move(stream), file.location);
  if (compression == ".zst") stream = decompress_zstd(std::move(stream), file.location);
  return std::make_unique<AsNamed>(file, std::move(stream));
}

}  // namespace ingot
