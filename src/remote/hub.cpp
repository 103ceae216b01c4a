#include "remote/hub.h"

#include <nlohmann/json.hpp>

#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "core/json/json_problem.h"

namespace ingot {
namespace {

constexpr std::string_view kScheme = "hf://datasets/", kModelScheme = "hf://";

// As in a URL's path, slashes kept where `keep` says so.
std::string percent_encoded(std::string_view text, std::string_view keep) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("-._~").find(c) != std::string_view::npos;
    if (is_plain || keep.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string take_component(std::string_view& rest) {
  const size_t end = std::min(rest.find('/'), rest.size());
  std::string component(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return component;
}

std::vector<std::string> authorization(const RemoteSettings& remote) {
  if (remote.hf_token.empty()) return {};
  return {"Authorization: Bearer " + remote.hf_token};
}

}  // namespace

namespace {

HfAddress parse(const std::string& address, std::string_view scheme, std::string_view form) {
  constexpr const char* kForm = "{}: expected {}";
  check(address.starts_with(scheme), ErrorCode::Usage, kForm, address, form);
  std::string_view rest = std::string_view(address).substr(scheme.size());
  HfAddress parsed;
  const std::string owner = take_component(rest);
  std::string name = take_component(rest);
  if (const size_t at = name.find('@'); at != std::string::npos) {
    parsed.revision = name.substr(at + 1);
    name.resize(at);
    // The hub's own references have slashes in their names: refs/convert/parquet, refs/pr/1.
    if (parsed.revision == "refs") {
      for (int i = 0; i < 2; ++i) parsed.revision += "/" + take_component(rest);
    }
  }
  check(!owner.empty() && !name.empty() && !parsed.revision.empty(), ErrorCode::Usage, kForm,
        address, form);
  parsed.repository = owner + "/" + name;
  parsed.path = rest;
  while (parsed.path.ends_with('/')) parsed.path.pop_back();
  return parsed;
}

}  // namespace

HfAddress parse_hf_address(const std::string& address) {
  return parse(address, kScheme, "hf://datasets/OWNER/NAME[@REVISION]/PATH");
}

HfAddress parse_hf_model(const std::string& address) {
  constexpr std::string_view kForm = "hf://OWNER/NAME[@REVISION]";
  HfAddress parsed = parse(address, kModelScheme, kForm);
  check(parsed.path.empty() && !address.starts_with(kScheme), ErrorCode::Usage, "{}: expected {}",
        address, kForm);
  parsed.is_model = true;
  return parsed;
}

std::string to_string(const HfAddress& address) {
  return fmt::format("{}{}@{}{}{}", address.is_model ? kModelScheme : kScheme, address.repository,
                     address.revision, address.path.empty() ? "" : "/", address.path);
}

WebFile hf_file(const HfAddress& file, const RemoteSettings& remote) {
  return {to_string(file),
          fmt::format("{}/{}{}/resolve/{}/{}", remote.hf_endpoint, file.is_model ? "" : "datasets/",
                      percent_encoded(file.repository, "/"), percent_encoded(file.revision, ""),
                      percent_encoded(file.path, "/")),
          authorization(remote)};
}

WebFile hf_file(const std::string& address, const RemoteSettings& remote) {
  WebFile file = hf_file(parse_hf_address(address), remote);
  file.address = address;
  return file;
}

std::string hf_next_page(const std::string& link) {
  const size_t begin = link.find('<'), end = link.find('>');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  return link.find("rel=\"next\"", end) == std::string::npos
             ? ""
             : link.substr(begin + 1, end - begin - 1);
}

std::vector<HubFile> parse_hf_list(std::string_view answer, const HfAddress& folder) {
  std::vector<HubFile> files;
  try {
    for (const auto& entry : nlohmann::json::parse(answer)) {
      if (entry.at("type") != "file") continue;
      HfAddress file = folder;
      file.path = entry.at("path");
      const int64_t bytes = entry.contains("size") ? integer_of(entry.at("size")) : -1;
      files.push_back({to_string(file), file.path, bytes});
    }
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Data, fmt::format("{}: the hub's list of files is not understood: {}",
                                             to_string(folder), json_problem(error)));
  }
  return files;
}

std::string parse_hf_commit(std::string_view answer, const std::string& revision) {
  const auto json = nlohmann::json::parse(answer, nullptr, false);
  const auto commit = json.is_object() ? json.find("sha") : json.end();
  if (commit == json.end() || !commit->is_string()) return revision;
  const auto& text = commit->get_ref<const std::string&>();
  return is_commit(text) ? text : revision;
}

bool is_commit(std::string_view revision) {
  return revision.size() == 40 &&
         revision.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string hf_commit(const HfAddress& address, const RemoteSettings& remote) {
  const std::string url = fmt::format(
      "{}/api/{}/{}/revision/{}", remote.hf_endpoint, address.is_model ? "models" : "datasets",
      percent_encoded(address.repository, "/"), percent_encoded(address.revision, ""));
  return parse_hf_commit(fetch_text({to_string(address), url, authorization(remote)}, remote),
                         address.revision);
}

std::vector<HubFile> list_hf_folder(const HfAddress& address, const RemoteSettings& remote) {
  std::string url =
      fmt::format("{}/api/{}/{}/tree/{}{}{}?recursive=true", remote.hf_endpoint,
                  address.is_model ? "models" : "datasets",
                  percent_encoded(address.repository, "/"), percent_encoded(address.revision, ""),
                  address.path.empty() ? "" : "/", percent_encoded(address.path, "/"));
  std::vector<HubFile> files;
  while (!url.empty()) {
    std::string link;
    const std::string answer =
        fetch_text({to_string(address), url, authorization(remote)}, remote, &link);
    for (HubFile& file : parse_hf_list(answer, address)) files.push_back(std::move(file));
    url = hf_next_page(link);
    // The token goes with the request: to nobody but the hub.
    check(url.empty() || url.starts_with(remote.hf_endpoint + "/"), ErrorCode::Data,
          "{}: the hub's list of files continues at {}, which is not the hub", to_string(address),
          url);
  }
  return files;
}

}  // namespace ingot
