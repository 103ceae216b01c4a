// Which documents of each source go into which split: decided before anything is written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/random/permutation.h"
#include "shards/mix.h"
#include "shards/mix_contents.h"
#include "shards/shard_folder.h"

namespace ingot {

// What a source gives to a split: all documents whose rank is in [first, end_of_all), `whole`
// times, and then those with ranks in [first, end_of_part), the last of them only in part.
// Documents that say what one of an earlier split does are passed over.
struct MixTake {
  int64_t first = 0, end_of_all = 0, whole = 0;
  int64_t end_of_part = 0;     // first: there is no part
  int64_t tokens_of_last = 0;  // of the document with rank end_of_part - 1
  bool last_is_cut = false;
  int64_t tokens_cut_off = 0;  // the rest of that
  int64_t tokens = 0;          // in all
  int64_t tokens_of_all = 0;   // of one pass over [first, end_of_all)
  // Passed over: documents by "equal_to_test", "equal_to_valid", and their tokens.
  std::map<std::string, int64_t> left_out;
  int64_t left_out_tokens = 0;
};

// A source's documents by rank: a permutation keyed by seed and contents, so that another source
// beside it changes nothing.
class RankedSource {
 public:
  RankedSource(const MixSource& source, uint64_t seed);

  const ShardFolder& folder() const { return folder_; }
  int64_t num_documents() const { return folder_.num_documents(); }
  int64_t rank_of(int64_t document) const;
  int64_t document_at(int64_t rank) const;
  int64_t length_at(int64_t rank) const;  // tokens

 private:
  ShardFolder folder_;
  KeyedPermutation permutation_;
};

struct MixPlan {
  std::vector<std::unique_ptr<RankedSource>> sources;
  std::vector<std::string> names;           // of the splits that have tokens
  std::vector<std::vector<MixTake>> takes;  // [split][source]
  std::vector<TakenContents> taken;         // [split]: what earlier ones have
};

// Throws as mix() does, but for equal sources and what cuts cost. `keeps_apart`: equal documents
// are not in two splits.
MixPlan plan_mix(const MixSettings& settings, bool keeps_apart = true);
// What train lacks for a split's cuts: of train itself nothing.
int64_t cut_off_tokens(const MixPlan& plan, size_t split);
double share_of_sources(const MixPlan& plan, int64_t tokens);
// Throws ErrorCode::Config where that is more than the settings allow.
void check_cuts(const MixSettings& settings, const MixPlan& plan);

// `total` in proportion to the weights, to the token: what is left by rounding down goes to the
// largest remainders, the first of equal ones.
std::vector<int64_t> shares_of(int64_t total, const std::vector<double>& weights);

}  // namespace ingot
