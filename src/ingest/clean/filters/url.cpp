#include "ingest/clean/filters/url.h"

#include <vector>

#include "core/error/error.h"
#include "core/text/python_text.h"

namespace ingot {
namespace {

bool is_alnum(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z');
}

std::string letters_and_digits(std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (is_alnum(byte)) out += byte;
  }
  return text::lower(out);
}

std::vector<std::string> read_list(std::string_view list, bool are_words) {
  std::vector<std::string> entries;
  for (std::string_view line; text::next_line(list, line);) {
    if (line.starts_with('#')) continue;
    std::string entry = are_words ? letters_and_digits(line) : std::string(text::strip(line));
    if (!entry.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

std::unordered_set<std::string> read_set(std::string_view list, bool are_words) {
  const std::vector<std::string> entries = read_list(list, are_words);
  return {entries.begin(), entries.end()};
}

std::unordered_set<std::string> words_of(std::string_view url) {
  std::unordered_set<std::string> words;
  size_t begin = 0;
  for (size_t i = 0; i <= url.size(); ++i) {
    if (i != url.size() && is_alnum(url[i])) continue;
    if (i != begin) words.emplace(url.substr(begin, i - begin));
    begin = i + 1;
  }
  return words;
}

// The part of a URL from its host on.
std::string_view without_scheme(std::string_view url) {
  const size_t slashes = url.find("//");
  if (slashes == 0) return url.substr(2);
  if (slashes == std::string_view::npos || slashes < 2 || url[slashes - 1] != ':') return url;
  for (const char byte : url.substr(0, slashes - 1)) {
    if (!is_alnum(byte) && byte != '+' && byte != '-' && byte != '.') return url;
  }
  return url.substr(slashes + 2);
}

constexpr size_t kMaxHostBytes = 253;  // of a name in the DNS

// The host without its first label; empty when it has one.
std::string_view parent_of(std::string_view host) {
  const size_t dot = host.find('.');
  return dot == std::string_view::npos ? std::string_view() : host.substr(dot + 1);
}

}  // namespace

std::string host_of(std::string_view url) {
  std::string_view host = without_scheme(url);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  if (host.starts_with('[')) return text::lower(host.substr(0, host.find(']') + 1));
  host = text::strip(host.substr(0, host.find(':')));
  while (host.ends_with('.')) host.remove_suffix(1);
  return text::lower(host);
}

PublicSuffixes::PublicSuffixes(std::string_view list) {
  const size_t end = list.find("===END ICANN DOMAINS===");
  list = list.substr(0, end);
  for (std::string_view line; text::next_line(list, line);) {
    std::string_view rule;
    if (line.starts_with("//") || !text::next_word(line, rule)) continue;
    if (rule.starts_with("*.")) {
      wildcards_.emplace(rule.substr(2));
    } else if (rule.starts_with('!')) {
      exceptions_.emplace(rule.substr(1));
    } else {
      rules_.emplace(rule);
    }
  }
}

std::string_view PublicSuffixes::registered_domain(std::string_view host) const {
  const bool has_list = !rules_.empty() || !wildcards_.empty();
  // From the longest ending to the shortest: the first rule that fits has most labels and prevails.
  // `domain` has one label more than `suffix`.
  std::string_view domain;
  // Of what is longer, and no host, only the end: each ending is looked up.
  while (host.size() > kMaxHostBytes) host = parent_of(host);
  for (std::string_view suffix = host; !suffix.empty();
       domain = suffix, suffix = parent_of(suffix)) {
    if (!has_list) {
      if (suffix.find('.') == std::string_view::npos) return domain;
      continue;
    }
    if (exceptions_.contains(std::string(suffix))) return suffix;
    if (rules_.contains(std::string(suffix))) return domain;
    if (const std::string_view parent = parent_of(suffix);
        !parent.empty() && wildcards_.contains(std::string(parent))) {
      return domain;
    }
  }
  return {};
}

UrlFilter::UrlFilter(int64_t min_soft_words, const UrlLists& lists)
    : min_soft_words_(min_soft_words),
      suffixes_(lists.public_suffixes),
      domains_(read_set(lists.domains, false)),
      urls_(read_set(lists.urls, false)),
      words_(read_set(lists.words, true)),
      soft_words_(read_set(lists.soft_words, true)),
      subwords_(read_list(lists.subwords, true)) {}

std::string_view UrlFilter::filter(std::string_view url) const {
  const std::string host = host_of(url);
  if (domains_.contains(std::string(suffixes_.registered_domain(host)))) return "domain";
  if (domains_.contains(host)) return "subdomain";
  if (urls_.contains(std::string(url))) return "url";
  int64_t soft_words = 0;
  for (const std::string& word : words_of(url)) {
    if (words_.contains(word)) return "hard_blacklisted";
    soft_words += soft_words_.contains(word);
  }
  if (soft_words >= min_soft_words_) return "soft_blacklisted";
  const bool has_subword =
      subwords_.find(letters_and_digits(url), [](size_t, size_t) { return true; });
  return has_subword ? "blacklisted_subword" : std::string_view();
}

std::string_view UrlFilter::judge(Passage& passage) const {
  if (!passage.document.url.empty()) return filter(passage.document.url);
  ++passage.counts.without_url;
  return {};
}

std::unique_ptr<Filter> UrlSettings::make(CleanFiles& files) const {
  UrlLists lists;
  lists.domains = files.read_list(domains);
  lists.urls = files.read_list(urls);
  lists.words = files.read_list(words);
  lists.soft_words = files.read_list(soft_words);
  lists.subwords = files.read_list(subwords);
  lists.public_suffixes = files.read_list(public_suffixes);
  const bool has_list = !lists.domains.empty() || !lists.urls.empty() || !lists.words.empty() ||
                        !lists.soft_words.empty() || !lists.subwords.empty();
  check(
      has_list, ErrorCode::Config,
      "url.enabled: expected a list to remove documents by, got none: name a file in url.domains, "
      "url.urls, url.words, url.soft_words or url.subwords");
  return std::make_unique<UrlFilter>(min_soft_words, lists);
}

std::unique_ptr<FilterSettings> filter_url() {
  return std::make_unique<UrlSettings>();
}

}  // namespace ingot
