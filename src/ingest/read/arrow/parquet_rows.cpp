#include "ingest/read/arrow/parquet_rows.h"

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>
#include <string_view>

#include "ingest/read/arrow/s3_files.h"
#include "ingest/read/arrow/status.h"

namespace ingot::arrow_module {
namespace {

constexpr int64_t kStreamBufferBytes = int64_t{1} << 20;
constexpr int64_t kBatchBytes = int64_t{8} << 20;  // of text that is decoded at a time
constexpr int64_t kMaxBatchRows = 4096;

bool holds_strings(const arrow::DataType& type) {
  switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:  // writers of old did not say that it is text
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return true;
    case arrow::Type::DICTIONARY:
      return holds_strings(*static_cast<const arrow::DictionaryType&>(type).value_type());
    default:
      return false;
  }
}

// Of a string array, at a place that is not null.
std::string_view value(const arrow::Array& array, int64_t row) {
  switch (array.type_id()) {
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return static_cast<const arrow::LargeBinaryArray&>(array).GetView(row);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return static_cast<const arrow::BinaryViewArray&>(array).GetView(row);
    case arrow::Type::DICTIONARY: {
      const auto& dictionary = static_cast<const arrow::DictionaryArray&>(array);
      return value(*dictionary.dictionary(), dictionary.GetValueIndex(row));
    }
    default:
      return static_cast<const arrow::BinaryArray&>(array).GetView(row);
  }
}

class Rows final : public ParquetRows {
 public:
  Rows(const ParquetRequest& request, const RemoteSettings& remote)
      : counted_(arrow::default_memory_pool()), pool_(&counted_, request.max_bytes) {
    parquet::ReaderProperties properties(&pool_);
    properties.enable_buffered_stream();  // a chunk of a column is not held whole
    properties.set_buffer_size(kStreamBufferBytes);
    properties.set_page_checksum_verification(true);
    const auto source = open_source(request.location, remote);
    file_bytes_ = unwrap(source->GetSize());
    auto file = parquet::ParquetFileReader::Open(source, properties);
    metadata_ = file->metadata();

    parquet::ArrowReaderProperties arrow_properties(/*use_threads=*/false);
    arrow_properties.set_pre_buffer(false);
    parquet::arrow::SchemaManifest manifest;
    unwrap(parquet::arrow::SchemaManifest::Make(
        metadata_->schema(), metadata_->key_value_metadata(), arrow_properties, &manifest));
    choose_columns(manifest, request);
    arrow_properties.set_batch_size(batch_rows());
    reader_ = unwrap(parquet::arrow::FileReader::Make(&pool_, std::move(file), arrow_properties));
  }

  bool next(ParquetRow& row) override {
    while (batch_ == nullptr || row_ == batch_->num_rows()) {
      if (!next_batch()) return false;
    }
    const auto get = [&](int column, std::string& out) {
      out.clear();
      if (column < 0) return false;
      const arrow::Array& array = *batch_->column(column);
      if (array.IsNull(row_)) return false;
      if (holds_strings(*array.type())) {
        out = value(array, row_);
      } else {
        out = unwrap(array.GetScalar(row_))->ToString();
      }
      return true;
    };
    row.has_text = get(text_, row.text);
    get(id_, row.id);
    get(url_, row.url);
    ++row_;
    ++rows_given_;
    return true;
  }

  int64_t bytes_read() const override {
    const int64_t num_rows = std::max<int64_t>(1, metadata_->num_rows());
    return static_cast<int64_t>(static_cast<double>(file_bytes_) *
                                static_cast<double>(std::min(rows_given_, num_rows)) /
                                static_cast<double>(num_rows));
  }

 private:
  static std::shared_ptr<arrow::io::RandomAccessFile> open_source(const std::string& location,
                                                                  const RemoteSettings& remote) {
    if (location.starts_with("s3://")) return open_s3_file(location, remote);
    return unwrap(arrow::io::ReadableFile::Open(location));
  }

  // Sets text_, id_ and url_ to places in columns_, the leaf columns that are read.
  void choose_columns(const parquet::arrow::SchemaManifest& manifest,
                      const ParquetRequest& request) {
    std::vector<std::pair<int, int*>> chosen;  // leaf column, and who asked for it
    std::string strings, type_of_text;
    for (const auto& field : manifest.schema_fields) {
      const std::string& name = field.field->name();
      const auto& type = *field.field->type();
      const bool usable = field.is_leaf() && holds_strings(type);
      if (usable) strings += " «" + name.substr(0, 100) + "»";
      const bool is_id = field.is_leaf() && (usable || arrow::is_integer(type.id()));
      if (name == request.text_column) {
        type_of_text = type.ToString();
        if (usable) chosen.emplace_back(field.column_index, &text_);
      } else if (name == request.id_column && is_id) {
        chosen.emplace_back(field.column_index, &id_);
      } else if (name == request.url_column && usable) {
        chosen.emplace_back(field.column_index, &url_);
      }
    }
    std::sort(chosen.begin(), chosen.end());
    check_named_once(manifest, request);
    for (const auto& [column, place] : chosen) {
      *place = static_cast<int>(columns_.size());
      columns_.push_back(column);
    }
    if (text_ >= 0) return;
    const std::string is = type_of_text.empty() ? "there is no column «" + request.text_column + "»"
                                                : "column «" + request.text_column + "» is " +
                                                      type_of_text + ", not a string";
    throw Refusal(is + "; columns of strings:" + (strings.empty() ? " none" : strings));
  }

  static void check_named_once(const parquet::arrow::SchemaManifest& manifest,
                               const ParquetRequest& request) {
    for (const std::string* asked :
         {&request.text_column, &request.id_column, &request.url_column}) {
      const auto count =
          std::count_if(manifest.schema_fields.begin(), manifest.schema_fields.end(),
                        [&](const auto& field) { return field.field->name() == *asked; });
      if (count > 1)
        throw Refusal(std::to_string(count) + " columns are named «" + *asked +
                      "»: which is meant? Give them different names");
    }
  }

  int64_t batch_rows() const {
    int64_t rows = kMaxBatchRows;
    for (int group = 0; group < metadata_->num_row_groups(); ++group) {
      const auto row_group = metadata_->RowGroup(group);
      const int64_t bytes =
          row_group->ColumnChunk(columns_[static_cast<size_t>(text_)])->total_uncompressed_size();
      if (row_group->num_rows() <= 0 || bytes <= 0) continue;
      rows = std::min(rows, kBatchBytes / std::max<int64_t>(1, bytes / row_group->num_rows()));
    }
    return std::max<int64_t>(1, rows);
  }

  bool next_batch() {
    batch_.reset();
    row_ = 0;
    while (batches_ != nullptr || group_ < metadata_->num_row_groups()) {
      if (batches_ == nullptr) {
        batches_ = unwrap(reader_->GetRecordBatchReader({group_}, columns_));
        rows_in_group_ = 0;
      }
      unwrap(batches_->ReadNext(&batch_));
      if (batch_ != nullptr) {
        rows_in_group_ += batch_->num_rows();
        return true;
      }
      const int64_t expected = metadata_->RowGroup(group_)->num_rows();
      if (rows_in_group_ != expected) {
        throw Refusal("row group " + std::to_string(group_) + " has " +
                      std::to_string(rows_in_group_) + " rows, expected " +
                      std::to_string(expected));
      }
      batches_.reset();
      ++group_;
    }
    return false;
  }

  arrow::ProxyMemoryPool counted_;  // what this file takes, apart from all others
  arrow::CappedMemoryPool pool_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::unique_ptr<parquet::arrow::FileReader> reader_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;
  std::shared_ptr<arrow::RecordBatch> batch_;
  std::vector<int> columns_;
  int text_ = -1, id_ = -1, url_ = -1;
  int group_ = 0;
  int64_t row_ = 0, rows_in_group_ = 0, rows_given_ = 0, file_bytes_ = 0;
};

// Arrow reports by Status, parquet by exceptions of its own: the program knows neither.
class TranslatedRows final : public ParquetRows {
 public:
  TranslatedRows(const ParquetRequest& request, const RemoteSettings& remote)
      : rows_(translated([&] { return std::make_unique<Rows>(request, remote); })) {}
  bool next(ParquetRow& row) override {
    return translated([&] { return rows_->next(row); });
  }
  int64_t bytes_read() const override { return rows_->bytes_read(); }

 private:
  std::unique_ptr<Rows> rows_;
};

}  // namespace

std::unique_ptr<ParquetRows> open_parquet(const ParquetRequest& request,
                                          const RemoteSettings& remote) {
  return std::make_unique<TranslatedRows>(request, remote);
}

}  // namespace ingot::arrow_module
