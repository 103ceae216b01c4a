#include "train/start/plan.h"

#include <fmt/format.h>

#include "core/device/compute_device.h"
#include "core/text/format.h"
#include "plan/train_table.h"

namespace ingot {

RunPlan plan_of(const ResolvedRun& run) {
  RunPlan plan;
  plan.parameters = parameter_count(run.config.model);
  plan.bytes_per_rank = plan_memory(train_table(run)).total_bytes;
  plan.ranks = static_cast<int>(run.config.system.ranks);
  plan.device = device_text(run.place.device);
  plan.precision = name_of(run.config.train.precision);
  plan.length = run.steps.horizon;
  return plan;
}

RunPlan plan_of(const PreparedRun& run) {
  RunPlan plan = plan_of(run.resolved);
  plan.first_step = run.first_step;
  plan.epochs = epochs_of(run.data, plan.length.tokens / run.resolved.config.batch.seq);
  return plan;
}

std::string text_of(const RunPlan& plan) {
  std::string text = fmt::format(
      "model    {} parameters\n"
      "memory   {} a rank, {} rank{}\n"
      "device   {}, {}\n",
      format_count(plan.parameters), format_bytes(plan.bytes_per_rank), plan.ranks,
      plan.ranks == 1 ? "" : "s", plan.device, plan.precision);
  text += plan.length.steps > 0
              ? fmt::format("plan     {} steps, {} tokens", format_count(plan.length.steps),
                            format_count(plan.length.tokens))
              : "plan     no end: set train.total_tokens or train.steps";
  if (plan.first_step.value_or(0) > 0) text += fmt::format(", from step {} on", *plan.first_step);
  if (!plan.epochs.empty()) text += fmt::format("\nepochs   {}", epochs_text(plan.epochs));
  return text;
}

nlohmann::json to_json(const RunPlan& plan) {
  nlohmann::json json = {{"parameters", plan.parameters}, {"bytes_per_rank", plan.bytes_per_rank},
                         {"ranks", plan.ranks},           {"device", plan.device},
                         {"precision", plan.precision},   {"steps", plan.length.steps},
                         {"tokens", plan.length.tokens}};
  if (plan.first_step) json["first_step"] = *plan.first_step;
  for (const auto& [path, epochs] : plan.epochs)
    json["epochs"].push_back({{"path", path}, {"epochs", epochs}});
  return json;
}

}  // namespace ingot
