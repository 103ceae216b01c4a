#include "tokenizer/bpe/encoder.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <unordered_map>

#include "core/error/error.h"
#include "tokenizer/bpe/split.h"

namespace ingot {
namespace {

constexpr size_t kSplitAtOnce = 1024;  // ends of pieces: 4 KiB, in the first-level cache
constexpr size_t kEncodersPerThread = 4;
constexpr size_t kBytesPerId = 3;             // fewer than most text has
constexpr size_t kMaxText = size_t{1} << 30;  // split at once; longer texts are cut

std::atomic<uint64_t> next_serial{1};

// Once for the text: growing step by step would copy the ids of a long one many times.
void make_room(size_t more, std::vector<int32_t>& ids) {
  const size_t wanted = ids.size() + more;
  if (wanted > ids.capacity()) ids.reserve(std::max(wanted, 2 * ids.capacity()));
}

void append(std::span<const int32_t> found, std::vector<int32_t>& ids) {
  ids.insert(ids.end(), found.begin(), found.end());
}

}  // namespace

// What every thread begins with, made when the first text comes.
struct BpeEncoder::Seed {
  explicit Seed(size_t num_tokens) : pieces(num_tokens) {}
  Seed(ArchiveReader& reader, size_t num_tokens) : pieces(reader, num_tokens) {
    for (auto left = reader.get<uint64_t>(); left > 0; --left) {
      std::string token = reader.get_text();
      const auto id = reader.get<int32_t>();
      check_archived(id >= 0 && id < static_cast<int64_t>(num_tokens), "pieces that are tokens");
      unmerged.emplace(std::move(token), id);
    }
  }
  void save(ArchiveWriter& writer) const {
    pieces.save(writer);
    writer.put(static_cast<uint64_t>(unmerged.size()));
    for (const auto& [token, id] : unmerged) {
      writer.put_text(token);
      writer.put(id);
    }
  }
  PieceCache pieces;  // the vocabulary, each token merged from its bytes
  // Tokens that merging their bytes does not give, where a whole piece becomes its token all the
  // same.
  std::unordered_map<std::string, int32_t> unmerged;
};

struct BpeEncoder::Workspace {
  explicit Workspace(const Seed& seed) : pieces(seed.pieces) {}

  void remember(std::string_view piece, PieceKind kind, std::span<const int32_t> ids) {
    const bool is_short = piece.size() <= PieceKey::kLongest;
    if (is_short) pieces.insert(PieceKey(piece, kind), ids);
    if (is_short && ids.size() <= PieceCache::kMaxIds) return;
    if (piece.size() <= LongPieceCache::kLongestPiece && ids.size() <= LongPieceCache::kMaxIds) {
      long_pieces.insert(piece, kind, ids);
    }
  }

  PieceCache pieces;
  LongPieceCache long_pieces;
  BpeMerger::Scratch scratch;
};

BpeEncoder::BpeEncoder(const BpeModel& model)
    : serial_(next_serial++),
      split_(model.split),
      merger_(model),
      filter_(model.tokens),
      whole_piece_first_(model.whole_piece_first) {
  std::vector<bool> special(model.tokens.size());
  for (const AddedToken& added : model.added) special[added.id] = added.special;
  for (size_t id = model.tokens.size(); id-- > 0;) {
    if (model.tokens[id].empty() || special[id]) continue;
    tokens_.emplace_back(model.tokens[id], static_cast<int32_t>(id));
  }
}

BpeEncoder::BpeEncoder(const BpeModel& model, ArchiveReader& reader)
    : serial_(next_serial++),
      split_(model.split),
      merger_(reader, model.tokens.size()),
      filter_(reader),
      whole_piece_first_(model.whole_piece_first) {
  auto read = std::make_unique<Seed>(reader, model.tokens.size());
  std::call_once(seeded_, [&] { set_seed(std::move(read)); });
}

void BpeEncoder::save(ArchiveWriter& writer) const {
  merger_.save(writer);
  filter_.save(writer);
  seed().save(writer);
}

BpeEncoder::~BpeEncoder() = default;

void BpeEncoder::set_seed(std::unique_ptr<Seed> seed) const {
  kind_of_parts_ = seed->unmerged.empty() ? PieceKind::Whole : PieceKind::Part;
  seed_ = std::move(seed);
}

const BpeEncoder::Seed& BpeEncoder::seed() const {
  std::call_once(seeded_, [&] {
    auto seed = std::make_unique<Seed>(tokens_.size());
    BpeMerger::Scratch scratch;
    std::vector<int32_t> ids;
    for (const auto& [token, id] : tokens_) {
      const bool is_short = token.size() <= PieceKey::kLongest;
      if (!is_short && !whole_piece_first_) continue;
      ids.clear();
      if (merger_.knows_bytes_of(token)) merger_.merge(token, scratch, ids);
      if (whole_piece_first_ && (ids.size() != 1 || ids[0] != id)) {
        seed->unmerged.emplace(token, id);
      } else if (is_short && !ids.empty()) {
        seed->pieces.insert(PieceKey(token, PieceKind::Whole), ids);
      }
    }
    set_seed(std::move(seed));
  });
  return *seed_;
}

BpeEncoder::Workspace& BpeEncoder::workspace() const {
  struct Named {
    uint64_t serial;
    std::unique_ptr<Workspace> work;
  };
  thread_local std::vector<Named> recent;  // the one used last in front
  auto found = std::find_if(recent.begin(), recent.end(),
                            [&](const Named& named) { return named.serial == serial_; });
  if (found == recent.end()) {
    if (recent.size() == kEncodersPerThread) recent.pop_back();
    recent.push_back({serial_, std::make_unique<Workspace>(seed())});
    found = recent.end() - 1;
  }
  std::rotate(recent.begin(), found, found + 1);
  return *recent.front().work;
}

void BpeEncoder::encode(std::string_view text, std::vector<int32_t>& ids) const {
  Workspace& work = workspace();
  make_room(text.size() / kBytesPerId, ids);
  std::array<uint32_t, kSplitAtOnce> ends;
  while (!text.empty()) {
    const size_t cut = text.size() > kMaxText ? safe_cut(split_, text, kMaxText) : 0;
    check(cut > 0 || text.size() <= kMaxText, ErrorCode::Data,
          "a text of {} bytes: expected at most {}, or words in it where it can be cut",
          text.size(), kMaxText);
    std::string_view chunk = text.substr(0, cut > 0 ? cut : text.size());
    text.remove_prefix(chunk.size());
    while (!chunk.empty()) {
      const size_t count = split_some(split_, chunk, ends);
      encode_pieces(chunk, {ends.data(), count}, work, ids);
      chunk.remove_prefix(ends[count - 1]);
    }
  }
}

// What is looked up: pieces, and parts of those that can be cut where nothing merges.
struct BpeEncoder::Batch {
  static constexpr size_t kSize = 32;  // lookups under way at the same time

  size_t count = 0;
  PieceKey keys[kSize];
  PieceCache::Set* sets[kSize];
  uint32_t ends[kSize];
  PieceKind kinds[kSize];

  bool is_full() const { return count == kSize; }
  void add(const PieceKey& key, const PieceCache& cache, uint32_t end, PieceKind kind) {
    keys[count] = key;
    sets[count] = cache.set_of(key);
    __builtin_prefetch(sets[count]);
    ends[count] = end;
    kinds[count] = kind;
    ++count;
  }
};

// Where encode_pieces() stands.
struct BpeEncoder::Cursor {
  std::string_view text;
  std::span<const uint32_t> ends;  // of the pieces not yet in a batch, or not wholly
  uint32_t piece_begin = 0;        // of the first of them
  uint32_t begin = 0;              // of what comes next

  bool readable() const { return text.size() - begin >= PieceKey::kReadBytes; }
  void advance(uint32_t end) {
    begin = end;
    if (end != ends.front()) return;
    piece_begin = end;
    ends = ends.subspan(1);
  }
};

// Batch by batch: first the keys and their places in the cache, then the lookups, so that the
// memory has time to answer.
void BpeEncoder::encode_pieces(std::string_view text, std::span<const uint32_t> ends,
                               Workspace& work, std::vector<int32_t>& ids) const {
  Cursor cursor{text, ends};
  Batch batch;
  while (!cursor.ends.empty()) {
    const uint32_t batch_begin = cursor.begin;
    batch.count = 0;
    while (!batch.is_full() && !cursor.ends.empty()) {
      add_plain_pieces(work.pieces, cursor, batch);
      if (!batch.is_full() && !cursor.ends.empty()) add_parts(work.pieces, cursor, batch);
    }
    look_up(text, batch_begin, batch, work, ids);
  }
  work.pieces.grow_if_crowded();
}

// Pieces up to the first that is long, ends beyond ASCII or lies at the text's end. This is where
// English is: every instruction counts.
void BpeEncoder::add_plain_pieces(const PieceCache& cache, Cursor& cursor, Batch& batch) {
  if (!cursor.readable() || cursor.begin != cursor.piece_begin) return;
  const char* text = cursor.text.data();
  const auto last_readable = static_cast<uint32_t>(cursor.text.size() - PieceKey::kReadBytes);
  const uint32_t* ends = cursor.ends.data();
  const size_t most = std::min(cursor.ends.size(), Batch::kSize - batch.count);
  uint32_t begin = cursor.begin;
  size_t done = 0;
  for (size_t at = batch.count; done < most; ++done, ++at) {
    const uint32_t end = ends[done];
    const uint32_t size = end - begin;
    if (size > PieceKey::kLongest || text[end - 1] < 0 || begin > last_readable) break;
    const PieceKey key = PieceKey::readable({text + begin, size}, PieceKind::Whole);
    PieceCache::Set* set = cache.set_of(key);
    __builtin_prefetch(set);
    batch.keys[at] = key;
    batch.sets[at] = set;
    batch.ends[at] = end;
    batch.kinds[at] = PieceKind::Whole;
    begin = end;
  }
  batch.count += done;
  cursor.ends = cursor.ends.subspan(done);
  cursor.begin = cursor.piece_begin = begin;
}

// The rest of one piece, cut where nothing can merge: the parts of a long one are met more often.
void BpeEncoder::add_parts(const PieceCache& cache, Cursor& cursor, Batch& batch) const {
  const uint32_t piece_begin = cursor.piece_begin, piece_end = cursor.ends.front();
  const std::string_view piece = cursor.text.substr(piece_begin, piece_end - piece_begin);
  while (!batch.is_full() && cursor.piece_begin == piece_begin && cursor.begin < piece_end) {
    const size_t from = cursor.begin - piece_begin;
    const size_t to = filter_.next_cut(piece, from);
    const std::string_view part = piece.substr(from, to - from);
    const PieceKind kind = part.size() == piece.size() ? PieceKind::Whole : kind_of_parts_;
    const PieceKey key = part.size() > PieceKey::kLongest ? PieceKey::none()
                         : cursor.readable()              ? PieceKey::readable(part, kind)
                                                          : PieceKey(part, kind);
    const auto end = static_cast<uint32_t>(piece_begin + to);
    batch.add(key, cache, end, kind);
    cursor.advance(end);
  }
}

void BpeEncoder::look_up(std::string_view text, uint32_t begin, const Batch& batch, Workspace& work,
                         std::vector<int32_t>& ids) const {
  // One more, since values are copied whole, with the count.
  int32_t found[Batch::kSize * PieceCache::kMaxIds + 1];
  int32_t* next = found;
  for (size_t i = 0; i < batch.count; ++i) {
    const auto* value = PieceCache::find(batch.keys[i], batch.sets[i]);
    if (value != nullptr && value->count > 0) [[likely]] {
      std::memcpy(next, value, sizeof(*value));
      next += value->count;
      continue;
    }
    ids.insert(ids.end(), found, next);
    next = found;
    const uint32_t from = i == 0 ? begin : batch.ends[i - 1];
    const std::string_view missed = text.substr(from, batch.ends[i] - from);
    const bool maybe_long = value != nullptr || missed.size() > PieceKey::kLongest;
    encode_missed(missed, batch.kinds[i], maybe_long, work, ids);
  }
  ids.insert(ids.end(), found, next);
}

void BpeEncoder::encode_missed(std::string_view piece, PieceKind kind, bool maybe_long,
                               Workspace& work, std::vector<int32_t>& ids) const {
  const auto& unmerged = seed_->unmerged;
  if (kind == PieceKind::Whole && !unmerged.empty()) {
    if (const auto token = unmerged.find(std::string(piece)); token != unmerged.end()) {
      ids.push_back(token->second);
      work.remember(piece, kind, {&token->second, 1});
      return;
    }
  }
  if (maybe_long && piece.size() <= LongPieceCache::kLongestPiece) {
    if (const auto found = work.long_pieces.find(piece, kind); !found.empty()) {
      append(found, ids);
      return;
    }
  }
  const size_t ids_before = ids.size();
  merger_.merge(piece, work.scratch, ids);
  work.remember(piece, kind, std::span(ids).subspan(ids_before));
}

}  // namespace ingot
