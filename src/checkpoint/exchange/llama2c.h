// llama2.c's version-0 model files: seven int32 of header, then fp32 weights, interleaved rotary
// pairs.
#pragma once

#include <map>
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
  Llama2cFile(Storage& storage, const std::string& path);

  const ModelConfig& model() const override { return model_; }
  DType dtype(const std::string&) const override { return DType::F32; }
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;

 private:
  std::unique_ptr<ReadableFile> file_;
  ModelConfig model_;
};

// Writes a checkpoint folder at `out_dir` from a model and its tokenizer.bin. Throws
// ErrorCode::Data and writes nothing if they do not match.
void import_llama2c(Storage& storage, const std::string& model_path,
                    const std::string& tokenizer_path, const std::string& out_dir,
                    WeightsProgress progress = {});

// Writes the folder `out_dir` with model.bin and, for a tokenizer of llama2.c's kind,
// tokenizer.bin. Throws ErrorCode::Config for a model that the format cannot express.
void export_llama2c(Storage& storage, const Weights& weights, const AuxiliaryFiles& auxiliary_files,
                    const std::string& out_dir);

}  // namespace ingot
