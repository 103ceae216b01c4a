#include "checkpoint/models/model_formats.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "checkpoint/exchange/gguf/export.h"
#include "checkpoint/exchange/gguf/header.h"
#include "checkpoint/exchange/hf/export.h"
#include "checkpoint/exchange/hf/folder.h"
#include "checkpoint/exchange/llama2c.h"
#include "core/error/error.h"

namespace ingot {
namespace {

void write_hf(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
              const ExportRequest& request) {
  std::optional<DType> dtype;
  if (request.dtype != kStoredDType) dtype = parse_dtype(request.dtype);
  export_hf(storage, weights, auxiliary_files, request.path, {.dtype = dtype});
}

void write_gguf_file(Storage& storage, const Weights& weights,
                     const AuxiliaryFiles& auxiliary_files, const ExportRequest& request) {
  export_gguf(storage, weights, auxiliary_files, request.path, parse_gguf_type(request.dtype),
              request.existing);
}

void write_llama2c(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                   const ExportRequest& request) {
  export_llama2c(storage, weights, auxiliary_files, request.path);
}

bool in_words(const std::vector<std::string_view>& all, std::string_view one) {
  return std::ranges::find(all, one) != all.end();
}

// "f32, bf16 or f16".
std::string alternatives(const std::vector<std::string_view>& words) {
  if (words.size() == 1) return std::string(words[0]);
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

}  // namespace

std::span<const ModelFormat> model_formats() {
  // In the order in which they are asked whether a path is theirs.
  static const std::vector<ModelFormat> kFormats = {
      {.name = "hf",
       .title = "Hugging Face folder (with config.json)",
       .recognised_by = "a folder with a config.json",
       .writes_file = false,
       .has_tokenizer = true,
       .reads = {"f64", "f32", "bf16", "f16"},
       .writes = {"f32", "bf16", "f16"},
       .stored_as = "",
       .recognises = is_hf_folder,
       .open = open_hf_model,
       .write = write_hf},
      {.name = "gguf",
       .title = "GGUF file",
       .recognised_by = "its first four bytes, GGUF",
       .writes_file = true,
       .has_tokenizer = true,
       .reads = {"f32", "bf16", "f16", "q8_0"},
       .writes = {"f32", "bf16", "f16", "q8_0"},
       .stored_as = "f32",
       .recognises = is_gguf_file,
       .open = open_gguf_model,
       .write = write_gguf_file},
      {.name = "llama2c",
       .title = "llama2.c file (.bin)",
       .recognised_by = "a file named .bin",
       .writes_file = false,
       .has_tokenizer = false,
       .reads = {"f32"},
       .writes = {"f32"},
       .stored_as = "f32",
       .recognises = is_llama2c_file,
       .open = open_llama2c_model,
       .write = write_llama2c},
  };
  return kFormats;
}

const ModelFormat* foreign_format_of(Storage& storage, const std::string& path) {
  for (const ModelFormat& format : model_formats())
    if (format.recognises(storage, path)) return &format;
  return nullptr;
}

const ModelFormat& model_format(std::string_view name) {
  const auto found = std::ranges::find(model_formats(), name, &ModelFormat::name);
  check(found != model_formats().end(), ErrorCode::Usage, "'{}' is no format of models", name);
  return *found;
}

std::vector<std::string> export_dtypes() {
  std::vector<std::string> all = {std::string(kStoredDType)};
  for (const ModelFormat& format : model_formats())
    for (const std::string_view dtype : format.writes)
      if (std::ranges::find(all, dtype) == all.end()) all.emplace_back(dtype);
  return all;
}

void export_model(Storage& storage, const ModelFormat& format, const Weights& weights,
                  const AuxiliaryFiles& auxiliary_files, const ExportRequest& request) {
  check(request.dtype == kStoredDType || in_words(format.writes, request.dtype), ErrorCode::Usage,
        "--dtype {}: a {} holds {}; choose that, or leave --dtype out", request.dtype, format.title,
        alternatives(format.writes));
  ExportRequest wanted = request;
  if (request.dtype == kStoredDType && !format.stored_as.empty()) wanted.dtype = format.stored_as;
  format.write(storage, weights, auxiliary_files, wanted);
}

std::string foreign_format_titles() {
  std::vector<std::string_view> titles;
  for (const ModelFormat& format : model_formats()) titles.push_back(format.title);
  return alternatives(titles);
}

std::string model_formats_table() {
  std::string table =
      "| format | `--to` | recognised by | reads | writes | without `--dtype` | tokenizer |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const ModelFormat& format : model_formats())
    table += fmt::format(
        "| {} | `{}` | {} | {} | {} of {} | {} | {} |\n", format.title, format.name,
        format.recognised_by, fmt::join(format.reads, ", "),
        format.writes_file ? "a file" : "a folder", fmt::join(format.writes, ", "),
        format.stored_as.empty() ? "the dtype of each weight" : std::string(format.stored_as),
        format.has_tokenizer ? "in it, or `--tokenizer`" : "`--tokenizer`");
  return table;
}

}  // namespace ingot
