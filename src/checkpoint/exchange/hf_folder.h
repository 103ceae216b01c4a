// A model in a folder of Hugging Face's transformers: config.json, safetensors in one file or
// several with an index, a tokenizer.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/hf_config.h"
#include "checkpoint/weights.h"

namespace ingot {

class HfFolder : public Weights {
 public:
  // Reads config.json, the index and every file's header, and checks that exactly the expected
  // tensors exist, with their shapes. Otherwise throws ErrorCode::Data naming file and tensor.
  HfFolder(std::shared_ptr<Storage> storage, const std::string& dir);
  ~HfFolder() override;

  const ModelConfig& model() const override;
  const Architecture& architecture() const;
  Origin origin(const std::string& named_as) const;
  int64_t file_bytes() const;  // of the weights files
  DType dtype(const std::string& name) const override;
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;
  // Throws ErrorCode::Data if the folder has its own head tensor although config.json ties it to
  // the embedding, and the two differ. Reads both.
  void check_tied_head() const;
  // Its small files unchanged, and the tokenizer: its own, or the one at `tokenizer` if that is not
  // empty, whose files then replace its own. Throws ErrorCode::Data if there is none, and for
  // invalid files.
  AuxiliaryFiles auxiliary_files(const std::string& named_as, const std::string& tokenizer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Small files stored with a model: tokenizer, chat template, configs.
bool is_kept_hf_file(std::string_view name);

bool is_hf_folder(Storage& storage, const std::string& path);

// Converts the folder `dir` to the checkpoint `out`. `named_as`: its origin, for the record;
// `tokenizer` as in auxiliary_files(). Throws ErrorCode::Data, and ErrorCode::Usage unless `out` is
// new or empty; on failure nothing is left there.
void import_hf(std::shared_ptr<Storage> storage, const std::string& dir,
               const std::string& named_as, const std::string& tokenizer, const std::string& out,
               WeightsProgress progress = {});

}  // namespace ingot
