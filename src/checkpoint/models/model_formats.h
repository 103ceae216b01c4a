// The formats of other programs' models. Commands, their help and messages, and the table in
// docs/exchange.md are all made from this one table.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/models/open_model.h"
#include "checkpoint/new_output.h"
#include "checkpoint/weights.h"

namespace ingot {

// The dtype of an export that keeps the model's dtypes, as far as the format can store them.
inline constexpr std::string_view kStoredDType = "stored";

struct ExportRequest {
  std::string path;
  std::string dtype;  // kStoredDType, or one of ModelFormat::writes
  NewFile::Existing existing = NewFile::Existing::Refused;  // for formats that are one file
};

struct ModelFormat {
  std::string_view name;                        // value of `--to`
  std::string_view title;                       // "GGUF file"
  std::string_view recognised_by;               // how a path of this format is recognised
  bool writes_file;                             // a file; otherwise a folder
  bool has_tokenizer;                           // otherwise an import needs one
  std::vector<std::string_view> reads, writes;  // dtypes
  // What kStoredDType means: one of `writes`; empty: the dtype of each weight.
  std::string_view stored_as;
  bool (*recognises)(Storage& storage, const std::string& path);
  std::unique_ptr<ForeignModel> (*open)(std::shared_ptr<Storage> storage, const std::string& path);
  // Throws ErrorCode::Config for a model that the format cannot express.
  void (*write)(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                const ExportRequest& request);
};

std::span<const ModelFormat> model_formats();

// Null if no format recognises the path.
const ModelFormat* foreign_format_of(Storage& storage, const std::string& path);
// Throws ErrorCode::Usage for an unknown name.
const ModelFormat& model_format(std::string_view name);

// All dtypes that some format writes, kStoredDType first.
std::vector<std::string> export_dtypes();
// Checks request.dtype and writes the model. Throws ErrorCode::Usage for a dtype that the format
// does not write.
void export_model(Storage& storage, const ModelFormat& format, const Weights& weights,
                  const AuxiliaryFiles& auxiliary_files, const ExportRequest& request);

// "Hugging Face folder, GGUF file or llama2.c file": for help and messages.
std::string foreign_format_titles();
// The rows of the table in docs/exchange.md.
std::string model_formats_table();

}  // namespace ingot
