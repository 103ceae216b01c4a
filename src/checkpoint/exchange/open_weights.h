// Opens a model of any format by its path.
#pragma once

#include <memory>
#include <string>

#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

// A checkpoint or run folder (verified), a Hugging Face folder, a GGUF file, or a llama2.c file.
// Throws ErrorCode::Data for anything else.
std::unique_ptr<Weights> open_weights(std::shared_ptr<Storage> storage, const std::string& path);

// Weights of a checkpoint; `reader` must outlive them.
std::unique_ptr<Weights> weights_of(const CheckpointReader& reader);

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

// A checkpoint or run folder (verified), a Hugging Face folder, or a GGUF file. Throws
// ErrorCode::Data for anything else.
std::unique_ptr<OpenModel> open_model(std::shared_ptr<Storage> storage, const std::string& path);

std::unique_ptr<Tokenizer> tokenizer_of(const AuxiliaryFiles& auxiliary_files);

// As they came with a model.
ChatFiles chat_files_of(const AuxiliaryFiles& auxiliary_files);

}  // namespace ingot
