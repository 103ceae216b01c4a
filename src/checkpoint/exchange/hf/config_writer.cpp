#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/unique_json.h"
#include "core/error/error.h"
#include "spec/model/model_settings.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

Json json_of(const SettingValue& value) {
  return std::visit([](const auto& v) { return Json(v); }, value);
}

class Writer {
 public:
  Writer(const ModelConfig& model, const Architecture& architecture)
      : model_(model), architecture_(architecture), fields_(model_) {
    // The inverse of Reader::read_dynamic.
    if (model_.rope.scaling == RopeScaling::Dynamic) model_.context = model_.rope.original_context;
  }

  nlohmann::ordered_json write() {
    check(!architecture_.heads_divide_dim || model_.dim % model_.heads == 0, ErrorCode::Config,
          "model.dim = {} with model.heads = {}, which {} wants a multiple of", model_.dim,
          model_.heads, architecture_.name);
    config_["architectures"] = {architecture_.name};
    config_["model_type"] = architecture_.model_type;
    for (const ConfigRow& row : architecture_.config) write_row(config_, row);
    if (model_.positions == Positions::Rotary) write_rope();
    if (architecture_.windows != WindowRule::None) write_windows();
    return std::move(config_);
  }

 private:
  void write_row(nlohmann::ordered_json& to, const ConfigRow& row) {
    if (row.setting.empty()) return;  // a missing member has the only supported value
    const SettingValue value = fields_[row.setting].get();
    if (row.as == ConfigRow::As::InverseSquare) {
      // 0 means the scale given by head_dim. transformers accepts only integers here.
      const double scale = std::get<double>(value);
      const double exact =
          scale == 0 ? static_cast<double>(model_.head_dim) : 1.0 / (scale * scale);
      check(std::abs(exact - std::round(exact)) <= 1e-9 * exact && exact < 1e9, ErrorCode::Config,
            "{} has no word for model.{} = {}", architecture_.name, row.setting, scale);
      to[row.key] = static_cast<int64_t>(std::round(exact));
      return;
    }
    if (row.values.empty()) {
      const bool is_null = row.as == ConfigRow::As::NullIsZero && value == SettingValue(0.0);
      to[row.key] = is_null ? Json() : json_of(value);
      return;
    }
    for (const auto& [theirs, ours] : row.values) {
      if (ours != value) continue;
      to[row.key] = theirs;
      return;
    }
    throw Error(ErrorCode::Config,
                fmt::format("{} has no word for model.{} = {}", architecture_.name, row.setting,
                            shown(json_of(value))));
  }

  // The older form, which newer versions accept too.
  void write_rope() {
    config_["rope_theta"] = model_.rope.theta;
    config_["rope_scaling"] = nullptr;
    const auto scaling = std::get<std::string>(fields_["rope.scaling"].get());
    const auto kind = std::ranges::find(rope_kinds(), scaling, &RopeKind::scaling);
    check(kind != rope_kinds().end(), ErrorCode::Config,
          "{} has no word for model.rope.scaling = {}", architecture_.name, scaling);
    if (kind->rows.empty()) return;
    nlohmann::ordered_json rope = {{"rope_type", kind->name}};
    for (const ConfigRow& row : kind->rows) write_row(rope, row);
    config_["rope_scaling"] = std::move(rope);
  }

  void write_windows() {
    const bool has_window = model_.window > 0;
    config_["sliding_window"] = has_window ? Json(model_.window) : Json();
    if (architecture_.windows == WindowRule::Always) return;
    Json types = Json::array();
    for (int64_t layer = 0; layer < model_.layers; ++layer)
      types.push_back(model_.window_of(layer) > 0 ? "sliding_attention" : "full_attention");
    if (architecture_.windows == WindowRule::Switched) {
      // Versions without "layer_types" use windows in all layers from this one on.
      const auto first = std::ranges::find(types, "sliding_attention");
      config_["use_sliding_window"] = has_window;
      config_["max_window_layers"] = first - types.begin();
    } else if (!has_window) {
      config_["sliding_window"] = kMissingHfWindow;  // required, even if no layer has one
    }
    config_["layer_types"] = types;
  }

  ModelConfig model_;
  const Architecture& architecture_;
  ModelFields fields_;
  nlohmann::ordered_json config_;
};

// The model with settings that have no effect reset.
ModelConfig plain(ModelConfig model) {
  const RopeConfig was = model.rope;
  model.rope = {};
  if (model.positions == Positions::Rotary) {
    model.rope.theta = was.theta;
    model.rope.scaling = was.scaling;
    ModelConfig source = model;
    source.rope = was;
    const ModelFields from(source), to(model);
    const auto scaling = std::get<std::string>(from["rope.scaling"].get());
    for (const RopeKind& kind : rope_kinds())
      if (kind.scaling == scaling)
        for (const ConfigRow& row : kind.rows)
          if (!row.setting.empty()) to[row.setting].set(from[row.setting].get());
    if (model.rope.scaling == RopeScaling::Dynamic) {
      model.rope.original_context = was.original_context;
      model.context = dynamic_context(model);  // our own limit, not in the file
    }
  }
  if (!model.qk_norm) model.qk_norm_span = QkNormSpan::Head;
  if (model.window == 0) model.window_layers.assign(1, 'w');  // see the reader
  return model;
}

// Settings of `model` that the architecture cannot express; empty: it can express all.
std::vector<std::string> unsaid(const ModelConfig& model, const Architecture& architecture) {
  ModelConfig wanted = plain(model), said;
  try {
    said = plain(read_hf_config(hf_config_of(wanted, architecture), architecture));
  } catch (const Error& error) {
    return {error.what()};
  }
  const ModelFields ours(wanted), theirs(said);
  std::vector<std::string> differing;
  for (size_t i = 0; i < ours.all().size(); ++i) {
    const SettingValue value = ours.all()[i].get();
    if (value != theirs.all()[i].get())
      differing.push_back(fmt::format("{} = {}", ours.all()[i].name, shown(json_of(value))));
  }
  return differing;
}

}  // namespace

nlohmann::ordered_json hf_config_of(const ModelConfig& model, const Architecture& architecture) {
  return Writer(model, architecture).write();
}

const Architecture& architecture_of(const ModelConfig& model, std::string_view preferred) {
  const Architecture* named = find_architecture(preferred);
  if (named != nullptr && unsaid(model, *named).empty()) return *named;
  std::vector<std::string> nearest;
  for (const Architecture& architecture : architectures()) {
    const std::vector<std::string> differing = unsaid(model, architecture);
    if (differing.empty()) return architecture;
    if (nearest.empty() || differing.size() < nearest.size()) nearest = differing;
  }
  throw Error(ErrorCode::Config,
              fmt::format("no architecture of Hugging Face that is known here has words for {}",
                          fmt::join(nearest, ", ")));
}

}  // namespace ingot
