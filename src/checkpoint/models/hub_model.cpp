#include "checkpoint/models/hub_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/exchange/hf/folder.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "core/error/error.h"
#include "remote/hub.h"
#include "remote/remote_settings.h"
#include "remote/web_stream.h"
#include "tokenizer/replace_all.h"

namespace ingot {
namespace {

namespace fs = std::filesystem;

class HubModel {
 public:
  HubModel(HfAddress model, const RemoteSettings& remote, const FetchWatch& watch)
      : model_(std::move(model)),
        remote_(remote),
        watch_(watch),
        files_(list_hf_folder(model_, remote_)) {
    std::string name = model_.repository + "@" + model_.revision;
    replace_all(name, "/", "--");
    folder_ = fs::path(remote_.cache_folder) / "models" / name;
  }

  std::unique_ptr<ForeignModel> open(std::shared_ptr<Storage> storage) {
    check(has(kHfConfigName), ErrorCode::Data, "{} has no {}: it holds no model of transformers",
          to_string(model_), kHfConfigName);
    check_weights();
    fs::create_directories(folder_);
    for (const HubFile& file : files_)
      if (is_kept_hf_file(file.path)) fetch(file.path);
    // What cannot be imported is not worth the fetching of its weights.
    HfConfigFile config =
        read_hf_config_file(*storage, folder_.string(), to_string(file_at(kHfConfigName)));
    for (const std::string& name : weight_files()) fetch(name);
    return open_hf_model(std::move(storage), folder_.string(), std::move(config),
                         to_string(model_));
  }

 private:
  bool has(std::string_view name) const {
    return std::ranges::find(files_, name, &HubFile::path) != files_.end();
  }

  HfAddress file_at(std::string_view name) const {
    HfAddress address = model_;
    address.path = name;
    return address;
  }

  void check_weights() const {
    if (has(kHfWeightsName) || has(kHfIndexName)) return;
    for (const HubFile& file : files_)
      check(!file.path.starts_with("pytorch_model"), ErrorCode::Data,
            "{} holds its weights pickled, in {}: download it, make safetensors of them with "
            "tools/pt_to_safetensors.py FOLDER, and import that folder",
            to_string(model_), file.path);
    throw Error(ErrorCode::Data,
                fmt::format("{} holds no weights as safetensors: expected {}, or several files and "
                            "{}; is there another repository of the model?",
                            to_string(model_), kHfWeightsName, kHfIndexName));
  }

  // One file, before several and their index, as transformers takes them.
  std::set<std::string> weight_files() {
    if (has(kHfWeightsName)) return {std::string(kHfWeightsName)};
    fetch(std::string(kHfIndexName));
    const std::string path = (folder_ / kHfIndexName).string();
    std::set<std::string> names;
    for (const auto& [tensor, file] : parse_hf_index(read_text(*posix_storage(), path), path))
      names.insert(file);
    return names;
  }

  void fetch(const std::string& name) {
    const auto listed = std::ranges::find(files_, name, &HubFile::path);
    check(listed != files_.end(), ErrorCode::Data, "{} has no {}, which {} lists",
          to_string(model_), name, kHfIndexName);
    const std::string file =
        fetch_to_cache(hf_file(file_at(name), remote_), remote_, [&](int64_t bytes) {
          if (watch_) watch_(name, bytes, listed->bytes);
        });
    // Another process may be at the same.
    const fs::path link = folder_ / name, aside = folder_ / fmt::format(".{}.{}", name, getpid());
    fs::remove(aside);
    fs::create_symlink(fs::absolute(file), aside);
    fs::rename(aside, link);
  }

  HfAddress model_;
  const RemoteSettings& remote_;
  const FetchWatch& watch_;
  std::vector<HubFile> files_;
  fs::path folder_;
};

}  // namespace

bool is_hub_model(std::string_view address) {
  return address.starts_with("hf://");
}

std::unique_ptr<ForeignModel> open_hub_model(std::shared_ptr<Storage> storage,
                                             const std::string& address,
                                             const RemoteSettings& remote,
                                             const FetchWatch& watch) {
  HfAddress model = parse_hf_model(address);
  check(!remote.cache_folder.empty(), ErrorCode::Usage,
        "{}: name a folder for its files as --cache", to_string(model));
  // A branch moves: by its commit all files are of one version, and what the cache holds is good.
  model.revision = hf_commit(model, remote);
  return HubModel(std::move(model), remote, watch).open(std::move(storage));
}

}  // namespace ingot
