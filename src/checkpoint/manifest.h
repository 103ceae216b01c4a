// manifest.json, which makes a folder a checkpoint: its contents, and how to check them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/checkpoint.h"
#include "checkpoint/hashed_file.h"

namespace ingot {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kTokenizerName = "tokenizer.bin";
inline constexpr std::string_view kHfFolderName = "hf";

std::string entry_key(std::string_view what, std::string_view name);  // "weight:embedding.weight"
std::string rank_file_name(int rank);                                 // "rank_0.safetensors"

struct ManifestFile {
  std::string name;  // inside the folder
  FileFacts facts;
  std::map<std::string, ShardRange> ranges;  // by parameter: its elements in this file
};

struct Manifest {
  RunState state;
  std::string config_toml;
  uint64_t config_hash = 0;
  bool has_tokenizer = false;  // a tokenizer file; otherwise the byte tokenizer
  bool has_optimizer = false;
  Origin origin;
  std::optional<std::vector<int32_t>> stop_ids = {};  // not in older manifests
  std::map<std::string, int64_t> numel;               // by parameter: its elements
  std::vector<ManifestFile> files;
};

std::string to_text(const Manifest& manifest);
// Throws ErrorCode::Data unless `text` is exactly what to_text() gave. `path` is for messages.
Manifest parse_manifest(std::string_view text, const std::string& path);

}  // namespace ingot
