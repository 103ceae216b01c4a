#include "ingest/clean/splitters/spacy_exceptions.h"

#include <cstring>
#include <string>

#include "core/text/python_text.h"
#include "ingest/clean/splitters/spacy_data.h"

namespace ingot {
namespace {

uint64_t load(const char* p, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, p, bytes);
  return value;
}

}  // namespace

ShortStringTable::ShortStringTable() : tags_{}, numbers_{} {}

// Of the first and the last eight bytes; those of a short string overlap, which loses nothing.
uint64_t ShortStringTable::hash(std::string_view text) {
  const char* p = text.data();
  const size_t n = text.size();
  uint64_t head, tail = 0;
  if (n >= 8) {
    head = load(p, 8);
    tail = load(p + n - 8, 8);
  } else if (n >= 4) {
    head = load(p, 4) | load(p + n - 4, 4) << 32;
  } else {
    head = load(p, 1) | load(p + n / 2, 1) << 8 | load(p + n - 1, 1) << 16;
  }
  uint64_t h = (head + n) * 0x9E3779B97F4A7C15u ^ tail * 0xC2B2AE3D27D4EB4Fu;
  h ^= h >> 32;
  return h * 0xD6E8FEB86659FD93u;
}

int ShortStringTable::search(std::string_view text) const {
  const uint64_t h = hash(text);
  const auto tag = static_cast<uint8_t>(h >> 40 | 1);
  for (size_t slot = h >> 51;; slot = (slot + 1) % kSlots) {
    if (tags_[slot] == 0) return kAbsent;
    if (tags_[slot] == tag && texts_[static_cast<size_t>(numbers_[slot])] == text) {
      return numbers_[slot];
    }
  }
}

int ShortStringTable::add(std::string_view text) {
  const int known = find(text);
  if (known != kAbsent) return known;
  lengths_by_first_[static_cast<unsigned char>(text.front())] |= 1u << text.size();
  lengths_by_last_[static_cast<unsigned char>(text.back())] |= 1u << text.size();
  const uint64_t h = hash(text);
  size_t slot = h >> 51;
  while (tags_[slot] != 0) slot = (slot + 1) % kSlots;
  tags_[slot] = static_cast<uint8_t>(h >> 40 | 1);
  numbers_[slot] = static_cast<int16_t>(texts_.size());
  texts_.push_back(text);
  return numbers_[slot];
}

const SpacyExceptions& SpacyExceptions::english() {
  static const SpacyExceptions exceptions;
  return exceptions;
}

SpacyExceptions::SpacyExceptions() {
  static std::vector<std::string> wholes;  // what table_ has views of
  wholes.reserve(spacy_exception_pieces().size());
  for (std::string_view rest : spacy_exception_pieces()) {
    const size_t begin = pieces_.size();
    std::string whole;
    std::string_view piece;
    while (text::next_piece(rest, '\t', piece)) {
      whole += piece;
      pieces_.push_back(piece);
    }
    wholes.push_back(whole);
    table_.add(wholes.back());
    places_.push_back({begin, pieces_.size() - begin});
  }
  nodes_.emplace_back();
  for (std::string_view rest : spacy_exception_sequences()) {
    if (rest.find('\t') == std::string_view::npos) continue;  // one token, which is left as it is
    int node = root();
    std::string_view piece;
    while (text::next_piece(rest, '\t', piece)) {
      const int token = tokens_.add(piece);
      int next = later_step(node, token);
      if (next == kNowhere) {
        next = static_cast<int>(nodes_.size());
        nodes_[static_cast<size_t>(node)].next.emplace_back(token, next);
        nodes_.emplace_back();
      }
      node = next;
    }
    nodes_[static_cast<size_t>(node)].is_end = true;
  }
  for (int token = 0; token < tokens_.size(); ++token) first_.push_back(later_step(root(), token));
}

int SpacyExceptions::later_step(int node, int token) const {
  for (const auto& [label, next] : nodes_[static_cast<size_t>(node)].next) {
    if (label == token) return next;
  }
  return kNowhere;
}

}  // namespace ingot
