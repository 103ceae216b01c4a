// Documents that stand in several sources are found, whatever they are called.
#include "feed/same_content.h"

#include <gtest/gtest.h>

#include "feed/counting_source.h"
#include "feed/open_source.h"
#include "support/files.h"
#include "support/small_shards.h"

namespace ingot {
namespace {

using testing_support::CountingSource;
using testing_support::SmallDocument;
using testing_support::TemporaryFolder;

class SameContent : public ::testing::Test {
 protected:
  NamedSource shards(const std::string& name, const std::vector<std::string>& texts,
                     const std::string& prefix = "") {
    std::vector<SmallDocument> documents;
    for (size_t i = 0; i < texts.size(); ++i)
      documents.push_back({"web", prefix + std::to_string(i), texts[i]});
    testing_support::write_small_shards(folder_.path(name), documents, 40);
    return open(name);
  }
  NamedSource texts(const std::string& name, const std::vector<std::string>& files) {
    for (size_t i = 0; i < files.size(); ++i)
      folder_.write(name + "/" + std::to_string(i) + ".txt", files[i]);
    return open(name);
  }
  NamedSource open(const std::string& name) {
    sources_.push_back(
        open_token_source(folder_.path(name), *byte_tokenizer(), TokenDType::Auto, 257));
    return {name, sources_.back().get()};
  }

  TemporaryFolder folder_;
  std::vector<std::unique_ptr<TokenSource>> sources_;
};

const std::vector<std::string> kTexts = {"one text", "another text", "a third", "the fourth text"};

TEST_F(SameContent, OfShardsAndTextIsTheSame) {
  const NamedSource a = shards("a", kTexts), b = texts("b", kTexts);
  for (int64_t d = 0; d < 4; ++d) EXPECT_EQ(a.source->content(d), b.source->content(d));
  EXPECT_EQ(a.source->content_cost(), 0);
  EXPECT_GT(b.source->content_cost(), 0);
}

TEST_F(SameContent, OverlapsAreCountedBothWaysRound) {
  const std::vector<NamedSource> sources = {
      shards("a", kTexts), shards("b", {"a third", "new", "another text"}, "x"),
      texts("c", {"one text"}), shards("d", {"nothing of it"})};
  const std::vector<Overlap> overlaps = overlaps_among(sources);
  const auto between = [&](size_t of, size_t in) {
    for (const Overlap& overlap : overlaps)
      if (overlap.of == of && overlap.in == in) return overlap;
    return Overlap{};
  };
  EXPECT_EQ(overlaps.size(), 4u);
  EXPECT_EQ(between(0, 1).documents, 2);
  EXPECT_EQ(between(1, 0).documents, 2);
  EXPECT_EQ(between(0, 2).documents, 1);
  EXPECT_FALSE(between(0, 1).all);
  EXPECT_FALSE(between(0, 2).all);
  EXPECT_TRUE(between(2, 0).all);
}

TEST_F(SameContent, AnotherOrderAndOtherNamesAreNoOtherContent) {
  const std::vector<NamedSource> sources = {shards("a", kTexts),
                                            shards("b", {kTexts.rbegin(), kTexts.rend()}, "x")};
  const std::vector<Overlap> overlaps = overlaps_among(sources);
  ASSERT_EQ(overlaps.size(), 2u);
  for (const Overlap& overlap : overlaps) {
    EXPECT_TRUE(overlap.all);
    EXPECT_EQ(overlap.documents, 4);
  }
}

TEST_F(SameContent, TokensWithoutDocumentsAreComparedAsAWhole) {
  const CountingSource a(100), b(100), c(101);
  const std::vector<NamedSource> sources = {{"a", &a}, {"b", &b}, {"c", &c}};
  const std::vector<Overlap> overlaps = overlaps_among(sources);
  ASSERT_EQ(overlaps.size(), 2u);
  EXPECT_TRUE(overlaps[0].all);
  EXPECT_EQ(overlaps[0].of + overlaps[0].in, 1u);
}

TEST_F(SameContent, WhatIsHeldOutIsFoundInWhatIsTrainedOn) {
  const NamedSource valid = shards("valid", {"new", "a third", "one text", "one text"}, "v");
  for (const NamedSource& train : {shards("shards", kTexts), texts("texts", kTexts)}) {
    const SharedDocuments shared = documents_in_both(std::span(&valid, 1), std::span(&train, 1));
    EXPECT_EQ(shared.documents, 3) << train.name;
    EXPECT_EQ(shared.of, 4);
    EXPECT_EQ(shared.held_out.source, "valid");
    EXPECT_EQ(shared.held_out.document.front(), 'v');
    EXPECT_EQ(shared.trained.source, train.name);
    EXPECT_TRUE(shared.not_compared.empty());
  }
  const NamedSource other = shards("other", {"x", "y"});
  EXPECT_EQ(documents_in_both(std::span(&valid, 1), std::span(&other, 1)).documents, 0);
}

TEST_F(SameContent, ADocumentThatIsCutIsAnother) {
  const NamedSource whole = shards("a", kTexts);
  const auto tail = subrange(*whole.source, 3, whole.source->num_tokens());
  EXPECT_EQ(tail->content(0), std::nullopt);
  for (int64_t d = 1; d < 4; ++d) EXPECT_EQ(tail->content(d), whole.source->content(d));
}

}  // namespace
}  // namespace ingot
