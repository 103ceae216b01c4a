#include "checkpoint/manifest.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "core/json/json_problem.h"
#include "core/text/hex.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

constexpr int kVersion = 1;

uint64_t hash_in(const Json& json, const char* key) {
  const auto digits = json.at(key).get<std::string>();
  const std::optional<uint64_t> hash = parse_hex(digits);
  check(hash.has_value(), ErrorCode::Data, "'{}' is not a hash", digits);
  return *hash;
}

Json to_json(const ManifestFile& file) {
  Json ranges = Json::object();
  for (const auto& [name, range] : file.ranges) ranges[name] = {range.begin, range.end};
  return {{"name", file.name},
          {"bytes", file.facts.bytes},
          {"xxh3", hex(file.facts.hash)},
          {"ranges", ranges}};
}

ManifestFile parse_file(const Json& json) {
  ManifestFile file;
  file.name = json.at("name").get<std::string>();
  file.facts = {integer_of(json.at("bytes")), hash_in(json, "xxh3")};
  for (const auto& [name, range] : json.at("ranges").items()) {
    file.ranges[name] = {integer_of(range.at(0)), integer_of(range.at(1))};
  }
  return file;
}

Manifest parse_body(const Json& body) {
  check(body.at("version") == kVersion, ErrorCode::Data,
        "it is of format version {}, this program reads {}", body.at("version").dump(), kVersion);
  Manifest manifest;
  const Json& loss = body.at("last_loss");
  manifest.state = {integer_of(body.at("step")), integer_of(body.at("tokens")),
                    integer_of(body.at("samples")),
                    loss.is_null() ? std::numeric_limits<double>::quiet_NaN() : loss.get<double>()};
  if (body.contains("sections"))
    for (const auto& [name, saved] : body.at("sections").items())
      manifest.state.sections[name] = saved.dump();
  for (const char* name : {"loss_scale", "fp8_scales"})  // of manifests without sections
    if (body.contains(name)) manifest.state.sections[name] = body.at(name).dump();
  if (body.contains("data")) manifest.state.data = body.at("data").dump();
  if (body.contains("run")) manifest.state.run = body.at("run").get<std::string>();
  manifest.config_toml = body.at("config").get<std::string>();
  manifest.config_hash = hash_in(body, "config_hash");
  manifest.has_tokenizer = body.at("has_tokenizer").get<bool>();
  manifest.has_optimizer = body.at("has_optimizer").get<bool>();
  if (body.contains("origin")) {
    const Json& origin = body.at("origin");
    manifest.origin = {origin.at("format").get<std::string>(), origin.at("path").get<std::string>(),
                       origin.at("architecture").get<std::string>()};
  }
  if (body.contains("stop_ids")) {
    manifest.stop_ids.emplace();
    for (const Json& id : body.at("stop_ids"))
      manifest.stop_ids->push_back(static_cast<int32_t>(integer_of(id)));
  }
  manifest.numel = integers_of(body.at("numel"));
  for (const Json& file : body.at("files")) manifest.files.push_back(parse_file(file));
  return manifest;
}

}  // namespace

std::string entry_key(std::string_view what, std::string_view name) {
  return fmt::format("{}:{}", what, name);
}

std::string rank_file_name(int rank) {
  return fmt::format("rank_{}.safetensors", rank);
}

std::string to_text(const Manifest& manifest) {
  Json files = Json::array();
  for (const ManifestFile& file : manifest.files) files.push_back(to_json(file));
  Json body = {{"version", kVersion},
               {"step", manifest.state.step},
               {"tokens", manifest.state.tokens},
               {"samples", manifest.state.samples},
               {"last_loss", manifest.state.last_loss},  // JSON has no NaN: it becomes null
               {"config", manifest.config_toml},
               {"config_hash", hex(manifest.config_hash)},
               {"has_tokenizer", manifest.has_tokenizer},
               {"has_optimizer", manifest.has_optimizer},
               {"numel", manifest.numel},
               {"files", files}};
  if (manifest.origin != Origin{})
    body["origin"] = {{"format", manifest.origin.format},
                      {"path", manifest.origin.path},
                      {"architecture", manifest.origin.architecture}};
  if (manifest.stop_ids) body["stop_ids"] = *manifest.stop_ids;
  for (const auto& [name, saved] : manifest.state.sections)
    body["sections"][name] = Json::parse(saved);
  if (!manifest.state.run.empty()) body["run"] = manifest.state.run;
  if (!manifest.state.data.empty()) body["data"] = Json::parse(manifest.state.data);
  return Json{{"checkpoint", body}, {"xxh3", hex(hash_text(body.dump()))}}.dump(1) + "\n";
}

Manifest parse_manifest(std::string_view text, const std::string& path) {
  std::string why;
  try {
    const Json whole = Json::parse(text);
    const Json& body = whole.at("checkpoint");
    // Objects are kept sorted and numbers print as short as they parse, so dump() gives the text
    // that was hashed.
    check(whole.at("xxh3") == hex(hash_text(body.dump())), ErrorCode::Data,
          "its checksum does not match");
    return parse_body(body);
  } catch (const Json::exception& error) {
    why = json_problem(error);
  } catch (const Error& error) {
    why = error.what();
  }
  throw Error(ErrorCode::Data,
              fmt::format("'{}' is damaged: {}; use another checkpoint", path, why));
}

}  // namespace ingot
