#include "ingest/read/formats/json_record.h"

#include <emmintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr int kMaxDepth = 500;

// From `at`, the first byte of a string's contents that needs attention (a quote, a backslash, a
// control character), or the end. Such bytes come every line or so of prose: that the place is
// known at once, without a loop over the last bytes, is half of the speed.
const char* end_of_run(const char* at, const char* end) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1F);
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i control = _mm_cmpeq_epi8(_mm_max_epu8(bytes, last_control), last_control);
    const __m128i ends = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(ends));
    if (mask != 0) return at + std::countr_zero(mask);
  }
  while (at < end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  JsonOutcome record(std::span<JsonField> fields) {
    space();
    const bool is_object = at_ < end_ && *at_ == '{';
    const bool valid = is_object ? object(fields, 1) : value(1);
    space();
    if (!valid || at_ != end_) return JsonOutcome::InvalidJson;
    if (!is_object) return JsonOutcome::NotAnObject;
    if (lone_surrogate_) return JsonOutcome::InvalidUtf8;
    return repeated_ ? JsonOutcome::RepeatedMember : JsonOutcome::Record;
  }

 private:
  void space() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take_word(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size()) return false;
    if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }
  bool digits() {
    const char* first = at_;
    while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ > first;
  }
  bool number() {
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      return digits();
    }
    return true;
  }
  bool hex4(uint32_t& code) {
    if (end_ - at_ < 4) return false;
    code = 0;
    for (const char* last = at_ + 4; at_ < last; ++at_) {
      const char c = *at_;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      code = code * 16 + static_cast<uint32_t>(digit);
    }
    return true;
  }

  // After "\u".
  bool unicode_escape(std::string* out) {
    uint32_t code;
    if (!hex4(code)) return false;
    if (out == nullptr) return true;
    if (code >= 0xD800 && code < 0xDC00 && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
      const char* const before = at_;
      at_ += 2;
      uint32_t low;
      if (!hex4(low)) return false;
      if (low >= 0xDC00 && low < 0xE000) {
        text::append_character(*out, 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00));
        return true;
      }
      at_ = before;
    }
    if (code >= 0xD800 && code < 0xE000) {
      lone_surrogate_ = true;
    } else {
      text::append_character(*out, code);
    }
    return true;
  }

  bool escape(std::string* out) {
    if (at_ == end_) return false;
    static constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = *at_++;
    if (letter == 'u') return unicode_escape(out);
    const size_t index = kLetters.find(letter);
    if (index == std::string_view::npos) return false;
    if (out != nullptr) *out += kMeanings[index];
    return true;
  }

  // After the opening quote; `out`, where given, gets the decoded text appended.
  bool string(std::string* out) {
    for (;;) {
      const char* const run = at_;
      at_ = end_of_run(at_, end_);
      if (out != nullptr) out->append(run, static_cast<size_t>(at_ - run));
      if (take('"')) return true;
      if (!take('\\') || !escape(out)) return false;
    }
  }

  bool value(int depth) {
    if (at_ == end_ || depth > kMaxDepth) return false;
    switch (*at_) {
      case '{':
        return object({}, depth);
      case '[':
        return array(depth);
      case '"':
        ++at_;
        return string(nullptr);
      case 't':
        return take_word("true");
      case 'f':
        return take_word("false");
      case 'n':
        return take_word("null");
      default:
        return number();
    }
  }

  bool array(int depth) {
    ++at_;
    space();
    if (take(']')) return true;
    do {
      space();
      if (!value(depth + 1)) return false;
      space();
    } while (take(','));
    return take(']');
  }

  bool object(std::span<JsonField> fields, int depth) {
    ++at_;
    space();
    if (take('}')) return true;
    do {
      space();
      JsonField* field = nullptr;
      if (!take('"') || !key(fields, field)) return false;
      space();
      if (!take(':')) return false;
      space();
      if (field != nullptr ? !field_value(*field, depth + 1) : !value(depth + 1)) return false;
      space();
    } while (take(','));
    return take('}');
  }

  bool key(std::span<JsonField> fields, JsonField*& field) {
    const char* const first = at_;
    if (!string(nullptr)) return false;
    if (fields.empty()) return true;
    std::string_view name(first, static_cast<size_t>(at_ - 1 - first));
    if (name.find('\\') != std::string_view::npos) {
      at_ = first;
      decoded_key_.clear();
      const bool lone_surrogate = lone_surrogate_;
      string(&decoded_key_);
      lone_surrogate_ = lone_surrogate;  // such a key is none of ours
      name = decoded_key_;
    }
    for (JsonField& candidate : fields) {
      if (candidate.name == name) field = &candidate;
    }
    return true;
  }

  bool field_value(JsonField& field, int depth) {
    using Kind = JsonField::Kind;
    repeated_ |= field.kind != Kind::Absent;
    field.value.clear();
    const char* const first = at_;
    if (take('"')) {
      field.kind = Kind::String;
      return string(&field.value);
    }
    if (!value(depth)) return false;
    const bool is_number = *first == '-' || (*first >= '0' && *first <= '9');
    field.kind = *first == 'n' ? Kind::Null : is_number ? Kind::Number : Kind::Other;
    if (is_number) field.value.assign(first, at_);
    return true;
  }

  const char* at_;
  const char* end_;
  std::string decoded_key_;
  bool lone_surrogate_ = false, repeated_ = false;
};

}  // namespace

JsonOutcome parse_json_record(std::string_view text, std::span<JsonField> fields) {
  if (valid_utf8_prefix(text) != text.size()) return JsonOutcome::InvalidUtf8;
  for (JsonField& field : fields) {
    field.kind = JsonField::Kind::Absent;
    field.value.clear();
  }
  return Parser(text).record(fields);
}

}  // namespace ingot
