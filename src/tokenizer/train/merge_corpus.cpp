#include "tokenizer/train/merge_corpus.h"

#include <algorithm>
#include <utility>

namespace ingot {
namespace {

constexpr uint32_t kMark = 0x80000000u;    // set in every slot that holds no id
constexpr uint32_t kBorder = kMark;        // between pieces: a token of length 0
constexpr uint32_t kInside = 0xFFFFFFFFu;  // where a token began that is now part of another

constexpr size_t kAhead = 32;  // positions whose cache lines are asked for together

// Most frequent first. Nearly all counts are small and are sorted by counting.
std::vector<PieceCount> sorted_by_count(std::vector<PieceCount> pieces) {
  constexpr size_t kSmall = 4096;
  std::array<size_t, kSmall + 1> end{};
  const auto bucket = [](const PieceCount& piece) {
    return kSmall - static_cast<size_t>(std::min<int64_t>(piece.count, kSmall));
  };
  for (const PieceCount& piece : pieces) ++end[bucket(piece)];
  const size_t num_large = end[0];
  size_t sum = 0;
  for (size_t& e : end) e = std::exchange(sum, sum + e);
  std::vector<PieceCount> sorted(pieces.size());
  for (const PieceCount& piece : pieces) sorted[end[bucket(piece)]++] = piece;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(num_large),
            [](const PieceCount& a, const PieceCount& b) { return a.count > b.count; });
  return sorted;
}

}  // namespace

MergeCorpus::MergeCorpus(std::vector<PieceCount> pieces, const std::array<uint32_t, 256>& byte_ids,
                         uint32_t vocab_size, uint64_t length_limit, int64_t min_count)
    : length_(vocab_size, 0), length_limit_(length_limit), min_count_(min_count) {
  for (auto& index : neighbour_index_) index.assign(vocab_size, kUntouched);
  for (const uint32_t id : byte_ids) length_[id] = 1;
  lay_out_bytes(sorted_by_count(std::move(pieces)));
  queue_byte_pairs(byte_ids);
  for (uint32_t& slot : slots_) {
    if (slot != kBorder) slot = byte_ids[slot];
  }
}

void MergeCorpus::lay_out_bytes(const std::vector<PieceCount>& pieces) {
  size_t num_slots = 1;
  for (const PieceCount& piece : pieces) num_slots += piece.bytes.size() + 1;
  slots_.reserve(num_slots);
  slots_.push_back(kBorder);
  for (const PieceCount& piece : pieces) {
    for (const char byte : piece.bytes) slots_.push_back(static_cast<uint8_t>(byte));
    slots_.push_back(kBorder);
    if (runs_.empty() || runs_.back().count != piece.count) runs_.push_back({0, piece.count});
    runs_.back().end = slots_.size();
  }
}

void MergeCorpus::queue_byte_pairs(const std::array<uint32_t, 256>& byte_ids) {
  struct BytePair {
    int64_t count = 0;
    uint64_t num_positions = 0, num_bytes = 0, last_position = 0;
    uint8_t* list = nullptr;
  };
  std::vector<BytePair> pairs(256 * 256);
  const auto for_each_occurrence = [&](const auto& visit) {
    uint64_t position = 1;
    for (const Run& run : runs_) {
      for (; position < run.end; ++position) {
        const uint32_t left = slots_[position - 1], right = slots_[position];
        if (left == kBorder || right == kBorder) continue;
        BytePair& pair = pairs[left << 8 | right];
        visit(pair, position - 1, std::exchange(pair.last_position, position - 1), run.count);
      }
    }
  };
  for_each_occurrence([](BytePair& pair, uint64_t position, uint64_t last, int64_t weight) {
    pair.count += weight;
    ++pair.num_positions;
    pair.num_bytes += varint_size(position - last);
  });
  counts_.reserve(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    BytePair& pair = pairs[i];
    if (pair.count < min_count_) continue;
    const TokenPair ids = pair_of(byte_ids[i >> 8], byte_ids[i & 0xFF]);
    uint8_t* list = postings_.allocate(varint_size(pair.num_positions) + pair.num_bytes);
    counts_[ids] = pair.count;
    queue_.push({pair.count, ids, list});
    pair.list = write_varint(list, pair.num_positions);
    pair.last_position = 0;
  }
  for_each_occurrence([](BytePair& pair, uint64_t position, uint64_t last, int64_t) {
    if (pair.list != nullptr) pair.list = write_varint(pair.list, position - last);
  });
}

bool MergeCorpus::pop(WaitingPair& entry) {
  while (queue_.pop(entry)) {
    const int64_t count = *counts_.find(entry.pair);
    if (count == entry.count) return true;
    entry.count = count;
    if (count >= min_count_) queue_.push(entry);
  }
  return false;
}

void MergeCorpus::merge(const WaitingPair& entry, uint32_t id) {
  length_[id] = length_[left_of(entry.pair)] + length_[right_of(entry.pair)];
  merge_occurrences(entry, id);
  settle_counts(entry.pair, id);
  queue_created_pairs(id);
  for (const Neighbour& n : neighbours_) neighbour_index_[n.side][n.id] = kUntouched;
  neighbours_.clear();
  created_.clear();
}

int64_t MergeCorpus::weight_at(uint64_t position, size_t& run) const {
  if (position >= runs_[run].end) {
    const auto next = runs_.begin() + static_cast<std::ptrdiff_t>(run) + 1;
    const auto found = std::upper_bound(next, runs_.end(), position,
                                        [](uint64_t p, const Run& r) { return p < r.end; });
    run = static_cast<size_t>(found - runs_.begin());
  }
  return runs_[run].count;
}

void MergeCorpus::merge_occurrences(const WaitingPair& entry, uint32_t id) {
  const uint32_t left = left_of(entry.pair), right = right_of(entry.pair);
  const uint8_t* at = entry.positions;
  std::array<uint64_t, kAhead> positions;
  uint64_t position = 0;
  size_t run = 0;
  for (uint64_t remaining = read_varint(at); remaining > 0;) {
    const size_t batch = static_cast<size_t>(std::min<uint64_t>(remaining, kAhead));
    for (size_t i = 0; i < batch; ++i) {
      positions[i] = position += read_varint(at);
      __builtin_prefetch(&slots_[position], 1);
    }
    for (size_t i = 0; i < batch; ++i) {
      const uint64_t p = positions[i];
      if (slots_[p] != left || slots_[p + length_[left]] != right) continue;  // merged since
      merge_at(p, entry.pair, id, weight_at(p, run));
    }
    remaining -= batch;
  }
}

void MergeCorpus::merge_at(uint64_t position, TokenPair pair, uint32_t id, int64_t weight) {
  const uint64_t middle = position + length_[left_of(pair)], end = position + length_[id];
  const uint32_t before = slots_[position - 1];
  if (before != kBorder) {
    const uint64_t p = position - ((before & kMark) != 0 ? before & ~kMark : 1);
    const uint32_t n = touch(kLeft, slots_[p]);
    neighbours_[n].lost += weight;
    note_created(n, p, weight, id);
  }
  const uint32_t after = slots_[end];
  if (after != kBorder) {
    const uint32_t n = touch(kRight, after);
    neighbours_[n].lost += weight;
    note_created(n, position, weight, id);
  }
  slots_[middle] = kInside;
  slots_[position] = id;
  slots_[end - 1] = kMark | length_[id];
}

uint32_t MergeCorpus::touch(Side side, uint32_t id) {
  uint32_t& index = neighbour_index_[side][id];
  if (index == kUntouched) {
    index = static_cast<uint32_t>(neighbours_.size());
    neighbours_.push_back({.id = id, .side = side});
  }
  return index;
}

void MergeCorpus::note_created(uint32_t neighbour, uint64_t position, int64_t weight, uint32_t id) {
  Neighbour& n = neighbours_[neighbour];
  if (length_limit_ > 0 && uint64_t{length_[n.id]} + length_[id] >= length_limit_) return;
  n.gained += weight;
  ++n.num_positions;
  n.num_bytes += varint_size(position - std::exchange(n.last_position, position));
  created_.push_back({position, neighbour});
}

void MergeCorpus::settle_counts(TokenPair merged, uint32_t id) {
  const auto before = [&](const Neighbour& n) {
    return n.side == kLeft ? pair_of(n.id, left_of(merged)) : pair_of(right_of(merged), n.id);
  };
  counts_.reserve(neighbours_.size());
  for (const Neighbour& n : neighbours_) {
    counts_.prefetch(n.pair_with(id));
    counts_.prefetch(before(n));
  }
  // Gains first: of «abab» the merge of (a, b) makes a pair and takes it away again.
  for (const Neighbour& n : neighbours_) {
    if (n.gained >= min_count_) counts_[n.pair_with(id)] = n.gained;
  }
  for (const Neighbour& n : neighbours_) {
    if (int64_t* count = counts_.find(before(n)); count != nullptr) *count -= n.lost;
  }
}

void MergeCorpus::queue_created_pairs(uint32_t id) {
  for (Neighbour& n : neighbours_) {
    if (n.gained < min_count_) continue;
    const int64_t count = *counts_.find(n.pair_with(id));
    if (count < min_count_) continue;
    uint8_t* list = postings_.allocate(varint_size(n.num_positions) + n.num_bytes);
    queue_.push({count, n.pair_with(id), list});
    n.list = write_varint(list, n.num_positions);
    n.last_position = 0;
  }
  for (const Created& created : created_) {
    Neighbour& n = neighbours_[created.neighbour];
    if (n.list == nullptr) continue;
    const uint64_t last = std::exchange(n.last_position, created.position);
    n.list = write_varint(n.list, created.position - last);
  }
}

}  // namespace ingot
