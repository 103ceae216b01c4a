// A model in a folder as Hugging Face's transformers saves it: config.json, safetensors in one file
// or several with an index, a tokenizer.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/hf_config.h"
#include "checkpoint/weights.h"

namespace ingot {

class HfFolder : public Weights {
 public:
  // Reads config.json, the index and every file's header, and sees that each parameter is there in
  // its shape and that nothing else is. Throws ErrorCode::Data, naming file and tensor, otherwise.
  HfFolder(std::shared_ptr<Storage> storage, const std::string& dir);
  ~HfFolder() override;

  const ModelConfig& model() const override;
  const Architecture& architecture() const;
  Origin origin(const std::string& named_as) const;
  int64_t file_bytes() const;  // of the files of weights
  DType dtype(const std::string& name) const override;
  void read(const std::string& name, ShardRange range, const Tensor& out) const override;
  // Throws ErrorCode::Data where the folder holds a head of its own although config.json ties it to
  // the embedding, and the two differ. Reads both.
  void check_tied_head() const;
  // Its small files as they are, and the tokenizer: its own, or that at `tokenizer` where that is
  // not empty, whose files then stand in the place of its own ones. Throws ErrorCode::Data where
  // there is none, and for files that are not what they should be.
  Companions companions(const std::string& named_as, const std::string& tokenizer) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Small files that stay with a model: tokenizer, chat template, configs.
bool is_kept_hf_file(std::string_view name);

bool is_hf_folder(Storage& storage, const std::string& path);

// The folder `dir` becomes the checkpoint `out`. `named_as`: where it is from, as a record;
// `tokenizer` as companions() has it. Throws
// ErrorCode::Data, and ErrorCode::Usage unless `out` is new or empty; nothing is left there then.
void import_hf(std::shared_ptr<Storage> storage, const std::string& dir,
               const std::string& named_as, const std::string& tokenizer, const std::string& out,
               WeightsProgress progress = {});

}  // namespace ingot
