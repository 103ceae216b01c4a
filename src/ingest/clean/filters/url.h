// Removes documents by their URL.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>

#include "ingest/clean/filter.h"
#include "ingest/clean/filters/aho_corasick.h"
#include "ingest/clean/filters/fields.h"

namespace ingot {

// Paths of list files; empty: none.
struct UrlSettings final : DeclaredFilter<UrlSettings, UrlFields> {
  std::unique_ptr<Filter> make(CleanFiles& files) const override;
};

// Contents of list files, one entry per line; lines that begin with # are skipped; empty: no such
// list.
struct UrlLists {
  std::string domains;     // registered domains and full hosts
  std::string urls;        // exact
  std::string words;       // any one of these in the URL removes it
  std::string soft_words;  // several of them do
  std::string subwords;    // anywhere in the URL's letters and digits
  std::string
      public_suffixes;  // publicsuffix.org's list; empty: a domain is a host's last two labels
};

// The rules of the public suffix list's ICANN part, tldextract's default.
class PublicSuffixes {
 public:
  explicit PublicSuffixes(std::string_view list);

  // The public suffix of a lower-case host and the label before it; empty if there is none.
  std::string_view registered_domain(std::string_view host) const;

 private:
  std::unordered_set<std::string> rules_, wildcards_, exceptions_;
};

class UrlFilter final : public Filter {
 public:
  UrlFilter(int64_t min_soft_words, const UrlLists& lists);

  std::string_view judge(Passage& passage) const override;  // keeps documents without a URL

  // The reason, or an empty view.
  std::string_view filter(std::string_view url) const;

 private:
  int64_t min_soft_words_;
  PublicSuffixes suffixes_;
  std::unordered_set<std::string> domains_, urls_, words_, soft_words_;
  AhoCorasick subwords_;
};

// The host of a URL in lower case, without user, port and final full stop; "//" may be missing.
std::string host_of(std::string_view url);

}  // namespace ingot
