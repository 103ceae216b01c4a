#include "tokenizer/same_ids.h"

#include <gtest/gtest.h>

#include "tokenizer/llama2c_file.h"
#include "tokenizer/small_bpe.h"

namespace ingot {
namespace {

using testing_support::add_merge;
using testing_support::add_special;
using testing_support::bytes_only;

std::unique_ptr<Tokenizer> made_of(BpeModel model) {
  return bpe_tokenizer(std::move(model), "test");
}

BpeModel small() {
  BpeModel model = bytes_only();
  add_merge(model, "t", "h");
  add_merge(model, "th", "e");
  add_merge(model, "i", "n");
  add_special(model, "<|end|>");
  return model;
}

// Both ways round: what is there more or less.
void expect_same(const Tokenizer& a, const Tokenizer& b) {
  EXPECT_EQ(id_difference(a, b), "");
  EXPECT_EQ(id_difference(b, a), "");
}
void expect_other(const Tokenizer& a, const Tokenizer& b) {
  EXPECT_NE(id_difference(a, b), "");
  EXPECT_NE(id_difference(b, a), "");
}

TEST(SameIds, OfOneTokenizerInTwoFormats) {
  const auto storage = memory_storage();
  const auto ranks = made_of(small());
  write_file_atomically(*storage, "tok.json", ranks->serialize());
  expect_same(*ranks, *load_tokenizer(*storage, "tok.json"));
  expect_same(*byte_tokenizer(), *byte_tokenizer());
}

TEST(SameIds, WithMoreSpecialTokens) {
  BpeModel more = small();
  add_special(more, "<|user|>");
  add_special(more, "<|assistant|>");
  expect_same(*made_of(small()), *made_of(more));
  expect_same(*made_of(bytes_only()), *byte_tokenizer());
}

TEST(SameIds, NotWhereAnIdStandsForOtherText) {
  BpeModel other = bytes_only();
  add_merge(other, "t", "h");
  add_merge(other, "th", "a");
  add_merge(other, "i", "n");
  add_special(other, "<|end|>");
  EXPECT_EQ(id_difference(*made_of(small()), *made_of(other)),
            "id 257 is «the» there and «tha» here");
  expect_other(*made_of(small()), *made_of(other));
  expect_other(*made_of(small()), *byte_tokenizer());
}

TEST(SameIds, NotWithMorePieces) {
  BpeModel more = small();
  add_merge(more, "in", "the");
  expect_other(*made_of(small()), *made_of(more));
  add_special(more, "<tool>", /*special=*/false);
  expect_other(*made_of(small()), *made_of(more));
}

TEST(SameIds, NotWhereTheSamePiecesAreJoinedOtherwise) {
  BpeModel other = small();
  std::swap(other.merges[0], other.merges[2]);
  expect_same(*made_of(small()), *made_of(other));  // they do not compete
  BpeModel competing = small();
  add_merge(competing, "h", "i");
  BpeModel reversed = competing;
  std::swap(reversed.merges[2], reversed.merges[3]);
  expect_other(*made_of(competing), *made_of(reversed));
}

TEST(SameIds, NotWhereTextIsCutOtherwise) {
  BpeModel digits = small();
  add_merge(digits, "1", "2");
  add_merge(digits, "12", "3");
  add_merge(digits, "123", "4");
  BpeModel other = digits;
  other.split = Split::Cl100k;  // numbers in threes
  expect_other(*made_of(digits), *made_of(other));
}

TEST(SameIds, OfTokenizersThatRefuseWhatTheyCannotSpell) {
  const auto a = parse_llama2c_tokenizer(testing_support::small_llama2c_file(), "a");
  expect_same(*a, *a);
  expect_other(
      *a, *parse_llama2c_tokenizer(testing_support::llama2c_file({{" ", -1}, {"x", -2}}), "b"));
}

}  // namespace
}  // namespace ingot
