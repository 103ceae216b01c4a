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
  // For another program's model: what a checkpoint of it would contain.
  virtual const CheckpointInfo& info() const = 0;
  virtual const Weights& weights() const = 0;
  // Throws ErrorCode::Data if the model has no tokenizer.
  virtual AuxiliaryFiles auxiliary_files() const = 0;
};

// Another program's model, which can be imported. Opening it has checked all that headers say.
class ForeignModel : public OpenModel {
 public:
  // With the tokenizer at `tokenizer` in place of its own; empty: its own. Throws ErrorCode::Data
  // if there is none, and for one with more ids than the model has.
  virtual AuxiliaryFiles auxiliary_files_with(const std::string& tokenizer) const = 0;
  // Throws ErrorCode::Data for weights that contradict each other. Reads them.
  virtual void check_weights() const = 0;

  AuxiliaryFiles auxiliary_files() const final { return auxiliary_files_with(""); }
};

// Of any format (model_formats.h); a checkpoint or run folder is verified. Throws ErrorCode::Data
// for a path that no format recognises.
std::unique_ptr<OpenModel> open_model(std::shared_ptr<Storage> storage, const std::string& path);

// By format.
std::unique_ptr<OpenModel> open_checkpoint(std::shared_ptr<Storage> storage,
                                           const std::string& path);
std::unique_ptr<ForeignModel> open_hf_model(std::shared_ptr<Storage> storage,
                                            const std::string& dir);
std::unique_ptr<ForeignModel> open_gguf_model(std::shared_ptr<Storage> storage,
                                              const std::string& path);
std::unique_ptr<ForeignModel> open_llama2c_model(std::shared_ptr<Storage> storage,
                                                 const std::string& path);
// The folder of a model that came from elsewhere, with its config.json as it was read there.
std::unique_ptr<ForeignModel> open_hf_model(std::shared_ptr<Storage> storage,
                                            const std::string& dir, HfConfigFile config,
                                            const std::string& came_from);

// Weights of a checkpoint; `reader` must outlive them.
std::unique_ptr<Weights> weights_of(const CheckpointReader& reader);

}  // namespace ingot
