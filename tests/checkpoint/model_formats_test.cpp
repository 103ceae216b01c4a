#include "checkpoint/models/model_formats.h"

#include <gtest/gtest.h>

#include <set>

#include "checkpoint/hf_fixture.h"
#include "checkpoint/models/import_model.h"
#include "core/error/error.h"
#include "remote/remote_settings.h"
#include "support/source_path.h"

namespace ingot::checkpoint_test {
namespace {

// A model that every format can express.
std::unique_ptr<Weights> plain_model() {
  ModelConfig model = parse_hf_config(llama_config().dump(), "").model;
  model.tied = true;
  return std::make_unique<MadeWeights>(hf_value, model);
}

// Where an export of the format lies, as an import wants it.
std::string exported(Storage& storage, const ModelFormat& format, const std::string& dtype) {
  export_model(storage, format, *plain_model(), {}, {.path = "out", .dtype = dtype});
  return storage.exists("out/model.bin") ? "out/model.bin" : "out";
}

TEST(ModelFormats, EachKnowsItsOwnFilesAndNoOthers) {
  for (const ModelFormat& format : model_formats()) {
    const auto storage = memory_storage();
    const std::string path = exported(*storage, format, std::string(kStoredDType));
    EXPECT_EQ(foreign_format_of(*storage, path), &format) << format.name;
    for (const ModelFormat& other : model_formats())
      EXPECT_EQ(other.recognises(*storage, path), &other == &format) << format.name << other.name;
    EXPECT_FALSE(format.recognises(*storage, "none.bin")) << format.name;
  }
}

TEST(ModelFormats, EachReadsWhatItWritesInEveryDtype) {
  for (const ModelFormat& format : model_formats())
    for (const std::string_view dtype : format.writes) {
      const auto storage = memory_storage();
      const std::string path = exported(*storage, format, std::string(dtype));
      overwrite(*storage, "tokenizer", "ingot tokenizer: byte\n");
      const auto model = open_for_import(storage, path, {});
      EXPECT_EQ(model->info().origin.path, path);
      if (!format.has_tokenizer) {
        const std::string said = error_of([&] { model->auxiliary_files(); });
        EXPECT_TRUE(contains(said, "--tokenizer")) << said;
        continue;
      }
      EXPECT_NO_THROW(import_model(*storage, *model, "", "model")) << format.name << dtype;
      const auto imported = open_model(storage, "model");
      EXPECT_EQ(imported->info().model.dim, 8);
      EXPECT_TRUE(std::ranges::find(format.reads, dtype) != format.reads.end());
    }
}

TEST(ModelFormats, ADtypeThatAFormatDoesNotHaveIsRefusedWithThoseItHas) {
  for (const ModelFormat& format : model_formats())
    for (const std::string& dtype : export_dtypes()) {
      const auto storage = memory_storage();
      const std::set<std::string_view> has(format.writes.begin(), format.writes.end());
      const std::string said = error_of([&] { exported(*storage, format, dtype); });
      EXPECT_EQ(said.empty(), dtype == kStoredDType || has.contains(dtype)) << said;
      if (said.empty()) continue;
      EXPECT_TRUE(contains(said, "--dtype " + dtype)) << said;
      EXPECT_TRUE(contains(said, std::string(format.title))) << said;
      EXPECT_TRUE(storage->list(".").empty());
    }
}

TEST(ModelFormats, WhatNoneRecognisesIsRefusedWithAllOfThem) {
  const auto storage = memory_storage();
  overwrite(*storage, "model.pt", "x");
  const std::string said = error_of([&] { open_for_import(storage, "model.pt", {}); });
  for (const ModelFormat& format : model_formats())
    EXPECT_TRUE(contains(said, std::string(format.title))) << said;
  EXPECT_TRUE(contains(said, std::string(kHubModelForm))) << said;
  EXPECT_TRUE(contains(error_of([&] { open_for_import(storage, "none", {}); }), "does not exist"));
}

TEST(ModelFormats, TheirTableInTheDocumentsIsCurrent) {
  const std::string page =
      read_text(*posix_storage(), testing_support::source_path("docs/exchange.md"));
  EXPECT_TRUE(contains(page, model_formats_table()))
      << "docs/exchange.md, replace the table of formats by\n"
      << model_formats_table();
}

}  // namespace
}  // namespace ingot::checkpoint_test
