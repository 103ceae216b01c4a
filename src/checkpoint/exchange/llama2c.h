// llama2.c's version-0 model files: seven int32 of header, then fp32 weights, interleaved rotary
// pairs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "core/storage/storage.h"

namespace ingot {

class Llama2cFile : public Weights {
 public:
  // Throws ErrorCode::Data if the file's size does not match its header.
  Llama2cFile(std::shared_ptr<Storage> storage, const std::string& path);

  const ModelConfig& model() const override { return model_; }
  DType dtype(const std::string&) const override { return DType::F32; }
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;
  Origin origin() const { return {"llama2.c", path_, ""}; }
  int64_t file_bytes() const { return file_->size(); }
  // With the tokenizer.bin at `tokenizer`. Throws ErrorCode::Data if that is empty, as the format
  // has none, or of another model.
  AuxiliaryFiles auxiliary_files(const std::string& tokenizer) const;

 private:
  std::shared_ptr<Storage> storage_;
  std::string path_;
  std::unique_ptr<ReadableFile> file_;
  ModelConfig model_;
};

// Whether it is a file with that format's ending.
bool is_llama2c_file(Storage& storage, const std::string& path);

// Writes the folder `out_dir` with model.bin and, for a tokenizer of llama2.c's kind,
// tokenizer.bin. Throws ErrorCode::Config for a model that the format cannot express.
void export_llama2c(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                    const std::string& out_dir);

}  // namespace ingot
