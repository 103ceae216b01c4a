#include "tokenizer/bpe/merger.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include "core/error/error.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

// Up to here a scan for the best pair beats a heap.
constexpr size_t kShortPiece = 64;
constexpr size_t kPairBits = 16, kQuadBits = 18;

// A result names a token, or is none.
bool is_result(RankedResult result, size_t num_tokens) {
  return result == kNoMerge || static_cast<uint32_t>(result) < num_tokens;
}

size_t pair_at(std::string_view bytes, size_t i) {
  return static_cast<size_t>(static_cast<uint8_t>(bytes[i])) << 8 |
         static_cast<uint8_t>(bytes[i + 1]);
}

// A list of symbols linked both ways, and a heap of (rank, place) that may hold pairs which have
// changed since: those are known by their rank. `first_results`: of a place, what its symbol makes
// with the next one before anything has merged.
template <class FirstResults>
void merge_by_heap(const PairTable& pairs, const FirstResults& first_results, MergeScratch& scratch,
                   std::vector<int32_t>& ids) {
  constexpr int32_t kMerged = -1;  // into the symbol before
  auto& [symbols, previous, next, heap] = scratch;
  check(symbols.size() < UINT32_MAX, ErrorCode::Data,
        "a piece of {} symbols: expected less than 2³²; cut the text", symbols.size());
  const auto count = static_cast<uint32_t>(symbols.size());
  previous.resize(count);
  next.resize(count);
  heap.clear();
  for (uint32_t i = 0; i < count; ++i) {
    previous[i] = i - 1;
    next[i] = i + 1;
  }
  const auto result_at = [&](uint32_t i) {
    return next[i] < count ? pairs.find(symbols[i], symbols[next[i]]) : kNoMerge;
  };
  const auto item = [](RankedResult result, uint32_t i) { return result >> 32 << 32 | i; };
  for (uint32_t i = 0; i + 1 < count; ++i) {
    const RankedResult result = first_results(i);
    if (result != kNoMerge) heap.push_back(item(result, i));
  }
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto propose = [&](uint32_t i) {
    if (const RankedResult result = result_at(i); result != kNoMerge) {
      heap.push_back(item(result, i));
      std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }
  };
  while (!heap.empty()) {
    const auto rank = static_cast<uint32_t>(heap.front() >> 32);
    const auto at = static_cast<uint32_t>(heap.front());
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();
    if (symbols[at] == kMerged) continue;
    const RankedResult result = result_at(at);
    if (result == kNoMerge || result >> 32 != rank) continue;
    symbols[at] = static_cast<int32_t>(result);
    symbols[next[at]] = kMerged;
    next[at] = next[next[at]];
    if (next[at] < count) previous[next[at]] = at;
    propose(at);
    if (at > 0) propose(previous[at]);
  }
  for (uint32_t i = 0; i < count; i = next[i]) ids.push_back(symbols[i]);
}

}  // namespace

PairTable::PairTable(const std::vector<TokenMerge>& merges) {
  const size_t size = std::bit_ceil(std::max<size_t>(2 * merges.size(), 2));
  tags_.assign(size, kEmpty);
  entries_.resize(size);
  mask_ = size - 1;
  shift_ = 64 - std::countr_zero(size);
  uint64_t rank = 0;
  for (const auto [left, right, result] : merges) {
    const Key key(left, right);
    size_t slot = key.hash >> shift_;
    while (tags_[slot] != kEmpty && entries_[slot].pair != key.pair) slot = (slot + 1) & mask_;
    tags_[slot] = key.tag;
    entries_[slot] = {key.pair, rank++ << 32 | static_cast<uint32_t>(result)};
  }
}

PairTable::PairTable(ArchiveReader& reader, size_t num_tokens)
    : tags_(reader.get_all<uint16_t>()), entries_(reader.get_all<Entry>()) {
  const size_t size = tags_.size();
  check_archived(size >= 2 && std::has_single_bit(size) && entries_.size() == size,
                 "a table of merges");
  check_archived(std::find(tags_.begin(), tags_.end(), kEmpty) != tags_.end(),
                 "a table with a free place");
  for (const Entry& entry : entries_) {
    check_archived(is_result(entry.result, num_tokens), "merges that are tokens");
  }
  mask_ = size - 1;
  shift_ = 64 - std::countr_zero(size);
}

void PairTable::save(ArchiveWriter& writer) const {
  writer.put_all(tags_);
  writer.put_all(entries_);
}

JoinFilter::JoinFilter(ArchiveReader& reader)
    : pairs_(size_t{1} << kPairBits), quads_(size_t{1} << kQuadBits) {
  for (Bits* bits : {&pairs_, &quads_}) {
    check_archived(reader.count<uint64_t>() == bits->words().size(), "a filter of its size");
    reader.get_all(std::span(bits->words()));
  }
}

void JoinFilter::save(ArchiveWriter& writer) const {
  writer.put_all(pairs_.words());
  writer.put_all(quads_.words());
}

JoinFilter::JoinFilter(const std::vector<std::string>& tokens)
    : pairs_(size_t{1} << kPairBits), quads_(size_t{1} << kQuadBits) {
  for (const std::string& token : tokens) {
    for (size_t at = 1; at < token.size(); ++at) {
      if (!between_characters(token, at)) continue;
      const bool two_on_either_side = at >= 2 && at + 1 < token.size();
      if (two_on_either_side) {
        quads_.set(quad_bit(token, at));
      } else {
        pairs_.set(pair_at(token, at - 1));
      }
    }
  }
}

size_t JoinFilter::next_cut(std::string_view text, size_t begin) const {
  // From character to character; where UTF-8 is broken a cut may be missed, which costs time only.
  for (size_t at = begin + text::character_bytes(text[begin]); at + 1 < text.size();
       at += text::character_bytes(text[at])) {
    if (at >= 2 && between_characters(text, at) && !pairs_[pair_at(text, at - 1)] &&
        !quads_[quad_bit(text, at)]) {
      return at;
    }
  }
  return text.size();
}

size_t JoinFilter::quad_bit(std::string_view text, size_t at) {
  uint32_t quad = 0;
  std::memcpy(&quad, text.data() + at - 2, 4);
  return quad * 0x9E3779B1u >> (32 - kQuadBits);
}

BpeMerger::BpeMerger(const BpeModel& model)
    : pairs_(model.merges), byte_pairs_(size_t{1} << 16, kNoMerge) {
  byte_ids_.fill(-1);
  for (size_t id = model.tokens.size(); id-- > 0;) {
    const std::string& token = model.tokens[id];
    if (token.size() == 1) {
      byte_ids_[static_cast<uint8_t>(token[0])] = static_cast<int32_t>(id);
    }
  }
  for (size_t pair = 0; pair < byte_pairs_.size(); ++pair) {
    byte_pairs_[pair] = pairs_.find(byte_ids_[pair >> 8], byte_ids_[pair & 0xFF]);
  }
}

BpeMerger::BpeMerger(ArchiveReader& reader, size_t num_tokens)
    : byte_ids_(reader.get<std::array<int32_t, 256>>()),
      pairs_(reader, num_tokens),
      byte_pairs_(reader.get_all<RankedResult>()) {
  check_archived(byte_pairs_.size() == size_t{1} << 16, "the merges of bytes");
  for (const int32_t id : byte_ids_) {
    check_archived(id >= -1 && id < static_cast<int64_t>(num_tokens), "bytes that are tokens");
  }
  for (const RankedResult result : byte_pairs_) {
    check_archived(is_result(result, num_tokens), "merges of bytes that are tokens");
  }
}

void BpeMerger::save(ArchiveWriter& writer) const {
  writer.put(byte_ids_);
  pairs_.save(writer);
  writer.put_all(byte_pairs_);
}

int32_t BpeMerger::id_of(char byte) const {
  const int32_t id = byte_ids_[static_cast<uint8_t>(byte)];
  check(id >= 0, ErrorCode::Data,
        "the tokenizer has no token for the byte 0x{:02X}: expected a text without it",
        static_cast<uint8_t>(byte));
  return id;
}

bool BpeMerger::knows_bytes_of(std::string_view piece) const {
  return std::all_of(piece.begin(), piece.end(),
                     [&](char byte) { return byte_ids_[static_cast<uint8_t>(byte)] >= 0; });
}

void BpeMerger::merge(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const {
  if (piece.empty()) return;
  if (piece.size() <= kShortPiece) {
    merge_short(piece, ids);
  } else {
    merge_long(piece, scratch, ids);
  }
}

void BpeMerger::merge_short(std::string_view piece, std::vector<int32_t>& ids) const {
  // What is left of the piece, and what each symbol makes with the next; the last makes nothing.
  int32_t symbols[kShortPiece];
  RankedResult results[kShortPiece];
  size_t count = piece.size();
  for (size_t i = 0; i < count; ++i) symbols[i] = id_of(piece[i]);
  for (size_t i = 0; i + 1 < count; ++i) results[i] = byte_pairs_[pair_at(piece, i)];
  results[count - 1] = kNoMerge;
  while (true) {
    size_t best = 0;
    for (size_t i = 1; i < count; ++i) best = results[i] < results[best] ? i : best;
    if (results[best] == kNoMerge) break;
    symbols[best] = static_cast<int32_t>(results[best]);
    --count;
    for (size_t i = best + 1; i < count; ++i) {
      symbols[i] = symbols[i + 1];
      results[i] = results[i + 1];
    }
    if (best > 0) results[best - 1] = pairs_.find(symbols[best - 1], symbols[best]);
    results[best] = best + 1 < count ? pairs_.find(symbols[best], symbols[best + 1]) : kNoMerge;
  }
  ids.insert(ids.end(), symbols, symbols + count);
}

void BpeMerger::merge_long(std::string_view piece, Scratch& scratch,
                           std::vector<int32_t>& ids) const {
  scratch.ids.resize(piece.size());
  for (size_t i = 0; i < piece.size(); ++i) scratch.ids[i] = id_of(piece[i]);
  merge_by_heap(
      pairs_, [&](uint32_t i) { return byte_pairs_[pair_at(piece, i)]; }, scratch, ids);
}

void merge_symbols(const PairTable& pairs, MergeScratch& scratch, std::vector<int32_t>& ids) {
  const auto& symbols = scratch.ids;
  merge_by_heap(
      pairs, [&](uint32_t i) { return pairs.find(symbols[i], symbols[i + 1]); }, scratch, ids);
}

}  // namespace ingot
