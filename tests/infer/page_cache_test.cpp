#include "infer/page_cache.h"

#include <gtest/gtest.h>

#include <map>

#include "core/random/random.h"
#include "core/tensor/kv_page.h"

namespace ingot {
namespace {

std::vector<int32_t> counted(int32_t from, int64_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (size_t i = 0; i < ids.size(); ++i) ids[i] = from + static_cast<int32_t>(i);
  return ids;
}

std::vector<int32_t> take(PageCache& cache, int64_t n) {
  std::vector<int32_t> pages;
  for (int64_t i = 0; i < n; ++i) pages.push_back(cache.take());
  return pages;
}

TEST(PageCache, APrefixIsFoundToTheToken) {
  PageCache cache(10);
  auto pages = take(cache, 3);
  const auto ids = counted(0, 40);
  cache.keep(ids, pages);
  const auto before = pages;
  cache.release(pages);
  EXPECT_EQ(cache.in_use(), 0);
  EXPECT_EQ(cache.cached(), 3);
  for (const int64_t n : {0, 1, 15, 16, 17, 32, 39, 40}) {
    auto found = cache.find(std::span(ids).first(static_cast<size_t>(n)));
    EXPECT_EQ(found.tokens(), n);
    EXPECT_EQ(std::ssize(found.pages), n / kPageTokens);
    if (n % kPageTokens > 0) {
      EXPECT_EQ(found.partial_page, before[static_cast<size_t>(n / kPageTokens)]);
      cache.release(found.partial_page);
    }
    cache.release(found.pages);
  }
  EXPECT_EQ(cache.known_tokens(counted(0, 100)), 40);
  EXPECT_EQ(cache.known_tokens(counted(1, 100)), 0);
}

TEST(PageCache, TheLeastRecentlyUsedPagesGoFirstAndFromTheEnd) {
  PageCache cache(6);
  auto old = take(cache, 3), young = take(cache, 3);
  cache.keep(counted(0, 48), old);
  cache.keep(counted(100, 48), young);
  cache.release(old);
  cache.release(young);
  EXPECT_EQ(cache.available(), 6);
  auto taken = take(cache, 2);
  EXPECT_EQ(cache.known_tokens(counted(0, 48)), 16);
  EXPECT_EQ(cache.known_tokens(counted(100, 48)), 48);
  // Used again, the first is the more recent.
  auto found = cache.find(counted(0, 16));
  cache.release(found.pages);
  taken.push_back(cache.take());
  EXPECT_EQ(cache.known_tokens(counted(0, 48)), 16);
  EXPECT_EQ(cache.known_tokens(counted(100, 48)), 32);
}

TEST(PageCache, PagesInUseAreNotTaken) {
  PageCache cache(2);
  auto pages = take(cache, 2);
  cache.keep(counted(0, 32), pages);
  EXPECT_EQ(cache.take(), -1);
  cache.release(pages);
  auto found = cache.find(counted(0, 16));
  EXPECT_EQ(cache.available(), 1);
  EXPECT_NE(cache.take(), found.pages[0]);
  EXPECT_EQ(cache.take(), -1);
}

TEST(PageCache, AnOwnersLongerPageReplacesItsShorterOne) {
  PageCache cache(4);
  auto pages = take(cache, 1);
  cache.keep(counted(0, 5), pages);
  cache.keep(counted(0, 12), pages);
  EXPECT_EQ(cache.known_tokens(counted(0, 16)), 12);
  // Another page with fewer of the same tokens is not needed; one with more is.
  auto shorter = take(cache, 1), longer = take(cache, 1);
  cache.keep(counted(0, 7), shorter);
  cache.keep(counted(0, 16), longer);
  cache.release(pages);
  cache.release(shorter);
  cache.release(longer);
  EXPECT_EQ(cache.known_tokens(counted(0, 16)), 16);
  EXPECT_EQ(cache.cached(), 1);
  EXPECT_EQ(cache.available(), 4);
}

// Owners come, write, share, part and go; at the end no page is lost and none is used twice.
TEST(PageCache, NoPageIsLostOrUsedTwice) {
  const RandomStream random(1, Purpose::Test);
  uint64_t at = 0;
  const auto any = [&](int64_t below) {
    return static_cast<int64_t>(random.bits(at++) % static_cast<uint32_t>(below));
  };
  constexpr int64_t kPages = 24;
  PageCache cache(kPages);
  struct Owner {
    std::vector<int32_t> ids, pages;
    int64_t shared = 0;  // full pages at the beginning
  };
  std::vector<Owner> owners;
  for (int round = 0; round < 5000; ++round) {
    if (owners.size() < 6 && any(2) == 0) {
      Owner owner;
      for (int64_t i = 0, n = 1 + any(60); i < n; ++i)
        owner.ids.push_back(static_cast<int32_t>(i < 20 ? 0 : any(2)));
      auto prefix = cache.find(owner.ids);
      owner.pages = prefix.pages;
      owner.shared = std::ssize(owner.pages);
      bool fits = true;
      while (std::ssize(owner.pages) * kPageTokens < std::ssize(owner.ids)) {
        const int32_t page = cache.take();
        if (page < 0) {
          fits = false;
          break;
        }
        owner.pages.push_back(page);
      }
      if (prefix.partial_page >= 0) cache.release(prefix.partial_page);
      if (fits)
        owners.push_back(std::move(owner));
      else
        cache.release(owner.pages);
    } else if (!owners.empty()) {
      const auto which = static_cast<size_t>(any(std::ssize(owners)));
      Owner& owner = owners[which];
      const auto n = static_cast<size_t>(1 + any(std::ssize(owner.ids)));
      cache.keep(std::span(owner.ids).first(n), owner.pages);
      if (any(3) == 0) {
        cache.release(owner.pages);
        owners.erase(owners.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    std::map<int32_t, int64_t> writers;
    for (const Owner& owner : owners)
      for (size_t p = static_cast<size_t>(owner.shared); p < owner.pages.size(); ++p)
        ++writers[owner.pages[p]];
    for (const auto& [page, count] : writers) ASSERT_EQ(count, 1) << "page " << page;
    ASSERT_LE(cache.in_use() + cache.available(), kPages);
  }
  for (Owner& owner : owners) cache.release(owner.pages);
  EXPECT_EQ(cache.in_use(), 0);
  EXPECT_EQ(cache.available(), kPages);
  std::vector<bool> seen(kPages);
  for (int64_t i = 0; i < kPages; ++i) {
    const int32_t page = cache.take();
    ASSERT_GE(page, 0);
    EXPECT_FALSE(seen[static_cast<size_t>(page)]);
    seen[static_cast<size_t>(page)] = true;
  }
}

}  // namespace
}  // namespace ingot
