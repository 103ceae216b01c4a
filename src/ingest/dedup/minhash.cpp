#include "ingest/dedup/minhash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <random>

#include "core/error/error.h"
#include "ingest/dedup/sha1.h"

namespace ingot {
namespace {

constexpr size_t round_up(size_t value, size_t step) {
  return (value + step - 1) / step * step;
}

// numpy's masked rejection: draws of two outputs, the first being the high half.
uint64_t draw_below_2_61(std::mt19937& generator, uint64_t least) {
  const uint64_t range = kMersenne61 - 1 - least;
  for (;;) {
    const uint64_t high = generator(), low = generator();
    const uint64_t value = (high << 32 | low) & kMersenne61;
    if (value <= range) return least + value;
  }
}

uint64_t hash_shingle(ShingleHash kind, std::string_view shingle) {
  if (kind == ShingleHash::Xxh64) return XXH64(shingle.data(), shingle.size(), 0);
  const auto digest = sha1(shingle);
  uint64_t value;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

}  // namespace

#include "spec/settings/rows.h"

void append_settings(MinHashSettings& section, std::vector<Setting>& rows) {
  const std::string prefix = "dedup.";
#include "ingest/dedup/minhash.def"
}

#include "spec/settings/end.h"

void validate(const MinHashSettings& settings) {
  MinHashSettings copy = settings;
  std::vector<Setting> rows;
  append_settings(copy, rows);
  for (const Setting& setting : rows) setting.set(setting.get());  // which checks it
}

MinHashParameters minhash_parameters(uint32_t seed, int64_t count) {
  std::mt19937 generator(seed);
  MinHashParameters parameters;
  for (int64_t i = 0; i < count; ++i) parameters.a.push_back(draw_below_2_61(generator, 1));
  for (int64_t i = 0; i < count; ++i) parameters.b.push_back(draw_below_2_61(generator, 0));
  return parameters;
}

MinHasher::MinHasher(const MinHashSettings& settings, const Splitter& splitter)
    : settings_(settings), splitter_(splitter) {
  validate(settings_);
  parameters_ = minhash_parameters(static_cast<uint32_t>(settings_.seed), settings_.num_hashes());
  const size_t lanes = round_up(parameters_.a.size(), kMinHashBlock);
  parameters_.a.resize(lanes);
  parameters_.b.resize(lanes);
  minima_.resize(lanes);
}

std::span<const uint64_t> MinHasher::signature(std::string_view text) {
  const auto n = static_cast<size_t>(settings_.n_gram);
  hashes_.clear();
  text::normalize(settings_.normal_form, text, normal_);
  splitter_.words(normal_, words_);
  if (words_.words.size() < n) return {};

  joined_.assign(words_);
  for (size_t i = 0; i + n <= joined_.num_words(); ++i) {
    hashes_.push_back(hash_shingle(settings_.hash, joined_.n_gram(i, n)));
  }
  INGOT_CPU_DISPATCH(find_minima, hashes_, parameters_.a.data(), parameters_.b.data(),
                     minima_.size(), minima_.data());
  return {minima_.data(), static_cast<size_t>(settings_.num_hashes())};
}

}  // namespace ingot
