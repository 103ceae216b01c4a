// The Hugging Face transformers architectures that this program computes, as data. Each row says
// how config.json and the tensors of an architecture are named. Import and export both use it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/model/model_config.h"
#include "spec/settings/settings.h"

namespace ingot {

// A member of config.json that corresponds to a setting of [model]. Several rows may have the same
// key.
struct ConfigRow {
  // The value if the member is missing: a constant, or else `times` another setting, which is also
  // the meaning of null. If neither is given, the member is required, and null is an error unless
  // it means zero.
  struct Missing {
    nlohmann::json value = nullptr;
    std::string same_as = {};  // a setting
    int64_t times = 1;
  };
  // The mapping of numbers: equal; 0 is null; or theirs is 1 / x².
  enum class As { Same, NullIsZero, InverseSquare };

  std::string key;
  std::string setting;  // without "model."; empty: only checks that the value is in `values`
  Missing missing = {};
  // If values are spelt differently: theirs and ours. Other values are rejected.
  std::vector<std::pair<nlohmann::json, SettingValue>> values = {};
  As as = As::Same;
};

// A kind of rotary scaling: the members of "rope_parameters" (formerly "rope_scaling") besides the
// name, which is "rope_type" (formerly "type").
struct RopeKind {
  std::string name;     // "llama3"
  std::string scaling;  // of model.rope.scaling
  std::vector<ConfigRow> rows;
};
std::span<const RopeKind> rope_kinds();

// One of our parameters. "{}" stands for the layer number.
struct TensorRow {
  std::string ours;
  std::vector<std::string> theirs;  // several: stacked in ours, as its parts
  bool transposed = false;          // GPT-2's Conv1D stores (in, out)
  bool from_one = false;            // Gemma's norms store the offset from one
};

// When "sliding_window" applies: never, always, if "use_sliding_window" says so, or in every other
// layer unless "layer_types" says otherwise.
enum class WindowRule { None, Always, Switched, Alternating };
// The window if config.json gives none, in all architectures.
inline constexpr int64_t kMissingHfWindow = 4096;

struct Architecture {
  std::string name = {};        // "LlamaForCausalLM"
  std::string model_type = {};  // "llama"
  // Prefix of the tensors' names, except the head's; some files omit it.
  std::string base = {};
  bool scales_embedding = false;  // by the square root of the width
  bool heads_divide_dim = false;  // transformers 5 requires it, whatever head_dim is
  WindowRule windows = WindowRule::None;
  std::vector<ConfigRow> config = {};
  std::vector<std::pair<std::string, SettingValue>> implied = {};  // implied settings
  std::vector<TensorRow> tensors = {};
  std::string gguf = {};  // llama.cpp's name; empty: no GGUF export
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name_or_model_type);  // null: unknown
std::string architecture_names();                                            // for messages

// Members of config.json that do not affect the computation: how the model was trained, how text is
// generated, how the file was written.
bool is_harmless_config(std::string_view key);

// Tensors that are not weights (masks, rotary tables).
bool is_harmless_tensor(std::string_view name);

}  // namespace ingot
