// Sampling text from a checkpoint.
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
  int64_t top_k = 0;         // keep the k likeliest; 0 = all
  double top_p = 1.0;        // keep the smallest set whose probability reaches p
  uint64_t seed = 1337;
};

// The id at position `position` of the stream: a pure function of logits, options and position.
int32_t sample_token(std::span<const float> logits, const SamplingOptions& options,
                     int64_t position);

// A model ready to generate: weights and cache in memory. Where no tokenizer came with the model,
// all but model() and logits() throw ErrorCode::Data.
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

  // New tokens that the context has room for after BOS and the prompt; not below 0.
  int64_t room_after(const std::string& prompt) const;

  // BOS (where the tokenizer has one; else, of an empty prompt, EOS), the prompt, then up to
  // num_tokens new ids, each handed to on_token with the bytes it adds to the text; stops at any of
  // the model's stop ids, EOS and BOS among them, or when on_token returns false. Returns the new
  // ids. Throws ErrorCode::Numeric where logits are not finite, naming the first activation that is
  // not; so does logits().
  std::vector<int32_t> generate(const std::string& prompt, int64_t num_tokens,
                                const SamplingOptions& options, const OnToken& on_token);

  // The logits (V) after each of `ids`, one row after another; a row is valid until the next.
  // Throws ErrorCode::Usage for an id that the model does not have.
  void logits(std::span<const int32_t> ids,
              const std::function<void(std::span<const float>)>& take);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ingot
