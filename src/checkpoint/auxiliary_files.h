// The tokenizer and the chat templates in a checkpoint's auxiliary files.
#pragma once

#include <memory>

#include "checkpoint/checkpoint.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

std::unique_ptr<Tokenizer> tokenizer_of(const AuxiliaryFiles& auxiliary_files);

// As they came with a model.
ChatFiles chat_files_of(const AuxiliaryFiles& auxiliary_files);

}  // namespace ingot
