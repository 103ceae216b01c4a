// A model ready to generate, score and serve: weights packed in memory, tokenizer, engine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "checkpoint/models/open_model.h"
#include "core/device/context.h"
#include "core/storage/storage.h"
#include "infer/engine_model.h"
#include "plan/decode_shape.h"
#include "tokenizer/chat/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

class LoadedModel final : public EngineModel {
 public:
  // `path`: a checkpoint, a run folder, a Hugging Face folder or a GGUF file. Throws
  // ErrorCode::Data for anything else, ErrorCode::Memory if it does not fit. If options.pages is 0
  // and memory has no room for pages of all sequences, it takes fewer.
  LoadedModel(Context& ctx, std::shared_ptr<Storage> storage, const std::string& path,
              const ModelOptions& options);
  ~LoadedModel() override;

  const CheckpointInfo& info() const;
  const ModelConfig& config() const override;
  const DecodeShape& shape() const override;
  int64_t allocated_bytes() const;
  // Has the system find all of that memory now, not when a page is first written: what will not be
  // there shows at once.
  void make_resident();
  ReplyEngine& engine() override;
  PagedDecoder& decoder();

  // For text. All of these throw ErrorCode::Data if the model came without a tokenizer.
  const Tokenizer& tokenizer() const;
  // Ids that end a reply: EOS, others that the model's files name (end of turn), and BOS.
  const std::vector<int32_t>& stop_ids() const override;
  const AuxiliaryFiles& auxiliary_files() const;
  ChatFiles chat_files() const;
  // The id that a text begins with: BOS, if the tokenizer has one and the model's files do not say
  // add_bos_token = false; else -1, no id.
  int32_t first_id() const;
  // first_id() and the ids of `text`, in which special tokens are only text. An empty text without
  // BOS begins after the EOS of the document before. Throws ErrorCode::Usage if nothing is left.
  std::vector<int32_t> prompt_ids(std::string_view text) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
