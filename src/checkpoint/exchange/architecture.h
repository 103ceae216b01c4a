// What Hugging Face's transformers calls the models that this program computes, as data: a row for
// each architecture says how its config.json and its tensors are named. Reading and writing folders
// both go by it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/model/model_config.h"
#include "spec/settings/settings.h"

namespace ingot {

// A member of config.json that is a setting of [model]. Several rows may have one key.
struct ConfigRow {
  // What it is where the member is missing: a value, else `times` another setting, which is also
  // what null means. Neither: the member must be there, unless null is zero.
  struct Missing {
    nlohmann::json value = nullptr;
    std::string same_as = {};  // a setting
    int64_t times = 1;
  };
  // How the numbers go together: x is x; 0 is null; or theirs is 1 / x².
  enum class As { Same, NullIsZero, InverseSquare };

  std::string key;
  std::string setting;  // without "model."; empty: `values` lists what is computed, nothing is set
  Missing missing = {};
  // Where the two spell values differently: theirs and ours. Others are refused.
  std::vector<std::pair<nlohmann::json, SettingValue>> values = {};
  As as = As::Same;
};

// A kind of rotary scaling: the members of "rope_parameters" ("rope_scaling" once) beside its name,
// which is "rope_type" there ("type" once).
struct RopeKind {
  std::string name;     // "llama3"
  std::string scaling;  // of model.rope.scaling
  std::vector<ConfigRow> rows;
};
std::span<const RopeKind> rope_kinds();

// One of our parameters. "{}" stands for the number of the layer.
struct TensorRow {
  std::string ours;
  std::vector<std::string> theirs;  // several: they stand stacked in ours, as its parts
  bool transposed = false;          // GPT-2's Conv1D keeps (in, out)
  bool from_one = false;            // Gemma's norms keep what is added to one
};

// When "sliding_window" counts: never, always, where "use_sliding_window" says so, or in every
// other layer unless "layer_types" says otherwise.
enum class WindowRule { None, Always, Switched, Alternating };

struct Architecture {
  std::string name = {};        // "LlamaForCausalLM"
  std::string model_type = {};  // "llama"
  // What begins the tensors' names, but for the head's; some files omit it.
  std::string base = {};
  bool scales_embedding = false;  // by the root of the width
  bool heads_divide_dim = false;  // transformers 5 refuses others, whatever head_dim is
  WindowRule windows = WindowRule::None;
  std::vector<ConfigRow> config = {};
  std::vector<std::pair<std::string, SettingValue>> implied = {};  // settings, by the name
  std::vector<TensorRow> tensors = {};
  std::string gguf = {};  // what llama.cpp calls it; empty: it is not written for it
};

std::span<const Architecture> architectures();
const Architecture* find_architecture(std::string_view name_or_model_type);  // null: not known
std::string architecture_names();                                            // for messages

// Members of config.json that change nothing that is computed here: how the model was trained, how
// text is generated, how the file was written.
bool is_harmless_config(std::string_view key);

// Tensors that are no weights (masks, rotary tables).
bool is_harmless_tensor(std::string_view name);

}  // namespace ingot
