#include "checkpoint/models/open_model.h"

#include "checkpoint/choice.h"
#include "checkpoint/exchange/gguf/weights.h"
#include "checkpoint/exchange/hf/folder.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/exchange/llama2c.h"
#include "checkpoint/models/model_formats.h"

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

// `File`: Weights with an origin and auxiliary files.
template <class File>
class OpenFile : public ForeignModel {
 public:
  OpenFile(std::unique_ptr<File> file, const std::string& path, const std::string& came_from)
      : file_(std::move(file)) {
    info_.dir = path;
    info_.model = file_->model();
    info_.config_toml = to_toml(info_.model);
    info_.origin = file_->origin();
    info_.origin.path = came_from;
    info_.bytes = file_->file_bytes();
  }
  const CheckpointInfo& info() const override { return info_; }
  const Weights& weights() const override { return *file_; }
  AuxiliaryFiles auxiliary_files_with(const std::string& tokenizer) const override {
    AuxiliaryFiles files = file_->auxiliary_files(tokenizer);
    files.origin = info_.origin;
    return files;
  }
  void check_weights() const override {
    if constexpr (requires { file_->check_tied_head(); }) file_->check_tied_head();
  }

 private:
  std::unique_ptr<File> file_;
  CheckpointInfo info_;
};

template <class File>
std::unique_ptr<ForeignModel> opened(std::unique_ptr<File> file, const std::string& path,
                                     const std::string& came_from) {
  return std::make_unique<OpenFile<File>>(std::move(file), path, came_from);
}

}  // namespace

std::unique_ptr<OpenModel> open_checkpoint(std::shared_ptr<Storage> storage,
                                           const std::string& path) {
  return std::make_unique<OpenCheckpoint>(CheckpointChoice(std::move(storage), path).use());
}

std::unique_ptr<ForeignModel> open_hf_model(std::shared_ptr<Storage> storage,
                                            const std::string& dir) {
  HfConfigFile config = read_hf_config_file(*storage, dir, join_path(dir, kHfConfigName));
  return open_hf_model(std::move(storage), dir, std::move(config), dir);
}

std::unique_ptr<ForeignModel> open_hf_model(std::shared_ptr<Storage> storage,
                                            const std::string& dir, HfConfigFile config,
                                            const std::string& came_from) {
  return opened(std::make_unique<HfFolder>(std::move(storage), dir, std::move(config)), dir,
                came_from);
}

std::unique_ptr<ForeignModel> open_gguf_model(std::shared_ptr<Storage> storage,
                                              const std::string& path) {
  return opened(std::make_unique<GgufWeights>(std::move(storage), path), path, path);
}

std::unique_ptr<ForeignModel> open_llama2c_model(std::shared_ptr<Storage> storage,
                                                 const std::string& path) {
  return opened(std::make_unique<Llama2cFile>(std::move(storage), path), path, path);
}

std::unique_ptr<OpenModel> open_model(std::shared_ptr<Storage> storage, const std::string& path) {
  const ModelFormat* format = foreign_format_of(*storage, path);
  if (format != nullptr) return format->open(std::move(storage), path);
  return open_checkpoint(std::move(storage), path);
}

std::unique_ptr<Weights> weights_of(const CheckpointReader& reader) {
  return std::make_unique<OfCheckpoint>(reader);
}

}  // namespace ingot
