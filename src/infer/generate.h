// Samples text from a checkpoint.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/device/context.h"
#include "core/storage/storage.h"
#include "spec/model/model_config.h"
#include "tokenizer/tokenizer.h"

namespace ingot {

struct SamplingOptions {
  double temperature = 1.0;  // 0 = greedy
  int64_t top_k = 0;         // keep the k most likely; 0 = all
  double top_p = 1.0;        // keep the smallest set with total probability p
  uint64_t seed = 1337;
};

// The token id at `position` of the sequence: a pure function of logits, options and position.
int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                     int64_t position);

// A model ready to generate: weights and cache are in memory. If the model has no tokenizer, all
// but model() and logits() throw ErrorCode::Data.
class Generator {
 public:
  using OnToken = std::function<bool(int32_t id, std::string_view text)>;

  // `dir` is a checkpoint, a run folder, a Hugging Face folder or a GGUF file. context 0 = the
  // model's own.
  Generator(Context& ctx, std::shared_ptr<Storage> storage, const std::string& dir,
            int64_t context);
  ~Generator();

  const ModelConfig& model() const;
  const Tokenizer& tokenizer() const;

  // Number of new tokens that fit into the context after BOS and the prompt; at least 0.
  int64_t room_after(const std::string& prompt) const;

  // Processes BOS (if the tokenizer has none and the prompt is empty, EOS) and the prompt, then
  // samples up to num_tokens new ids. Calls on_token with each id and the bytes that it adds to the
  // text. Stops at any of the model's stop ids, including EOS and BOS, or if on_token returns
  // false. Returns the new ids. Throws ErrorCode::Numeric if logits are not finite, naming the
  // first activation that is not; so does logits().
  std::vector<int32_t> generate(const std::string& prompt, int64_t num_tokens,
                                const SamplingOptions& options, const OnToken& on_token);

  // Calls `take` with the logits (V) after each of `ids`, in order; a row is valid until the next.
  // Throws ErrorCode::Usage for an id outside the vocabulary.
  void logits(std::span<const int32_t> ids,
              const std::function<void(std::span<const float>)>& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
