#include "train/start/agreement.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "core/error/error.h"
#include "core/text/hex.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

// A machine has its own paths and its own speed.
constexpr std::array kOfMachine = {"checkpoint.dir", "data.train",       "data.valid",
                                   "data.tokenizer", "system.cache_dir", "system.device",
                                   "system.bind",    "system.threads",   "system.peak_tflops"};

std::string hash_of(const std::string& text) {
  return hex(XXH3_64bits(text.data(), text.size()));
}

// A line for each setting that ranks have alike.
std::string shared_settings(RunConfig config) {
  std::string text;
  for (const Setting& setting : settings_of(config))
    if (std::ranges::find(kOfMachine, setting.name) == kOfMachine.end())
      text += fmt::format("{} = {}\n", setting.name, toml_text(setting.get()));
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

bool all_equal(const std::vector<std::string>& values) {
  return std::ranges::all_of(values, [&](const std::string& v) { return v == values[0]; });
}

// "«a» on ranks 0, 1 and «b» on rank 2"
std::string who_has_what(const std::vector<std::string>& values) {
  std::vector<std::string> order;  // by the first rank that has it
  std::map<std::string, std::vector<int>> ranks;
  for (size_t rank = 0; rank < values.size(); ++rank) {
    auto& with_it = ranks[values[rank]];
    if (with_it.empty()) order.push_back(values[rank]);
    with_it.push_back(static_cast<int>(rank));
  }
  std::vector<std::string> parts;
  for (const std::string& value : order)
    parts.push_back(fmt::format("«{}» on {}", value, named_ranks(ranks[value])));
  return fmt::format("{}", fmt::join(parts, " and "));
}

// "optim.lr = 0.001 on ranks 0, 1 and 0.002 on rank 2; …" of texts of lines "NAME = VALUE".
std::string settings_that_differ(const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& text : texts) lines.push_back(lines_of(text));
  std::vector<std::string> found;
  for (size_t i = 0; i < lines[0].size(); ++i) {
    std::vector<std::string> values;
    for (const auto& of_rank : lines) values.push_back(i < of_rank.size() ? of_rank[i] : "");
    if (!all_equal(values)) found.push_back(who_has_what(values));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

void check_own_gpus(const std::vector<RankPlace>& places) {
  std::map<std::string, std::vector<int>> ranks_of;
  for (size_t rank = 0; rank < places.size(); ++rank)
    if (!places[rank].gpu.empty()) ranks_of[places[rank].gpu].push_back(static_cast<int>(rank));
  for (const auto& [gpu, ranks] : ranks_of) {
    const RankPlace& place = places[static_cast<size_t>(ranks[0])];
    check(ranks.size() == 1, ErrorCode::Config,
          "{} would compute on one GPU ({} of host {}): start as many ranks as the machine has "
          "GPUs, or let them share it: --set system.share_gpu=true",
          named_ranks(ranks), place.device, place.host);
  }
}

std::string ancestor(std::string dir, int64_t levels) {
  for (; levels > 0; --levels) dir = parent_path(dir);
  return dir;
}

// File systems that hosts share may show a new file late.
bool appears(Storage& storage, const std::string& path, const std::string& contents) {
  constexpr std::chrono::milliseconds kPause(50);
  for (int look = 0; look < 60; ++look, std::this_thread::sleep_for(kPause)) {
    try {
      if (storage.exists(path)) return read_text(storage, path) == contents;
    } catch (const Error&) {
      // As good as not there.
    }
  }
  return false;
}

// A file that goes when its writer does.
class Mark {
 public:
  Mark(Storage& storage, const std::string& dir) : storage_(storage) {
    std::random_device random;
    contents_ = hex(uint64_t{random()} << 32 | random());
    for (folder_ = dir; !storage.exists(folder_) && folder_ != parent_path(folder_); ++levels_)
      folder_ = parent_path(folder_);
    write_file_atomically(storage, path(), contents_);
  }
  ~Mark() {
    try {
      storage_.remove(path());
    } catch (const std::exception&) {
      // A small hidden file is left; the run need not fail for it.
    }
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;

  static std::string name(const std::string& contents) { return ".ranks-" + contents; }
  std::string text() const { return fmt::format("{} {}", levels_, contents_); }

 private:
  std::string path() const { return join_path(folder_, name(contents_)); }

  Storage& storage_;
  std::string folder_, contents_;
  int64_t levels_ = 0;  // folder_ is so many above the run's
};

}  // namespace

std::string named_ranks(const std::vector<int>& ranks) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < ranks.size();) {
    size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i > 2)
      parts.push_back(fmt::format("{}-{}", ranks[i], ranks[end - 1]));
    else
      for (size_t k = i; k < end; ++k) parts.push_back(fmt::format("{}", ranks[k]));
    i = end;
  }
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(parts, ", "));
}

std::vector<RankPlace> agree_on_settings(Control& control, const std::string& build,
                                         const RunConfig& settings, const RankPlace& own) {
  const std::string shared = shared_settings(settings);
  // Hashes first: what they are of is only sent where it differs.
  const std::vector<std::string> all =
      control.gather("agreement on the run", Json{{"build", build},
                                                  {"settings", hash_of(shared)},
                                                  {"host", own.host},
                                                  {"device", own.device},
                                                  {"gpu", own.gpu},
                                                  {"cores", own.cores}}
                                                 .dump());
  std::vector<std::string> builds, hashes;
  std::vector<RankPlace> places;
  for (const std::string& text : all) {
    const Json json = Json::parse(text);
    builds.push_back(json.at("build"));
    hashes.push_back(json.at("settings"));
    places.push_back({json.at("host"), json.at("device"), json.at("gpu"), json.at("cores")});
  }
  check(all_equal(builds), ErrorCode::Config,
        "ranks are not the same program: {}; install one build on all machines",
        who_has_what(builds));
  if (!all_equal(hashes)) {
    const auto texts = control.gather("settings that differ", shared);
    throw Error(ErrorCode::Config,
                fmt::format("settings differ between ranks: {}; start all with the same recipe and "
                            "the same --set",
                            settings_that_differ(texts)));
  }
  if (!settings.system.share_gpu) check_own_gpus(places);
  return places;
}

void agree_on_folder(Control& control, Storage& storage, const std::string& dir,
                     const std::string& host) {
  std::unique_ptr<Mark> mark;
  if (control.rank() == 0) mark = std::make_unique<Mark>(storage, dir);
  const std::string told = control.gather("mark in the run folder", mark ? mark->text() : "")[0];
  std::istringstream words(told);
  int64_t levels = 0;
  std::string contents;
  words >> levels >> contents;
  const std::string path = join_path(ancestor(dir, levels), Mark::name(contents));
  const bool seen = control.rank() == 0 || appears(storage, path, contents);
  const auto answers = control.gather("run folder", seen ? "" : host);
  std::vector<int> blind;
  for (size_t rank = 0; rank < answers.size(); ++rank)
    if (!answers[rank].empty()) blind.push_back(static_cast<int>(rank));
  if (blind.empty()) return;
  throw Error(
      ErrorCode::Config,
      fmt::format("checkpoint.dir {}: {} (host {}) cannot see what rank 0 writes there: use a "
                  "folder on a file system that all machines share",
                  dir, named_ranks(blind), answers[static_cast<size_t>(blind[0])]));
}

void agree_on_data(Control& control, const std::string& what, const DataIdentity& data) {
  if (all_equal(control.gather(what, hex(data.hash())))) return;
  const auto texts = control.gather(what + " that differs", to_json(data).dump());
  std::vector<std::string> found;
  const DataIdentity first = parse_data_identity(Json::parse(texts[0]), "rank 0");
  for (size_t rank = 1; rank < texts.size(); ++rank) {
    const std::string origin = fmt::format("rank {}", rank);
    const std::string differs =
        difference(first, parse_data_identity(Json::parse(texts[rank]), origin));
    if (!differs.empty()) found.push_back(fmt::format("{} has other data: {}", origin, differs));
  }
  throw Error(ErrorCode::Config,
              fmt::format("{} is not the same on all ranks: compared with rank 0, {}; give all the "
                          "same",
                          what, fmt::join(found, "; ")));
}

void agree_on_contents(Control& control, const std::string& what, const std::string& text,
                       const std::string& advice) {
  const std::vector<std::string> hashes = control.gather(what, hash_of(text));
  check(all_equal(hashes), ErrorCode::Config, "{} is not the same on all ranks: hash {}; {}", what,
        who_has_what(hashes), advice);
}

}  // namespace ingot
