// Assigns documents of each source to splits, before anything is written.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/random/permutation.h"
#include "shards/mix/contents.h"
#include "shards/mix/mix.h"
#include "shards/shard_folder.h"

namespace ingot {

// A source's part of a split: all documents with rank in [first, end_of_all), `whole` times, then
// those with rank in [first, end_of_part), the last one only in part. Documents equal to one of an
// earlier split are skipped.
struct MixTake {
  int64_t first = 0, end_of_all = 0, whole = 0;
  int64_t end_of_part = 0;     // first: no partial pass
  int64_t tokens_of_last = 0;  // of the document with rank end_of_part - 1
  bool last_is_cut = false;
  int64_t tokens_cut_off = 0;  // the rest of that document
  int64_t tokens = 0;          // in total
  int64_t tokens_of_all = 0;   // of one pass over [first, end_of_all)
  // Skipped documents by "equal_to_test", "equal_to_valid", and their tokens.
  std::map<std::string, int64_t> left_out;
  int64_t left_out_tokens = 0;
};

// A source's documents by rank: a permutation keyed by seed and contents, so that adding another
// source changes nothing.
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
  std::vector<TakenContents> taken;         // [split]: contents of earlier splits
};

// Throws as mix() does, except for equal sources and the share of cuts. `keeps_apart`: equal
// documents are not in two splits.
MixPlan plan_mix(const MixSettings& settings, bool keeps_apart = true);
// The tokens that train loses to a split's cuts; 0 for train itself.
int64_t cut_off_tokens(const MixPlan& plan, size_t split);
double share_of_sources(const MixPlan& plan, int64_t tokens);
// Throws ErrorCode::Config if they exceed the settings' limit.
void check_cuts(const MixSettings& settings, const MixPlan& plan);

// Splits `total` by weight, exactly: rounds down and gives the remaining tokens to the largest
// remainders, the first of equal ones.
std::vector<int64_t> shares_of(int64_t total, const std::vector<double>& weights);

}  // namespace ingot
