#include "core/error/error.h"
#include "core/error/log.h"
#include "core/system/module.h"
#include "ingest/read/arrow_library.h"
#include "ingest/read/input_content.h"
#include "ingest/read/record_reader.h"
#include "ingest/read/remote/remote.h"

namespace ingot {
namespace {

// Pages, dictionaries and batches in work, in documents of the largest size.
constexpr int64_t kDocumentsInWork = 4;
constexpr int64_t kLeastBytes = int64_t{64} << 20;

class ParquetReader final : public RecordReader {
 public:
  ParquetReader(const InputFile& file, const ReadSettings& settings)
      : RecordReader(file, settings),
        location_(is_remote(file.location) ? local_or_s3(file.location, settings.remote)
                                           : file.location),
        stamp_(stamp_of(location_)) {
    if (is_remote(location_)) version_ = remote_version(location_, settings.remote);
    const ParquetRequest request{
        .location = location_,
        .text_column = settings.text_field,
        .id_column = settings.id_field,
        .url_column = settings.url_field,
        .max_bytes = std::max(kLeastBytes, settings.max_document_bytes * kDocumentsInWork)};
    ArrowLibrary& library = arrow_library(file.location);
    named([&] { rows_ = library.open_parquet(request, settings.remote); });
  }

  int64_t bytes_read() const override { return rows_->bytes_read(); }
  // The rows were not read front to back. An object of S3 is not fetched once more for this.
  InputContent content() override {
    if (is_remote(location_)) return {"", version_};
    const InputContent content = content_of_file(*posix_storage(), location_);
    check(stamp_of(location_) == stamp_, ErrorCode::Data,
          "{}: the file changed while it was read; start again", file().location);
    return content;
  }

 private:
  Outcome read_record(Document& document) override {
    row_.text.swap(document.text);
    bool any = false;
    named([&] { any = rows_->next(row_); });
    if (!any) return Outcome::End;
    if (!row_.has_text) return skip("no_text");
    row_.text.swap(document.text);
    row_.id.swap(document.id);
    row_.url.swap(document.url);
    return Outcome::Document;
  }

  template <class Call>
  void named(Call call) const {
    try {
      call();
    } catch (const Error&) {
      throw;
    } catch (const std::runtime_error& error) {
      throw arrow_error(ErrorCode::Data, file().location, error);
    }
  }

  std::string location_;  // a path, or an s3:// address
  FileStamp stamp_;       // before it was read
  std::string version_;
  std::unique_ptr<ParquetRows> rows_;
  ParquetRow row_;
};

}  // namespace

ArrowLibrary& arrow_library(const std::string& what) {
  void* function = load_module_function(
      kArrowModule, kArrowFunction,
      what +
          ": parquet and s3:// need Arrow (the package ingot-arrow, for a wheel pip install "
          "'ingot[arrow]', for a build ./run build) and our module for it");
  return *reinterpret_cast<ArrowFunction*>(function)();
}

Error arrow_error(ErrorCode code, const std::string& location, const std::runtime_error& thrown) {
  const auto* failure = dynamic_cast<const ArrowFailure*>(&thrown);
  if (failure == nullptr) return {code, fmt::format("{}: {}", location, thrown.what())};
  log::debug("arrow", {{"file", location}, {"says", failure->says()}});
  return {code, fmt::format("{}: {}; -v shows what Arrow says", location, thrown.what())};
}

std::unique_ptr<DocumentReader> read_parquet(const InputFile& file, const ReadSettings& settings) {
  return std::make_unique<ParquetReader>(file, settings);
}

}  // namespace ingot
