// A model in a GGUF file, as llama.cpp and what is built on it run it.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"

namespace ingot {

class GgufWeights : public Weights {
 public:
  // Reads the header, and sees that each parameter is there in its shape and that nothing else is.
  // Throws ErrorCode::Data, naming file and key or tensor, otherwise.
  GgufWeights(std::shared_ptr<Storage> storage, const std::string& path);
  ~GgufWeights() override;

  const ModelConfig& model() const override;
  Origin origin(const std::string& named_as) const;
  int64_t file_bytes() const;
  // Of Q8_0 it is F32, which holds all that its blocks can say.
  DType dtype(const std::string& name) const override;
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;
  // The file's tokenizer, or that at `tokenizer` where that is not empty; chat template and ids
  // that end a text as the files of a Hugging Face folder would say them.
  Companions companions(const std::string& named_as, const std::string& tokenizer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The file becomes the checkpoint `out`. Throws as import_hf() does.
void import_gguf(std::shared_ptr<Storage> storage, const std::string& path,
                 const std::string& tokenizer, const std::string& out,
                 WeightsProgress progress = {});

}  // namespace ingot
