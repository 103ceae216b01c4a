#include "spec/table/tensor_table.h"

#include <gtest/gtest.h>

#include "spec/error_text.h"

namespace ingot {
namespace {

TensorSpec named(std::string name) {
  TensorSpec spec;
  spec.name = std::move(name);
  spec.shape = {2, 3};
  return spec;
}

TEST(TensorTable, RowsAreFoundByName) {
  TensorTable table;
  const TensorId a = table.add(named("a"));
  const TensorId b = table.add(named("b"));
  EXPECT_EQ(table.find("a"), a);
  EXPECT_EQ(table.find("b"), b);
  EXPECT_EQ(table[b].name, "b");
  EXPECT_EQ(table[b].bytes(), 24);
  EXPECT_FALSE(table.try_find("c").valid());
}

TEST(TensorTable, MistakesAreRefusedByName) {
  TensorTable table;
  table.add(named("a"));
  EXPECT_EQ(error_text([&] { table.add(named("a")); }, ErrorCode::Internal),
            "the tensor table already has a row named a");
  EXPECT_EQ(error_text([&] { table.find("c"); }, ErrorCode::Internal),
            "the tensor table has no row named c");
  TensorSpec backwards = named("b");
  backwards.lives = {{3, 2}};
  EXPECT_EQ(error_text([&] { table.add(backwards); }, ErrorCode::Internal),
            "b expected lives in order that end after they begin, got ticks 3 to 2 after -1");
  backwards.lives = {{0, 2}, {2, 3}};
  EXPECT_EQ(error_text([&] { table.add(backwards); }, ErrorCode::Internal),
            "b expected lives in order that end after they begin, got ticks 2 to 3 after 2");
  backwards.lives.clear();
  EXPECT_EQ(error_text([&] { table.add(backwards); }, ErrorCode::Internal),
            "b expected a life, got none");
  EXPECT_FALSE(table.try_find("b").valid());
}

}  // namespace
}  // namespace ingot
