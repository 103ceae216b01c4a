#include "cli/machine/speed_record.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <array>
#include <cmath>

#include "core/device/compute_device.h"
#include "core/error/error.h"
#include "core/storage/storage.h"
#include "core/text/format.h"

namespace ingot::cli {
namespace {

using Json = nlohmann::json;

// What a step's time depends on; how many micro-steps it has changes tokens a second little.
constexpr std::array kDecideSpeed = {"model.",
                                     "batch.micro_batch",
                                     "batch.seq",
                                     "optim.kind",
                                     "optim.moments",
                                     "train.precision",
                                     "train.fp8_head",
                                     "train.recompute",
                                     "train.keep_layers",
                                     "train.offload_layers",
                                     "train.loss_chunk",
                                     "train.document_mask",
                                     "train.deterministic",
                                     "system.ranks",
                                     "system.data_parallel"};

std::string key_of(const ResolvedRun& run) {
  std::string text = fmt::format("{}, {} threads a rank\n", device_text(run.place.device),
                                 run.place.threads_per_rank);
  RunConfig config = *run.recorded;
  for (const Setting& setting : settings_of(config))
    for (const std::string_view name : kDecideSpeed)
      if (setting.name.starts_with(name))
        text += fmt::format("{} = {}\n", setting.name, toml_text(setting.get()));
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string path_of(const RunConfig& config) {
  return join_path(config.system.cache_dir, "speeds.json");
}

// All records; none where the file is missing or damaged.
Json records(Storage& storage, const RunConfig& config) {
  if (config.system.cache_dir.empty() || !storage.exists(path_of(config))) return Json::object();
  const Json json = Json::parse(read_text(storage, path_of(config)), nullptr, false);
  return json.is_object() ? json : Json::object();
}

}  // namespace

void remember_speed(const ResolvedRun& run, double tokens_per_second) {
  const RunConfig& config = run.config;
  if (config.system.cache_dir.empty() || !(tokens_per_second > 0)) return;
  const auto storage = posix_storage();
  try {
    Json all = records(*storage, config);
    all[key_of(run)] = tokens_per_second;
    storage->make_directories(config.system.cache_dir);
    write_file_atomically(*storage, path_of(config), all.dump(1) + "\n");
  } catch (const Error&) {
  }
}

std::optional<double> remembered_speed(const ResolvedRun& run) {
  const Json all = records(*posix_storage(), run.config);
  const auto found = all.find(key_of(run));
  if (found == all.end() || !found->is_number() || found->get<double>() <= 0) return std::nullopt;
  return found->get<double>();
}

std::string time_text(const ResolvedRun& run, int64_t tokens) {
  const RunConfig& config = run.config;
  const auto speed = remembered_speed(run);
  if (!speed) {
    std::string text = "time     unknown: no run of these settings here yet";
    if (config.preset != kNoPreset && config.model == model_preset(config.preset))
      text += fmt::format("; ingot bench train --preset {} --batch {} --seq {} would tell",
                          config.preset, config.batch.micro_batch, config.batch.seq);
    return text;
  }
  return fmt::format("time     about {} at {} tok/s, as the last such run here",
                     format_duration(static_cast<double>(tokens) / *speed),
                     format_count(std::llround(*speed)));
}

void add_time(Json& line, const ResolvedRun& run, int64_t tokens) {
  const auto speed = remembered_speed(run);
  line["tok_s"] = speed ? Json(*speed) : Json();
  line["seconds"] = speed ? Json(static_cast<double>(tokens) / *speed) : Json();
}

}  // namespace ingot::cli
