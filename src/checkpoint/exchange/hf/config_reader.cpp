#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "checkpoint/unique_json.h"
#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "core/json/json_member.h"
#include "spec/model/model_settings.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

// "wf" for "wfwfwf".
std::string shortest_period(const std::string& layers) {
  for (size_t length = 1; length <= layers.size(); ++length) {
    bool repeats = true;
    for (size_t i = length; repeats && i < layers.size(); ++i)
      repeats = layers[i] == layers[i % length];
    if (repeats) return layers.substr(0, length);
  }
  return "w";
}

bool flag_in(const Json& json) {
  check(json.is_boolean(), ErrorCode::Data, "expected true or false, got {}", shown(json));
  return json.get<bool>();
}

int64_t integer_in(const Json& json, int64_t min = std::numeric_limits<int64_t>::min()) {
  check(json.is_number_integer() && integer_of(json) >= min, ErrorCode::Data,
        "expected {} integer, got {}", min > 0 ? "a positive" : "an", shown(json));
  return integer_of(json);
}

double number_in(const Json& json) {
  check(json.is_number(), ErrorCode::Data, "expected a number, got {}", shown(json));
  return json.get<double>();
}

std::string text_in(const Json& json) {
  check(json.is_string(), ErrorCode::Data, "expected a text, got {}", shown(json));
  return json.get<std::string>();
}

// Converts a value of the file to a value of the setting.
SettingValue value_of(const Json& json, const Setting& setting, ConfigRow::As as) {
  if (as == ConfigRow::As::InverseSquare) {
    check(json.is_number() && json.get<double>() > 0, ErrorCode::Data,
          "expected a number above 0, got {}", shown(json));
    return 1.0 / std::sqrt(json.get<double>());
  }
  // transformers treats 0 as a number: a soft cap of 0 divides by zero.
  check(as != ConfigRow::As::NullIsZero || json != 0, ErrorCode::Data,
        "expected null or a number above 0, got {}", shown(json));
  switch (setting.type) {
    case SettingType::Flag:
      return flag_in(json);
    case SettingType::Integer:
      return setting.min > 0 ? integer_in(json, 1) : integer_in(json);
    case SettingType::Number:
      return number_in(json);
    default:
      return text_in(json);
  }
}

// Tracks which members of an object were read, so that the others can be rejected.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  // Null if it is missing.
  const Json& take(const std::string& key) {
    static const Json none;
    taken_.insert(key);
    const auto found = object_.find(key);
    return found == object_.end() ? none : *found;
  }
  bool has(const std::string& key) const { return object_.contains(key); }
  void refuse_others(std::string_view what) const {
    for (const auto& [key, value] : object_.items())
      if (!taken_.contains(key) && !is_harmless_config(key))
        throw MemberError({key}, fmt::format("\"{}\" of {} is not known here and could change what "
                                             "the model computes; where it does not, remove it "
                                             "from the file",
                                             key, what));
  }

 private:
  const Json& object_;
  std::set<std::string> taken_;
};

class Reader {
 public:
  Reader(const Json& config, const Architecture& architecture)
      : members_(config), architecture_(architecture), fields_(model_) {}

  ModelConfig read() {
    for (const auto& [setting, value] : architecture_.implied) fields_[setting].set(value);
    for (const ConfigRow& row : architecture_.config) read_row(members_, row);
    if (model_.positions == Positions::Rotary) read_rope();
    if (architecture_.windows != WindowRule::None) read_windows();
    const std::string quantized = "quantization_config";
    at_member<Json>(quantized, [&] {
      check(members_.take(quantized).is_null(), ErrorCode::Data,
            "quantized weights cannot be imported; get the model in bf16, fp16 or fp32");
    });
    members_.refuse_others(architecture_.name);
    resolve_head_dim(model_);
    if (architecture_.scales_embedding)
      model_.embedding_scale = std::sqrt(static_cast<double>(model_.dim));
    validate(model_);
    return model_;
  }

 private:
  void read_row(Members& members, const ConfigRow& row) {
    const Json& given = members.take(row.key);
    at_member<Json>(row.key, [&] {
      if (!members.has(row.key) && !row.missing.value.is_null())
        set(row, row.missing.value);
      else if (given.is_null())
        set_null(row);
      else
        set(row, given);
    });
  }

  void set_null(const ConfigRow& row) {
    const auto& [value, same_as, times] = row.missing;
    if (!same_as.empty()) {
      const auto other = std::get<int64_t>(fields_[same_as].get());
      check(other <= std::numeric_limits<int32_t>::max(), ErrorCode::Data, "it is missing");
      fields_[row.setting].set(other * times);
    } else if (row.as == ConfigRow::As::NullIsZero) {
      fields_[row.setting].set(0.0);
    } else if (row.setting == "head_dim") {
      fields_[row.setting].set(int64_t{0});
    } else {
      check(!value.is_null(), ErrorCode::Data, "it is missing");
      // A null flag is false, even if a missing one is true.
      set(row, value.is_boolean() ? Json(false) : value);
    }
  }

  void set(const ConfigRow& row, const Json& given) {
    if (row.values.empty())
      fields_[row.setting].set(value_of(given, fields_[row.setting], row.as));
    else
      set_translated(row, given);
  }

  void set_translated(const ConfigRow& row, const Json& given) {
    std::vector<std::string> known;
    for (const auto& [theirs, ours] : row.values) {
      if (theirs == given) {
        if (!row.setting.empty()) fields_[row.setting].set(ours);
        return;
      }
      known.push_back(shown(theirs));
    }
    throw Error(ErrorCode::Data,
                fmt::format("of {} only {} is computed here, got {}", architecture_.name,
                            fmt::join(known, " or "), shown(given)));
  }

  // transformers 5 keeps everything in rope_parameters; older versions have rope_theta beside
  // rope_scaling.
  void read_rope() {
    read_row(members_, {"rope_theta", "rope.theta", {10000.0}});
    read_row(members_, whole_rotary_row());
    const RopeConfig base = model_.rope;
    const bool older = read_rope_object("rope_scaling");
    const RopeConfig by_older = std::exchange(model_.rope, base);
    const bool newer = read_rope_object("rope_parameters");
    if (older && newer && by_older != model_.rope)
      throw MemberError(
          {"rope_parameters"},
          "\"rope_scaling\" and \"rope_parameters\" say different things: remove one of them");
    if (newer && members_.has("rope_theta") && base.theta != model_.rope.theta)
      throw MemberError({"rope_theta"},
                        "\"rope_theta\" and \"rope_parameters\" say different things: remove the "
                        "one that is wrong");
    if (older) model_.rope = by_older;
    if (model_.rope.scaling == RopeScaling::Dynamic) read_dynamic();
  }

  // Dynamic scaling starts beyond "max_position_embeddings", whatever else the file says, and is
  // meant to reach `factor` times that.
  void read_dynamic() {
    model_.rope.original_context = model_.context;
    model_.context = dynamic_context(model_);
  }

  // False if it is missing.
  bool read_rope_object(const std::string& key) {
    const Json& object = members_.take(key);
    if (object.is_null()) return false;
    at_member<Json>(key, [&] {
      check(object.is_object(), ErrorCode::Data, "expected an object, got {}", shown(object));
      Members rope(object);
      const RopeKind& kind = rope_kind_in(rope);
      fields_["rope.scaling"].set(kind.scaling);
      if (rope.has("rope_theta")) read_row(rope, {"rope_theta", "rope.theta"});
      read_row(rope, whole_rotary_row());
      for (const ConfigRow& row : kind.rows) read_row(rope, row);
      if (model_.rope.scaling == RopeScaling::Yarn) read_mscale(rope);
      rope.refuse_others("it");
    });
    return true;
  }

  static const RopeKind& rope_kind_in(Members& rope) {
    const std::string key = rope.has("rope_type") ? "rope_type" : "type";
    const Json& type = rope.take(key);
    rope.take("type");
    return at_member<Json>(key, [&]() -> const RopeKind& {
      const std::string wanted = type.is_null() ? "default" : text_in(type);
      const auto kind = std::ranges::find(rope_kinds(), wanted, &RopeKind::name);
      std::vector<std::string> names;
      for (const RopeKind& known : rope_kinds()) names.push_back(known.name);
      check(kind != rope_kinds().end(), ErrorCode::Data,
            "the scaling {} is not computed here; {} are", shown(type), fmt::join(names, ", "));
      return *kind;
    });
  }

  // All pairs of a head must be rotated.
  static ConfigRow whole_rotary_row() {
    return {"partial_rotary_factor", "", {1.0}, {{1.0, false}}};
  }

  // Two numbers that define "attention_factor" if it is missing. One alone has no effect.
  void read_mscale(Members& rope) {
    const auto factor_by = [&](const std::string& key) {
      const Json& given = rope.take(key);
      const double mscale =
          given.is_null() ? 0.0 : at_member<Json>(key, [&] { return number_in(given); });
      return mscale == 0.0 ? 0.0 : 0.1 * mscale * std::log(model_.rope.factor) + 1.0;
    };
    const double above = factor_by("mscale"), below = factor_by("mscale_all_dim");
    if (model_.rope.attention_factor > 0 || above == 0 || below == 0) return;
    check(above / below > 0, ErrorCode::Data,
          "\"mscale\" and \"mscale_all_dim\": expected a factor of attention above 0, got {}",
          above / below);
    model_.rope.attention_factor = above / below;
  }

  void read_windows() {
    const WindowRule rule = architecture_.windows;
    bool used = true;
    int64_t full_layers = 28;
    if (rule == WindowRule::Switched) {
      used = at_member<Json>("use_sliding_window", [&] {
        const Json& wanted = members_.take("use_sliding_window");
        return !wanted.is_null() && flag_in(wanted);
      });
      at_member<Json>("max_window_layers", [&] {
        const Json& first = members_.take("max_window_layers");
        if (!first.is_null()) full_layers = integer_in(first);
      });
    }
    const int64_t window = at_member<Json>("sliding_window", [&] { return window_in(used); });
    std::string layers;
    for (int64_t layer = 0; layer < model_.layers; ++layer)
      layers += rule == WindowRule::Always                            ? 'w'
                : rule == WindowRule::Switched && layer < full_layers ? 'f'
                : rule == WindowRule::Alternating && layer % 2 == 1   ? 'f'
                                                                      : 'w';
    const Json none;
    const Json& types = rule == WindowRule::Always ? none : members_.take("layer_types");
    if (!types.is_null())
      layers = at_member<Json>("layer_types", [&] { return read_layer_types(types, window); });
    model_.window = window;
    model_.window_layers = shortest_period(layers);
    if (model_.window_layers == "f" || window == 0) {
      model_.window = 0;
      model_.window_layers.assign(1, 'w');  // g++ 12 takes = "w" for an overflow
    }
  }

  // 0: no window, or it is not used.
  int64_t window_in(bool used) {
    const Json& size = members_.take("sliding_window");
    int64_t window = kMissingHfWindow;
    if (members_.has("sliding_window")) window = size.is_null() ? 0 : integer_in(size);
    check(!used || size.is_null() || window > 0, ErrorCode::Data,
          "expected null or at least 1, got {}", window);
    return used ? window : 0;
  }

  std::string read_layer_types(const Json& types, int64_t window) const {
    std::string layers;
    for (const Json& type : types) {
      check(type == "full_attention" || type == "sliding_attention", ErrorCode::Data,
            "expected full_attention or sliding_attention, got {}", shown(type));
      layers += type == "full_attention" ? 'f' : 'w';
    }
    check(static_cast<int64_t>(layers.size()) == model_.layers, ErrorCode::Data,
          "expected one for each of the {} layers, got {}", model_.layers, layers.size());
    check(window > 0 || layers.find('w') == std::string::npos, ErrorCode::Data,
          "a layer is to have a window, and \"sliding_window\" says none");
    return layers;
  }

  Members members_;
  const Architecture& architecture_;
  ModelConfig model_;
  ModelFields fields_;
};

const Architecture& architecture_in(const Json& config) {
  const auto listed = config.find("architectures"), type = config.find("model_type");
  const bool has_list = listed != config.end() && !listed->empty();
  check(has_list || type != config.end(), ErrorCode::Data,
        "expected \"architectures\", the name of one of {}, got none", architecture_names());
  const Architecture& found =
      at_member<Json>(has_list ? "architectures" : "model_type", [&]() -> const Architecture& {
        const std::string name = text_in(has_list ? listed->at(0) : *type);
        const Architecture* known = find_architecture(name);
        check(known != nullptr, ErrorCode::Data,
              "the architecture {} is not known here: expected one of {}", shown(name),
              architecture_names());
        return *known;
      });
  // transformers uses model_type.
  if (type != config.end() && *type != found.model_type)
    throw MemberError(
        {"model_type"},
        fmt::format("\"architectures\" says {} and \"model_type\" {}: expected {} there; correct "
                    "one of them",
                    found.name, shown(*type), shown(found.model_type)));
  return found;
}

}  // namespace

int64_t dynamic_context(ModelConfig model) {
  const double reach = static_cast<double>(model.rope.original_context) * model.rope.factor;
  return static_cast<int64_t>(std::min(reach, ModelFields(model)["context"].max));
}

ModelConfig read_hf_config(const Json& config, const Architecture& architecture) {
  return Reader(config, architecture).read();
}

HfConfigFile read_hf_config_file(Storage& storage, const std::string& dir,
                                 const std::string& named_as) {
  HfConfigFile file{named_as, read_text(storage, join_path(dir, kHfConfigName)), {}};
  file.hf = parse_hf_config(file.text, named_as);
  return file;
}

HfModel parse_hf_config(std::string_view text, const std::string& path) {
  try {
    const Json config = parse_unique_json(text);
    check(config.is_object(), ErrorCode::Data, "expected a JSON object, got {}",
          config.type_name());
    const Architecture& architecture = architecture_in(config);
    return {&architecture, read_hf_config(config, architecture), eos_ids_in(config)};
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Data, located<Json>(path, text, error));
  } catch (const Error& error) {
    throw Error(ErrorCode::Data, located(path, text, error));
  }
}

}  // namespace ingot
