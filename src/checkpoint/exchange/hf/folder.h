// A model in a folder of Hugging Face's transformers: config.json, safetensors in one file or
// several with an index, a tokenizer.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/weights.h"

namespace ingot {

class HfFolder : public Weights {
 public:
  // Reads the index and every file's header, and checks that exactly the tensors of `config` exist,
  // with their shapes. Otherwise throws ErrorCode::Data naming file and tensor.
  HfFolder(std::shared_ptr<Storage> storage, const std::string& dir, HfConfigFile config);
  ~HfFolder() override;

  const ModelConfig& model() const override;
  const Architecture& architecture() const;
  Origin origin() const;
  int64_t file_bytes() const;  // of the weights files
  DType dtype(const std::string& name) const override;
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;
  // Throws ErrorCode::Data if the folder has its own head tensor although config.json ties it to
  // the embedding, and the two differ. Reads both.
  void check_tied_head() const;
  // Its small files unchanged, and the tokenizer: its own, or the one at `tokenizer` if that is not
  // empty, whose files then replace its own. Throws ErrorCode::Data if there is none, and for
  // invalid files.
  AuxiliaryFiles auxiliary_files(const std::string& tokenizer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Small files stored with a model: tokenizer, chat template, configs.
bool is_kept_hf_file(std::string_view name);

bool is_hf_folder(Storage& storage, const std::string& path);

}  // namespace ingot
