// What llama.cpp calls a model, its settings and its tensors.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/exchange/architecture.h"
#include "checkpoint/exchange/gguf_file.h"
#include "spec/model/model_config.h"

namespace ingot {

// Throws ErrorCode::Config, naming the setting, where llama.cpp would not load the model under the
// architecture's name, or would compute another one.
void check_gguf_model(const ModelConfig& model, const Architecture& architecture);

// "llama.embedding_length" and so on.
void add_gguf_model(GgufMetadata& metadata, const ModelConfig& model,
                    const Architecture& architecture);

// Under `gguf` rotary pairs are neighbours, or halves of a head.
RopeStyle gguf_rope_style(const std::string& gguf);

std::vector<TensorRow> gguf_rows(const std::string& gguf);

// Whether a tied head is written as a tensor of its own: not every name may go without.
bool gguf_writes_tied_head(const std::string& gguf);

// Its activation, which no key says.
Activation gguf_activation(const std::string& gguf);

// By what it scales scores, which no key says either.
double gguf_attn_scale(const ModelConfig& model, const std::string& gguf);

// Yarn's own factor of rotated queries and keys, on top of which the file's comes.
double gguf_yarn_factor(const ModelConfig& model);

// rope_freqs.weight, (D/2): by how much llama3 scaling divides each frequency; empty: not scaled
// so.
std::vector<float> gguf_rope_divisors(const ModelConfig& model);

// The other way: sets the scaling whose divisors these are, up to rounding. Its settings are those
// of the published models where several give the same. False: none was found.
bool set_rope_divisors(ModelConfig& model, const std::vector<float>& divisors);

}  // namespace ingot
