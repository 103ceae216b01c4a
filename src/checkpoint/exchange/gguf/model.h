// llama.cpp's names of models, settings and tensors.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "checkpoint/exchange/gguf/file.h"
#include "spec/model/model_config.h"

namespace ingot {

// Throws ErrorCode::Config naming the setting if llama.cpp would not load the model under the
// architecture's name, or would compute something else.
void check_gguf_model(const ModelConfig& model, const Architecture& architecture);

// "llama.embedding_length" and so on.
void add_gguf_model(GgufMetadata& metadata, const ModelConfig& model,
                    const Architecture& architecture);

// Whether `gguf` rotates adjacent pairs, or halves of a head.
RopeStyle gguf_rope_style(const std::string& gguf);

std::vector<TensorRow> gguf_rows(const std::string& gguf);

// Whether a tied head is exported as its own tensor: some architectures require it.
bool gguf_writes_tied_head(const std::string& gguf);

// The activation, which is implied by the architecture.
Activation gguf_activation(const std::string& gguf);

// The attention scale, which is implied by the architecture too.
double gguf_attn_scale(const ModelConfig& model, const std::string& gguf);

// Yarn's own factor of rotated queries and keys, multiplied by the file's.
double gguf_yarn_factor(const ModelConfig& model);

// rope_freqs.weight, (D/2): the divisor of each frequency under llama3 scaling; empty: no such
// scaling.
std::vector<float> gguf_rope_divisors(const ModelConfig& model);

// The inverse: sets the scaling that gives these divisors, up to rounding. Prefers the settings of
// published models if several fit. False: none was found.
bool set_rope_divisors(ModelConfig& model, const std::vector<float>& divisors);

}  // namespace ingot
