// Removes documents by where they came from.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "ingest/clean/filters/aho_corasick.h"
#include "ingest/clean/settings.h"

namespace ingot {

// Contents of list files, one entry a line, lines that begin with # skipped; empty: no such list.
struct UrlLists {
  std::string domains;     // registered domains and whole hosts
  std::string urls;        // exact
  std::string words;       // one of these in the URL is enough
  std::string soft_words;  // several are
  std::string subwords;    // anywhere in the URL's letters and digits
  std::string
      public_suffixes;  // publicsuffix.org's list; empty: a domain is a host's last two labels
};

// The public suffix list's rules, of its ICANN part only, as tldextract has them by default.
class PublicSuffixes {
 public:
  explicit PublicSuffixes(std::string_view list);

  // The public suffix of a lower-case host and one label before it; empty where there is none.
  std::string_view registered_domain(std::string_view host) const;

 private:
  std::unordered_set<std::string> rules_, wildcards_, exceptions_;
};

class UrlFilter {
 public:
  UrlFilter(const UrlSettings& settings, const UrlLists& lists);

  // The reason, or an empty view.
  std::string_view filter(std::string_view url) const;

 private:
  UrlSettings settings_;
  PublicSuffixes suffixes_;
  std::unordered_set<std::string> domains_, urls_, words_, soft_words_;
  AhoCorasick subwords_;
};

// The host of a URL in lower case, without user, port and final full stop; "//" may be missing.
std::string host_of(std::string_view url);

}  // namespace ingot
