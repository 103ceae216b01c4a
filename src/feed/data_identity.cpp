#include "feed/data_identity.h"

#include <fmt/ranges.h>
#include <xxhash.h>

#include "core/error/error.h"
#include "core/json/json_integer.h"
#include "core/json/json_problem.h"
#include "core/text/hex.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

uint64_t hash_in(const Json& json, const char* key) {
  const auto digits = json.at(key).get<std::string>();
  const std::optional<uint64_t> hash = parse_hex(digits);
  check(hash.has_value(), ErrorCode::Data, "'{}' is not a hash", digits);
  return *hash;
}

Json to_json(const DataIdentity::Source& source) {
  return {{"path", source.path},       {"content", hex(source.content)},
          {"tokens", source.tokens},   {"documents", source.documents},
          {"samples", source.samples}, {"weight", source.weight}};
}

DataIdentity::Source parse_source(const Json& json) {
  DataIdentity::Source source;
  source.path = json.at("path").get<std::string>();
  source.content = hash_in(json, "content");
  source.tokens = integer_of(json.at("tokens"));
  source.documents = integer_of(json.at("documents"));
  source.samples = integer_of(json.at("samples"));
  source.weight = json.at("weight").get<double>();
  check(source.samples > 0 && source.weight > 0, ErrorCode::Data,
        "a source of {} samples, weight {}", source.samples, source.weight);
  return source;
}

}  // namespace

uint64_t DataIdentity::hash() const {
  Json hashed = to_json(*this);
  for (Json& source : hashed.at("sources")) source.erase("path");
  const std::string text = hashed.dump();  // keys are sorted
  return XXH3_64bits(text.data(), text.size());
}

DataIdentity identity_of(const SampleStream& stream, Packing packing, int64_t seed,
                         const std::vector<std::string>& paths) {
  DataIdentity identity;
  identity.seq = stream.T();
  identity.seed = seed;
  identity.packing = packing == Packing::BestFit ? "best_fit" : "concat";
  for (size_t i = 0; i < paths.size(); ++i) {
    const StreamPart& part = stream.parts()[i];
    identity.sources.push_back({paths[i], part.source->content_hash(), part.source->num_tokens(),
                                part.source->num_documents(), part.plan->num_samples(),
                                part.weight});
  }
  return identity;
}

Json to_json(const DataIdentity& identity) {
  Json sources = Json::array();
  for (const DataIdentity::Source& source : identity.sources) sources.push_back(to_json(source));
  return {{"seq", identity.seq},
          {"seed", identity.seed},
          {"packing", identity.packing},
          {"sources", sources}};
}

DataIdentity parse_data_identity(const Json& json, const std::string& origin) {
  std::string why;
  try {
    DataIdentity identity;
    identity.seq = integer_of(json.at("seq"));
    identity.seed = integer_of(json.at("seed"));
    identity.packing = json.at("packing").get<std::string>();
    for (const Json& source : json.at("sources")) identity.sources.push_back(parse_source(source));
    check(!identity.sources.empty() && identity.seq > 0, ErrorCode::Data, "it names no samples");
    return identity;
  } catch (const Json::exception& error) {
    why = json_problem(error);
  } catch (const Error& error) {
    why = error.what();
  }
  throw Error(ErrorCode::Data,
              fmt::format("{}: the record of the data is damaged: {}", origin, why));
}

std::string difference(const DataIdentity& was, const DataIdentity& is) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& name, const auto& before, const auto& now) {
    if (before != now) found.push_back(fmt::format("{} (was {}, is {})", name, before, now));
  };
  compare("batch.seq", was.seq, is.seq);
  compare("train.seed", was.seed, is.seed);
  compare("data.packing", was.packing, is.packing);
  compare("number of sources", was.sources.size(), is.sources.size());
  for (size_t i = 0; i < std::min(was.sources.size(), is.sources.size()); ++i) {
    const DataIdentity::Source &a = was.sources[i], &b = is.sources[i];
    compare(fmt::format("weight of {}", b.path), a.weight, b.weight);
    compare(fmt::format("tokens of {}", b.path), a.tokens, b.tokens);
    compare(fmt::format("documents of {}", b.path), a.documents, b.documents);
    if (a.tokens == b.tokens && a.documents == b.documents)
      compare(fmt::format("content of {}", b.path), hex(a.content), hex(b.content));
  }
  return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace ingot
