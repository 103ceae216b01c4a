// The weights of a GGUF file, as used by llama.cpp and programs based on it.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"

namespace ingot {

class GgufWeights : public Weights {
 public:
  // Reads the header and checks that exactly the expected tensors exist, with their shapes.
  // Otherwise throws ErrorCode::Data naming file and key or tensor.
  GgufWeights(std::shared_ptr<Storage> storage, const std::string& path);
  ~GgufWeights() override;

  const ModelConfig& model() const override;
  Origin origin() const;
  int64_t file_bytes() const;
  // F32 for Q8_0, which represents its values exactly.
  DType dtype(const std::string& name) const override;
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;
  // The file's tokenizer, or the one at `tokenizer` if that is not empty; chat template and stop
  // ids as files of a Hugging Face folder.
  AuxiliaryFiles auxiliary_files(const std::string& tokenizer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
