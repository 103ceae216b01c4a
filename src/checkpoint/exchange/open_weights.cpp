#include "checkpoint/exchange/open_weights.h"

#include <span>

#include "checkpoint/choice.h"
#include "checkpoint/exchange/gguf_header.h"
#include "checkpoint/exchange/gguf_weights.h"
#include "checkpoint/exchange/hf_folder.h"
#include "checkpoint/exchange/llama2c.h"
#include "tokenizer/chat/chat_template.h"

namespace ingot {
namespace {

class OfCheckpoint : public Weights {
 public:
  explicit OfCheckpoint(const CheckpointReader& reader) : reader_(reader) {}
  const ModelConfig& model() const override { return reader_.info().model; }
  DType dtype(const std::string& name) const override { return reader_.dtype(name); }
  void read(const std::string& name, ShardRange range, const Tensor& out) const override {
    reader_.read("weight", name, range, out);
  }

 private:
  const CheckpointReader& reader_;
};

class OfFolder : public OfCheckpoint {
 public:
  explicit OfFolder(const CheckpointReader& reader)
      : OfFolder(std::make_unique<CheckpointReader>(reader)) {}

 private:
  explicit OfFolder(std::unique_ptr<CheckpointReader> own)
      : OfCheckpoint(*own), own_(std::move(own)) {}
  std::unique_ptr<CheckpointReader> own_;
};

class OpenCheckpoint : public OpenModel {
 public:
  explicit OpenCheckpoint(const CheckpointReader& reader) : reader_(reader), weights_(reader_) {}
  const CheckpointInfo& info() const override { return reader_.info(); }
  const Weights& weights() const override { return weights_; }
  AuxiliaryFiles auxiliary_files() const override { return reader_.auxiliary_files(); }

 private:
  CheckpointReader reader_;
  OfCheckpoint weights_;
};

class OpenHfFolder : public OpenModel {
 public:
  OpenHfFolder(std::shared_ptr<Storage> storage, const std::string& dir) : folder_(storage, dir) {
    info_.dir = dir;
    info_.model = folder_.model();
    info_.config_toml = to_toml(info_.model);
    info_.origin = folder_.origin(dir);
    info_.bytes = folder_.file_bytes();
  }
  const CheckpointInfo& info() const override { return info_; }
  const Weights& weights() const override { return folder_; }
  AuxiliaryFiles auxiliary_files() const override { return folder_.auxiliary_files(info_.dir, ""); }

 private:
  HfFolder folder_;
  CheckpointInfo info_;
};

class OpenGguf : public OpenModel {
 public:
  OpenGguf(const std::shared_ptr<Storage>& storage, const std::string& path)
      : weights_(storage, path) {
    info_.dir = path;
    info_.model = weights_.model();
    info_.config_toml = to_toml(info_.model);
    info_.origin = weights_.origin(path);
    info_.bytes = weights_.file_bytes();
  }
  const CheckpointInfo& info() const override { return info_; }
  const Weights& weights() const override { return weights_; }
  AuxiliaryFiles auxiliary_files() const override {
    return weights_.auxiliary_files(info_.dir, "");
  }

 private:
  GgufWeights weights_;
  CheckpointInfo info_;
};

}  // namespace

std::unique_ptr<OpenModel> open_model(std::shared_ptr<Storage> storage, const std::string& path) {
  if (is_gguf_file(*storage, path)) return std::make_unique<OpenGguf>(storage, path);
  if (is_hf_folder(*storage, path)) return std::make_unique<OpenHfFolder>(storage, path);
  return std::make_unique<OpenCheckpoint>(CheckpointChoice(storage, path).use());
}

std::unique_ptr<Weights> weights_of(const CheckpointReader& reader) {
  return std::make_unique<OfCheckpoint>(reader);
}

std::unique_ptr<Weights> open_weights(std::shared_ptr<Storage> storage, const std::string& path) {
  if (is_hf_folder(*storage, path)) return std::make_unique<HfFolder>(storage, path);
  if (is_gguf_file(*storage, path)) return std::make_unique<GgufWeights>(storage, path);
  if (path.ends_with(".bin")) return std::make_unique<Llama2cFile>(*storage, path);
  return std::make_unique<OfFolder>(CheckpointChoice(storage, path).use());
}

std::unique_ptr<Tokenizer> tokenizer_of(const AuxiliaryFiles& auxiliary_files) {
  if (auxiliary_files.tokenizer.empty()) return byte_tokenizer();
  const auto files = memory_storage();
  files->create("tokenizer.bin")->append(std::as_bytes(std::span(auxiliary_files.tokenizer)));
  return load_tokenizer(*files, "tokenizer.bin");
}

ChatFiles chat_files_of(const AuxiliaryFiles& auxiliary_files) {
  const auto files = memory_storage();
  files->make_directories("folder");
  for (const auto& [name, contents] : auxiliary_files.hf_files)
    files->create(join_path("folder", name))->append(std::as_bytes(std::span(contents)));
  return read_chat_files(*files, "folder");
}

}  // namespace ingot
