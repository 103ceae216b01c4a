#include "tokenizer/added_tokens.h"

#include <emmintrin.h>

#include <algorithm>
#include <bit>
#include <functional>

#include "tokenizer/unicode/unicode_classes.h"

namespace ingot {
namespace {

constexpr size_t kMostComparisons = 4;  // of first bytes, beyond which a table is read instead

size_t two_bytes(std::string_view text, size_t at) {
  return static_cast<size_t>(static_cast<uint8_t>(text[at])) << 8 |
         static_cast<uint8_t>(text[at + 1]);
}

bool begins_with_word(std::string_view text) {
  return !text.empty() && (first_character(text).classes & kWord);
}
bool ends_with_word(std::string_view text) {
  return !text.empty() && (last_character(text).classes & kWord);
}

}  // namespace

AddedTokenFinder::AddedTokenFinder(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  // Of those that are spelt the same once normalised the first is found; Hugging Face takes any.
  std::stable_sort(tokens_.begin(), tokens_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.content < b.content; });
  for (const AddedToken& token : tokens_) {
    const auto first = static_cast<uint8_t>(token.content[0]);
    auto& sizes = sizes_of_[first];
    if (sizes.empty()) first_bytes_ += token.content[0];
    sizes.push_back(token.content.size());
    const bool one_byte = token.content.size() == 1;
    for (size_t second = 0; second < 256; ++second) {
      if (one_byte || second == static_cast<uint8_t>(token.content[1])) {
        first_two_.set(size_t{first} << 8 | second);
      }
    }
  }
  for (auto& sizes : sizes_of_) {
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
}

size_t AddedTokenFinder::next_candidate(std::string_view text, size_t at) const {
  if (first_bytes_.size() <= kMostComparisons) {
    for (; at + 16 <= text.size(); at += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
      __m128i hits = _mm_setzero_si128();
      for (const char first : first_bytes_) {
        hits = _mm_or_si128(hits, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(first)));
      }
      const auto mask = static_cast<unsigned>(_mm_movemask_epi8(hits));
      if (mask != 0) return at + static_cast<size_t>(std::countr_zero(mask));
    }
  }
  for (; at < text.size(); ++at) {
    if (!sizes_of_[static_cast<uint8_t>(text[at])].empty()) return at;
  }
  return at;
}

bool AddedTokenFinder::has_special() const {
  return std::ranges::any_of(tokens_, &AddedToken::special);
}

const AddedToken* AddedTokenFinder::longest_at(std::string_view text, const TrustedText& trusted,
                                               size_t at) const {
  if (at + 1 < text.size() && !first_two_[two_bytes(text, at)]) return nullptr;
  for (const size_t size : sizes_of_[static_cast<uint8_t>(text[at])]) {
    const std::string_view wanted = text.substr(at, size);
    const auto token = std::lower_bound(
        tokens_.begin(), tokens_.end(), wanted,
        [](const AddedToken& a, std::string_view content) { return a.content < content; });
    const bool is_found = token != tokens_.end() && token->content == wanted;
    if (is_found && (!token->special || trusted.contains(at, at + size))) return &*token;
  }
  return nullptr;
}

std::optional<AddedTokenFinder::Found> AddedTokenFinder::find(std::string_view text,
                                                              const TrustedText& trusted,
                                                              size_t from, size_t taken) const {
  for (size_t at = from; (at = next_candidate(text, at)) < text.size();) {
    const AddedToken* token = longest_at(text, trusted, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    const size_t end = at + token->content.size();
    Found found{at, end, end, token->id};
    if (token->single_word &&
        (ends_with_word(text.substr(0, at)) || begins_with_word(text.substr(end)))) {
      at = end;
      continue;
    }
    while (token->lstrip && found.begin > taken) {
      const Character c = last_character(text.substr(taken, found.begin - taken));
      if (!(c.classes & kSpace)) break;
      found.begin -= c.size;
    }
    if (token->lstrip) found.begin = std::max(found.begin, taken);
    while (token->rstrip && found.end < text.size()) {
      const Character c = first_character(text.substr(found.end));
      if (!(c.classes & kSpace)) break;
      found.end += c.size;
    }
    return found;
  }
  return std::nullopt;
}

AddedTokenFinders::AddedTokenFinders(const std::vector<AddedToken>& tokens, bool with_specials,
                                     const Normalize& normalize) {
  std::vector<AddedToken> before, after;
  for (AddedToken token : tokens) {
    if (token.special && !with_specials) continue;
    if (token.normalized) token.content = normalize(token.content);
    if (!token.content.empty()) (token.normalized ? after : before).push_back(std::move(token));
  }
  raw = AddedTokenFinder(std::move(before));
  normalized = AddedTokenFinder(std::move(after));
}

TrustedText AddedTokenFinders::trusted_in(std::string_view part, std::string_view normal_form,
                                          std::string_view text, const TrustedText& trusted,
                                          const Normalize& normalize) const {
  if (!normalized.has_special()) return {};
  const auto begin = static_cast<size_t>(part.data() - text.data());
  return trusted.of_part(begin, part.size()).of_normalized(part, normal_form, [&](auto before) {
    return normalize(std::string(before));
  });
}

}  // namespace ingot
