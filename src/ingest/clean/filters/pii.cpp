#include "ingest/clean/filters/pii.h"

#include <array>
#include <optional>
#include <span>

#include "core/text/unicode.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

constexpr std::string_view kEmails[] = {"email@example.com", "firstname.lastname@example.org"};
constexpr std::string_view kAddresses[] = {"22.214.171.124", "126.96.36.199",  "188.8.131.52",
                                           "184.108.40.206", "220.127.116.11", "18.104.22.168"};

bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

// [A-Za-z0-9], or [a-z0-9] of datatrove 0.2
bool is_alnum(char byte, bool lower_only) {
  return is_digit(byte) || (byte >= 'a' && byte <= 'z') ||
         (!lower_only && byte >= 'A' && byte <= 'Z');
}

bool is_local(char byte, bool lower_only) {
  return is_alnum(byte, lower_only) ||
         std::string_view("!#$%&'*+/=?^_`{|}~-").find(byte) != std::string_view::npos;
}

// \b before the ASCII character at `at`.
bool is_word_boundary(std::string_view text, size_t at) {
  const bool word = text::has(static_cast<char32_t>(text[at]), text::kWordCharacter);
  if (at == 0) return word;
  const char* before = text::previous_character(text.data() + at);
  return text::has(text::decode(before), text::kWordCharacter) != word;
}

// Digits from `at` on that are an octet of the pattern, 25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?, taken
// by its alternatives in order: the first that fits, though another might take more.
size_t octet_digits(std::string_view text, size_t at) {
  const auto digit = [&](size_t i) {
    return at + i < text.size() && is_digit(text[at + i]) ? text[at + i] : '\0';
  };
  const char a = digit(0), b = a != 0 ? digit(1) : '\0', c = b != 0 ? digit(2) : '\0';
  if (a == 0) return 0;
  if (a == '2' && b == '5' && c >= '0' && c <= '5') return 3;
  if (a == '2' && b >= '0' && b <= '4' && c != 0) return 3;
  if (a <= '1' && c != 0) return 3;
  return b != 0 ? 2 : 1;
}

// Octets with their full stops behind them: the end, or nothing.
std::optional<size_t> skip_three_octets(std::string_view text, size_t at) {
  for (int i = 0; i < 3; ++i) {
    // A full stop must follow, so an alternative that leaves digits over does not fit.
    const size_t digits = octet_digits(text, at);
    if (digits == 0 || at + digits >= text.size() || text[at + digits] != '.') return {};
    at += digits + 1;
  }
  return at;
}

// One label of a host name: letters and digits with hyphens inside; 0: none.
size_t label_bytes(std::string_view text, size_t at, bool lower_only) {
  size_t end = at;
  for (size_t i = at;
       i < text.size() && (is_alnum(text[i], lower_only) || (text[i] == '-' && i != at)); ++i) {
    if (text[i] != '-') end = i + 1;
  }
  return end - at;
}

// The host of an address, behind "@": labels with full stops between, or an address in brackets.
std::optional<size_t> host_end(std::string_view text, size_t at, bool lower_only) {
  if (at < text.size() && text[at] == '[') {
    const auto last = skip_three_octets(text, at + 1);
    if (!last) return {};
    const auto closes = [&](size_t i) { return i < text.size() && text[i] == ']'; };
    if (const size_t digits = octet_digits(text, *last); digits != 0 && closes(*last + digits)) {
      return *last + digits + 1;
    }
    // [A-Za-z0-9-]*[A-Za-z0-9]: in place of the last octet
    size_t i = *last;
    while (i < text.size() && (is_alnum(text[i], lower_only) || text[i] == '-')) ++i;
    if (i > *last && text[i - 1] != '-' && i < text.size() && text[i] == ':' && closes(i + 1))
      return i + 2;
    return {};
  }
  std::optional<size_t> end;
  for (bool is_first = true;; is_first = false) {
    const size_t bytes = label_bytes(text, at, lower_only);
    if (bytes == 0) return end;
    at += bytes;
    if (!is_first) end = at;
    if (at == text.size() || text[at] != '.') return end;
    ++at;
  }
}

// Where the leftmost match that goes through the "@" begins; not before `from`.
std::optional<size_t> local_begin(std::string_view text, size_t from, size_t at, bool lower_only) {
  std::optional<size_t> begin;
  for (size_t i = at; i > from; --i) {
    const char byte = text[i - 1];
    if (byte == '.') {
      // Between two characters of the local part only.
      if (i == at || text[i] == '.') break;
    } else if (!is_local(byte, lower_only)) {
      break;
    } else if (is_word_boundary(text, i - 1)) {
      begin = i - 1;
    }
  }
  return begin;
}

// Puts the text before each found span and a stand-in for it into a new text.
class Replacer {
 public:
  Replacer(std::string& text, std::span<const std::string_view> stand_ins)
      : text_(text), stand_ins_(stand_ins) {}

  void replace(size_t begin, size_t end) {
    out_.append(text_, done_, begin - done_);
    out_ += stand_ins_[static_cast<size_t>(count_++) % stand_ins_.size()];
    done_ = end;
  }
  int64_t finish() {
    if (count_ != 0) {
      out_.append(text_, done_, std::string::npos);
      text_.swap(out_);
    }
    return count_;
  }

 private:
  std::string& text_;
  std::span<const std::string_view> stand_ins_;
  std::string out_;
  size_t done_ = 0;
  int64_t count_ = 0;
};

int64_t mask_emails(const PiiSettings& settings, std::string& text) {
  Replacer replacer(text, kEmails);
  size_t from = 0;
  for (size_t at = text.find('@'); at != std::string::npos; at = text.find('@', at + 1)) {
    if (at < from) continue;
    const auto end = host_end(text, at + 1, settings.lower_case_emails_only);
    const auto begin =
        end ? local_begin(text, from, at, settings.lower_case_emails_only) : std::nullopt;
    if (!begin) {
      from = at;
      continue;
    }
    replacer.replace(*begin, *end);
    from = *end;
  }
  return replacer.finish();
}

// What Python's ipaddress (3.11) calls private, and 100.64/10: not is_global.
constexpr struct {
  uint32_t network;
  int bits;
} kNotGlobal[] = {
    {0x00000000, 8},   // 0.0.0.0
    {0x0A000000, 8},   // 10.0.0.0
    {0x64400000, 10},  // 100.64.0.0
    {0x7F000000, 8},   // 127.0.0.0
    {0xA9FE0000, 16},  // 169.254.0.0
    {0xAC100000, 12},  // 172.16.0.0
    {0xC0000000, 29},  // 192.0.0.0
    {0xC00000AA, 31},  // 192.0.0.170
    {0xC0000200, 24},  // 192.0.2.0
    {0xC0A80000, 16},  // 192.168.0.0
    {0xC6120000, 15},  // 198.18.0.0
    {0xC6336400, 24},  // 198.51.100.0
    {0xCB007100, 24},  // 203.0.113.0
    {0xF0000000, 4},   // 240.0.0.0
    {0xFFFFFFFF, 32},
};

bool is_masked_address(std::string_view match, bool only_public) {
  uint32_t address = 0;
  for (size_t at = 0; at < match.size();) {
    const size_t digits = std::min(match.find('.', at), match.size()) - at;
    if (digits > 1 && match[at] == '0') return false;  // no address to Python
    uint32_t octet = 0;
    for (size_t i = 0; i < digits; ++i)
      octet = 10 * octet + static_cast<uint32_t>(match[at + i] - '0');
    address = address << 8 | octet;
    at += digits + 1;
  }
  if (!only_public) return true;
  for (const auto [network, bits] : kNotGlobal) {
    if ((address ^ network) >> (32 - bits) == 0) return false;
  }
  return true;
}

int64_t mask_ips(const PiiSettings& settings, std::string& text) {
  Replacer replacer(text, kAddresses);
  size_t from = 0;
  // An address begins at most three digits before a full stop.
  for (size_t dot = text.find('.'); dot != std::string::npos; dot = text.find('.', dot + 1)) {
    size_t begin = dot;
    while (begin > from && dot - begin < 3 && is_digit(text[begin - 1])) --begin;
    for (; begin < dot; ++begin) {
      const auto last = skip_three_octets(text, begin);
      const size_t digits = last ? octet_digits(text, *last) : 0;
      if (digits == 0) continue;
      const size_t end = *last + digits;
      const std::string_view match(text.data() + begin, end - begin);
      const auto digit_at = [&](size_t i) { return i < text.size() && is_digit(text[i]); };
      const bool is_bounded = (begin == 0 || (!digit_at(begin - 1) && text[begin - 1] != '.')) &&
                              !digit_at(end) &&
                              !(end + 1 < text.size() && text[end] == '.' && digit_at(end + 1));
      if ((!settings.needs_digit_boundaries || is_bounded) &&
          is_masked_address(match, settings.only_public_ips)) {
        replacer.replace(begin, end);
      }
      from = end;
      dot = end - 1;
      break;
    }
  }
  return replacer.finish();
}

}  // namespace

PiiCounts mask_pii(const PiiSettings& settings, std::string& text) {
  PiiCounts counts;
  if (settings.masks_emails) counts.emails = mask_emails(settings, text);
  if (settings.masks_ips) counts.ips = mask_ips(settings, text);
  return counts;
}

std::unique_ptr<Filter> PiiSettings::make(CleanFiles&) const {
  return filter_of(*this, [](const PiiSettings& s, Passage& passage) -> std::string_view {
    passage.scratch.rewritten.assign(passage.text());
    const PiiCounts masked = mask_pii(s, passage.scratch.rewritten);
    if (masked.emails + masked.ips > 0) passage.rewrite();
    passage.counts.pii.emails += masked.emails;
    passage.counts.pii.ips += masked.ips;
    return {};
  });
}

std::unique_ptr<FilterSettings> filter_pii() {
  return std::make_unique<PiiSettings>();
}

}  // namespace ingot
