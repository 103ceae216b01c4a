#include "core/error/error.h"
#include "ingest/read/record_reader.h"

namespace ingot {
namespace {

constexpr size_t kFirstReadBytes = size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The whole file is one document, named as the file is.
class TextReader final : public RecordReader {
 public:
  TextReader(const InputFile& file, const ReadSettings& settings)
      : RecordReader(file, settings), stream_(open_stream(file, settings)) {}

  int64_t bytes_read() const override { return stream_->bytes_read(); }
  InputContent content() override { return stream_->content(); }

 private:
  Outcome read_record(Document& document) override {
    if (done_) return Outcome::End;
    done_ = true;
    // One byte more than allowed tells a file that is too large from one that just fits.
    const size_t limit = max_document_bytes() + kByteOrderMark.size() + 1;
    const bool stored_as_is = file_kind(file().name).compression.empty();
    if (stored_as_is && file().bytes >= static_cast<int64_t>(limit)) return skip("too_large");

    std::string& text = document.text;
    if (stored_as_is && file().bytes > 0) text.resize(static_cast<size_t>(file().bytes) + 1);
    size_t size = 0;
    for (size_t count = 1; count > 0 && size < limit;) {
      if (size == text.size()) text.resize(std::min(limit, std::max(kFirstReadBytes, size * 2)));
      count = stream_->read(text.data() + size, text.size() - size);
      size += count;
    }
    text.resize(size);
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    document.id = file().name;
    return Outcome::Document;
  }

  std::unique_ptr<ByteStream> stream_;
  bool done_ = false;
};

}  // namespace

std::unique_ptr<DocumentReader> read_text(const InputFile& file, const ReadSettings& settings) {
  return std::make_unique<TextReader>(file, settings);
}

}  // namespace ingot
