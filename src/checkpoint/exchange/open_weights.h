// A model by its path, of whatever format it is.
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

// A checkpoint's; `reader` must outlive it.
std::unique_ptr<Weights> weights_of(const CheckpointReader& reader);

// A model and what is known of it besides its weights.
class OpenModel {
 public:
  virtual ~OpenModel() = default;
  // Of another program's model: what a checkpoint of it would say.
  virtual const CheckpointInfo& info() const = 0;
  virtual const Weights& weights() const = 0;
  // Throws ErrorCode::Data where no tokenizer came with the model.
  virtual Companions companions() const = 0;
};

// A checkpoint or run folder (verified), a Hugging Face folder, or a GGUF file. Throws
// ErrorCode::Data for anything else.
std::unique_ptr<OpenModel> open_model(std::shared_ptr<Storage> storage, const std::string& path);

std::unique_ptr<Tokenizer> tokenizer_of(const Companions& companions);

// As they came with a model.
ChatFiles chat_files_of(const Companions& companions);

}  // namespace ingot
