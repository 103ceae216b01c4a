#include "cli/checkpoint/facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/models/model_formats.h"
#include "core/error/error.h"
#include "core/text/format.h"
#include "spec/model/transformer_parameters.h"

namespace ingot::cli {
namespace {

std::string family_of(const CheckpointInfo& info) {
  try {
    return architecture_of(info.model, info.origin.architecture).name;
  } catch (const Error&) {
    return "no family that other programs know";
  }
}

}  // namespace

nlohmann::json facts_of(const CheckpointInfo& info, const Weights& weights) {
  nlohmann::json facts = {{"checkpoint", info.dir},
                          {"family", family_of(info)},
                          {"parameters", parameter_count(info.model)},
                          {"dtype", dtypes_of(weights)},
                          {"bytes", info.bytes},
                          {"has_optimizer", info.has_optimizer}};
  if (info.has_optimizer)
    facts.update({{"step", info.state.step},
                  {"tokens", info.state.tokens},
                  {"samples", info.state.samples},
                  {"loss", info.state.last_loss}});
  if (!info.state.run.empty()) facts["run"] = info.state.run;
  if (info.origin != Origin{})
    facts["origin"] = {{"format", info.origin.format}, {"path", info.origin.path}};
  return facts;
}

std::string model_path_forms() {
  return "checkpoint, run folder, " + foreign_format_titles();
}

std::string dtypes_of(const Weights& weights) {
  std::set<std::string> names;
  const TensorTable parameters = transformer_parameters(weights.model());
  for (const TensorSpec& row : parameters.rows())
    names.insert(std::string(name_of(weights.dtype(row.name))));
  return fmt::format("{}", fmt::join(names, " and "));
}

std::string model_line(const CheckpointInfo& info, const std::string& dtype) {
  return fmt::format("{}, {} parameters, {}", family_of(info),
                     format_count(parameter_count(info.model)), dtype);
}

}  // namespace ingot::cli
