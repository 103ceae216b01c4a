// Opens a model of any format by its path.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/weights.h"

namespace ingot {

// A model with its metadata.
class OpenModel {
 public:
  virtual ~OpenModel() = default;
  // For another program's model: what a checkpoint of it would say.
  virtual const CheckpointInfo& info() const = 0;
  virtual const Weights& weights() const = 0;
  // Throws ErrorCode::Data if the model has no tokenizer.
  virtual AuxiliaryFiles auxiliary_files() const = 0;
};

// Another program's model, which can be imported. Its headers were checked when it was opened.
class ForeignModel : public OpenModel {
 public:
  // With the tokenizer at `tokenizer`; empty: the model's own. Throws ErrorCode::Data if there is
  // no tokenizer, or if it has more ids than the model.
  virtual AuxiliaryFiles auxiliary_files_with(const std::string& tokenizer) const = 0;
  // Reads weights and throws ErrorCode::Data if they contradict each other.
  virtual void check_weights() const = 0;

  AuxiliaryFiles auxiliary_files() const final { return auxiliary_files_with(""); }
};

// Opens a model of any format (model_formats.h). Verifies a checkpoint or run folder. Throws
// ErrorCode::Data for a path that no format recognises.
std::unique_ptr<OpenModel> open_model(std::shared_ptr<Storage> storage, const std::string& path);

// Open a model of one format.
std::unique_ptr<OpenModel> open_checkpoint(std::shared_ptr<Storage> storage,
                                           const std::string& path);
std::unique_ptr<ForeignModel> open_hf_model(std::shared_ptr<Storage> storage,
                                            const std::string& dir);
std::unique_ptr<ForeignModel> open_gguf_model(std::shared_ptr<Storage> storage,
                                              const std::string& path);
std::unique_ptr<ForeignModel> open_llama2c_model(std::shared_ptr<Storage> storage,
                                                 const std::string& path);
// For a folder fetched from `came_from`, with the config.json that was read there.
std::unique_ptr<ForeignModel> open_hf_model(std::shared_ptr<Storage> storage,
                                            const std::string& dir, HfConfigFile config,
                                            const std::string& came_from);

// Weights of a checkpoint; `reader` must outlive them.
std::unique_ptr<Weights> weights_of(const CheckpointReader& reader);

}  // namespace ingot
