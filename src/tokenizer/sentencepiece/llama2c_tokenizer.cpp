// llama2.c's tokenizer.bin: SentencePiece BPE pieces with scores, greedy merging, byte fallback.
#include <bitset>
#include <cmath>
#include <cstring>
#include <queue>
#include <unordered_map>

#include "core/error/error.h"
#include "core/text/utf8.h"
#include "tokenizer/tokenizer.h"

namespace ingot {
namespace {

constexpr int32_t kBos = 1;
constexpr int32_t kEos = 2;
constexpr int32_t kFirstByte = 3;                 // ids 3 … 258 are the pieces <0x00> … <0xFF>
constexpr int32_t kFirstText = kFirstByte + 256;  // from here on pieces stand for themselves

// Length of the UTF-8 character `text` begins with; 1 where it is malformed.
size_t character_length(std::string_view text) {
  const size_t length = text::character_bytes(text[0]);
  if (length > text.size() || static_cast<unsigned char>(text[0]) >= 0xF8) return 1;
  for (size_t i = 1; i < length; ++i) {
    if (!text::is_continuation(text[i])) return 1;
  }
  return length;
}

size_t byte_pair(char left, char right) {
  return static_cast<size_t>(static_cast<unsigned char>(left)) << 8 |
         static_cast<unsigned char>(right);
}

// A run of text that is one piece so far, in a list linked both ways.
struct Symbol {
  int32_t id;  // -1: merged into its left neighbour
  int32_t previous;
  int32_t next;  // -1: none
  size_t begin;
  size_t size;
};

// Two neighbours that together are a piece. It is stale once either of them has changed, which
// shows in their joint size.
struct Merge {
  float score;
  int32_t left;
  int32_t id;
  size_t size;
  bool operator<(const Merge& other) const {  // the queue's top is the largest: best, then leftmost
    return score != other.score ? score < other.score : left > other.left;
  }
};

class Llama2cTokenizer final : public Tokenizer {
 public:
  using Tokenizer::encode;

  Llama2cTokenizer(std::string_view file, std::string_view origin) : file_(file) {
    parse(origin);
    for (int32_t id = kFirstText; id < static_cast<int32_t>(pieces_.size()); ++id) {
      const std::string_view piece = pieces_[id];
      if (piece.empty()) continue;
      id_of_.emplace(piece, id);  // of equal pieces the lowest id stays
      for (size_t i = 1; i < piece.size(); ++i) joined_.set(byte_pair(piece[i - 1], piece[i]));
    }
  }
  // pieces_ and id_of_ view file_.
  Llama2cTokenizer(const Llama2cTokenizer&) = delete;
  Llama2cTokenizer& operator=(const Llama2cTokenizer&) = delete;

  int64_t vocab_size() const override { return static_cast<int64_t>(pieces_.size()); }
  int32_t bos() const override { return kBos; }
  int32_t eos() const override { return kEos; }
  std::string kind() const override { return "llama2c"; }
  std::string serialize() const override { return file_; }

  // A merge cannot reach across two bytes that stand side by side in no piece, so the text is cut
  // there first: the same ids as merging the whole, with a queue the size of a word.
  void encode(std::string_view text, std::vector<int32_t>& ids) const override {
    check(text.size() < INT32_MAX, ErrorCode::Data,
          "text to encode in one call: expected less than 2 GiB, got {} bytes; split it",
          text.size());
    if (text.empty()) return;
    const std::string spaced = " " + std::string(text);
    Workspace work;
    size_t begin = 0;
    for (size_t i = 1; i <= spaced.size(); ++i) {
      const bool cut = i == spaced.size() || (!text::is_continuation(spaced[i]) &&
                                              !joined_[byte_pair(spaced[i - 1], spaced[i])]);
      if (!cut) continue;
      encode_segment(std::string_view(spaced).substr(begin, i - begin), work, ids);
      begin = i;
    }
  }

  std::string decode(int32_t id) const override {
    check(id >= 0 && id < vocab_size(), ErrorCode::Data,
          "cannot decode id {}: expected an id in [0, {}) of the tokenizer", id, vocab_size());
    if (id < kFirstByte) return {};
    if (id < kFirstText) return std::string(1, static_cast<char>(id - kFirstByte));
    return std::string(pieces_[id]);
  }

  std::string decode(const std::vector<int32_t>& ids) const override {
    std::string text;
    bool after_bos = false;
    for (int32_t id : ids) {
      const std::string bytes = decode(id);
      text.append(bytes, after_bos && bytes.starts_with(' ') ? 1 : 0);
      after_bos = id == kBos;
    }
    return text;
  }

 private:
  struct Workspace {
    std::vector<Symbol> symbols;
    std::priority_queue<Merge> merges;
  };

  void parse(std::string_view origin) {
    size_t offset = 0;
    const auto take = [&]<class T>(T& value) {
      check(file_.size() - offset >= sizeof(T), ErrorCode::Data,
            "{}: not a llama2.c tokenizer, or truncated: expected {} more bytes at offset {}, got "
            "{}",
            origin, sizeof(T), offset, file_.size() - offset);
      std::memcpy(&value, file_.data() + offset, sizeof(T));
      offset += sizeof(T);
    };
    int32_t longest = 0;
    take(longest);
    while (offset < file_.size()) {
      const size_t id = pieces_.size();
      float score = 0;
      int32_t length = 0;
      take(score);
      take(length);
      check(std::isfinite(score), ErrorCode::Data,
            "{}: not a llama2.c tokenizer: expected a finite score for id {}, got {}", origin, id,
            score);
      check(length >= 0 && length <= longest, ErrorCode::Data,
            "{}: not a llama2.c tokenizer: expected a length in [0, {}] for id {}, got {}", origin,
            longest, id, length);
      check(file_.size() - offset >= static_cast<size_t>(length), ErrorCode::Data,
            "{}: truncated: expected {} bytes for id {}, got {}", origin, length, id,
            file_.size() - offset);
      const auto piece = std::string_view(file_).substr(offset, static_cast<size_t>(length));
      offset += static_cast<size_t>(length);
      if (id >= kFirstByte && id < kFirstText) {
        check(piece == fmt::format("<0x{:02X}>", id - kFirstByte), ErrorCode::Data,
              "{}: not a llama2.c tokenizer: expected the byte piece <0x{:02X}> at id {}", origin,
              id - kFirstByte, id);
      }
      pieces_.push_back(piece);
      scores_.push_back(score);
    }
    check(pieces_.size() >= kFirstText, ErrorCode::Data,
          "{}: not a llama2.c tokenizer, or truncated: expected at least {} pieces, got {}", origin,
          kFirstText, pieces_.size());
  }

  void encode_segment(std::string_view text, Workspace& work, std::vector<int32_t>& ids) const {
    auto& symbols = work.symbols;
    symbols.clear();
    const auto append = [&](int32_t id, size_t begin, size_t size) {
      const auto index = static_cast<int32_t>(symbols.size());
      symbols.push_back({id, index - 1, index + 1, begin, size});
    };
    for (size_t i = 0; i < text.size();) {
      const size_t length = character_length(text.substr(i));
      if (const auto found = id_of_.find(text.substr(i, length)); found != id_of_.end()) {
        append(found->second, i, length);
      } else {
        for (size_t j = i; j < i + length; ++j) {
          append(kFirstByte + static_cast<unsigned char>(text[j]), j, 1);
        }
      }
      i += length;
    }
    symbols.back().next = -1;

    const auto propose = [&](int32_t left) {
      if (left < 0 || symbols[left].next < 0) return;
      const Symbol& a = symbols[left];
      const Symbol& b = symbols[a.next];
      if (a.id < kFirstText || b.id < kFirstText) return;  // fallback bytes stay apart
      const auto found = id_of_.find(text.substr(a.begin, a.size + b.size));
      if (found == id_of_.end()) return;
      work.merges.push({scores_[found->second], left, found->second, a.size + b.size});
    };
    for (int32_t i = 0; i < static_cast<int32_t>(symbols.size()); ++i) propose(i);
    while (!work.merges.empty()) {
      const Merge merge = work.merges.top();
      work.merges.pop();
      Symbol& a = symbols[merge.left];
      if (a.id < 0 || a.next < 0) continue;
      Symbol& b = symbols[a.next];
      if (a.size + b.size != merge.size) continue;
      a.id = merge.id;
      a.size = merge.size;
      a.next = b.next;
      b.id = -1;
      if (a.next >= 0) symbols[a.next].previous = merge.left;
      propose(a.previous);
      propose(merge.left);
    }
    for (int32_t i = 0; i >= 0; i = symbols[i].next) ids.push_back(symbols[i].id);
  }

  std::string file_;
  std::vector<std::string_view> pieces_;
  std::vector<float> scores_;
  std::unordered_map<std::string_view, int32_t> id_of_;
  std::bitset<256 * 256> joined_;  // byte pairs that stand side by side in some piece
};

}  // namespace

std::unique_ptr<Tokenizer> parse_llama2c_tokenizer(std::string_view file, std::string_view origin) {
  return std::make_unique<Llama2cTokenizer>(file, origin);
}

}  // namespace ingot
