#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoint/fixture.h"
#include "checkpoint/manifest.h"
#include "core/error/error.h"
#include "core/text/hex.h"
#include "support/halves.h"

namespace ingot::checkpoint_test {
namespace {

constexpr DataParallel kModes[] = {DataParallel::Replicated, DataParallel::Zero1,
                                   DataParallel::Zero2, DataParallel::FullySharded};

TEST(Checkpoint, WhatWasSavedIsLoadedBitForBit) {
  const auto storage = empty_run();
  save(*storage, 100);
  EXPECT_EQ(list_checkpoints(*storage, kRun), (std::vector<std::string>{step_dir(100)}));
  expect_loads(storage, step_dir(100), 100);
}

TEST(Checkpoint, AnyNumberOfRanksReadsWhatAnyNumberWrote) {
  for (const int writers : {1, 2, 4}) {
    for (const DataParallel written_as : kModes) {
      const auto storage = empty_run();
      save(*storage, 3, writers, written_as);
      for (const int readers : {1, 2, 3, 4}) {
        for (const DataParallel read_as : kModes) {
          SCOPED_TRACE(std::to_string(writers) + " to " + std::to_string(readers));
          expect_loads(storage, step_dir(3), 3, readers, read_as);
        }
      }
    }
  }
}

TEST(Checkpoint, ResavedOnOneTwoFourAndOneRanksItStaysBitEqual) {
  const auto storage = empty_run();
  save(*storage, 5);
  const std::string first = read_text(*storage, step_dir(5) + "/rank_0.safetensors");
  for (const int ranks : {2, 4, 1}) {
    run_local_ranks(ranks, Device::cpu(), [&](World& world) {
      Rank rank(world, DataParallel::FullySharded);
      const RunState state =
          load_checkpoint(CheckpointReader(storage, step_dir(5)), rank.parameters, *rank.store);
      save_checkpoint(*storage, world.control(), kRun, RunConfig{}, state, rank.parameters,
                      *rank.store, {});
    });
    expect_loads(storage, step_dir(5), 5);
  }
  EXPECT_EQ(read_text(*storage, step_dir(5) + "/rank_0.safetensors"), first);
}

// Of the tensors in the files of all ranks, without headers.
int64_t data_bytes(Storage& storage, int64_t step, int ranks) {
  int64_t bytes = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string file =
        read_text(storage, step_dir(step) + "/rank_" + std::to_string(rank) + ".safetensors");
    const auto header_bytes = static_cast<int64_t>(static_cast<unsigned char>(file[0])) +
                              256 * static_cast<int64_t>(static_cast<unsigned char>(file[1]));
    bytes += static_cast<int64_t>(file.size()) - 8 - header_bytes;
  }
  return bytes;
}

TEST(Checkpoint, ReplicasWriteEachElementOnce) {
  for (const DataParallel mode : kModes) {
    const auto storage = empty_run();
    save(*storage, 1, 4, mode);
    EXPECT_EQ(data_bytes(*storage, 1, 4), (15 + 7 + 305 + 1) * 3 * 4);
  }
}

TEST(Checkpoint, Bf16MomentsAreKeptAsTheyAreOnAnyNumberOfRanks) {
  const auto storage = empty_run();
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    Rank rank(world, DataParallel::FullySharded, DType::F32, DType::BF16);
    rank.fill(4);
    save_checkpoint(*storage, world.control(), kRun, RunConfig{}, state_of(4), rank.parameters,
                    *rank.store, {});
  });
  const CheckpointReader reader(storage, step_dir(4));
  EXPECT_NO_THROW(reader.verify());
  EXPECT_EQ(data_bytes(*storage, 4, 2), (15 + 7 + 305 + 1) * (4 + 2 + 2));
  for (const int ranks : {1, 2, 3})
    for (const DataParallel mode : kModes)
      run_local_ranks(ranks, Device::cpu(), [&](World& world) {
        Rank rank(world, mode, DType::F32, DType::BF16);
        load_checkpoint(reader, rank.parameters, *rank.store);
        rank.expect_filled(4);
      });
  std::vector<float> wide(15);
  reader.read("moment2", "embedding.weight", {0, 15},
              Tensor::contiguous(wide.data(), DType::F32, {15}));
  std::vector<F16> half(15);
  reader.read("moment2", "embedding.weight", {0, 15},
              Tensor::contiguous(half.data(), DType::F16, {15}));
  for (int64_t i = 0; i < 15; ++i) {
    const float value = Bf16::from_float(value_of("moment2", "embedding.weight", i, 4)).to_float();
    EXPECT_EQ(wide[static_cast<size_t>(i)], value);
    EXPECT_EQ(half[static_cast<size_t>(i)].bits, F16::from_float(value).bits);
  }
}

TEST(Checkpoint, F64IsKeptBitForBitOnAnyNumberOfRanks) {
  const auto storage = empty_run();
  run_local_ranks(2, Device::cpu(), [&](World& world) {
    Rank rank(world, DataParallel::FullySharded, DType::F64);
    rank.fill(4);
    save_checkpoint(*storage, world.control(), kRun, RunConfig{}, state_of(4), rank.parameters,
                    *rank.store, {});
  });
  const CheckpointReader reader(storage, step_dir(4));
  EXPECT_NO_THROW(reader.verify());
  EXPECT_EQ(data_bytes(*storage, 4, 2), (15 + 7 + 305 + 1) * 3 * 8);
  for (const int ranks : {1, 2, 3})
    for (const DataParallel mode : kModes)
      run_local_ranks(ranks, Device::cpu(), [&](World& world) {
        Rank rank(world, mode, DType::F64);
        load_checkpoint(reader, rank.parameters, *rank.store);
        rank.expect_filled(4);
      });
}

TEST(Checkpoint, F64IsReadInEveryDtypeAndEveryDtypeAsF64) {
  const auto storage = empty_run();
  const auto world = single_world();
  Rank rank(*world, DataParallel::Replicated, DType::F64);
  rank.fill(1);
  save_checkpoint(*storage, world->control(), kRun, RunConfig{}, state_of(1), rank.parameters,
                  *rank.store, {});
  save(*storage, 2);
  const std::string name = "embedding.weight";
  const auto read = [&]<class T>(int64_t step, std::vector<T> values) {
    CheckpointReader(storage, step_dir(step))
        .read("weight", name, {0, 15}, Tensor::contiguous(values.data(), dtype_of<T>(), {15}));
    return values;
  };
  const auto floats = read(1, std::vector<float>(15));
  const auto bf16 = read(1, std::vector<Bf16>(15));
  const auto f16 = read(1, std::vector<F16>(15));
  const auto doubles = read(2, std::vector<double>(15));
  for (size_t i = 0; i < 15; ++i) {
    const auto at = static_cast<int64_t>(i);
    const float rounded = static_cast<float>(wide_value_of("weight", name, at, 1));
    EXPECT_EQ(floats[i], rounded);
    EXPECT_EQ(bf16[i].bits, Bf16::from_float(rounded).bits);
    EXPECT_EQ(f16[i].bits, F16::from_float(rounded).bits);
    EXPECT_EQ(doubles[i], double{value_of("weight", name, at, 2)});
  }
}

TEST(Checkpoint, SectionsOfTheStateAreKeptAsTheyWereSaid) {
  const auto storage = empty_run();
  const auto world = single_world();
  Rank rank(*world, DataParallel::Replicated);
  rank.fill(6);
  RunState state = state_of(6);
  state.sections = {{"loss_scale", R"({"good":17,"scale":8192.0})"}, {"scales", "[1.5,-2.0]"}};
  save_checkpoint(*storage, world->control(), kRun, RunConfig{}, state, rank.parameters,
                  *rank.store, {});
  EXPECT_EQ(CheckpointReader(storage, step_dir(6)).info().state.sections, state.sections);
  save(*storage, 7);
  EXPECT_TRUE(CheckpointReader(storage, step_dir(7)).info().state.sections.empty());
}

// Where version 1 began to keep them, before there were sections.
TEST(Checkpoint, SectionsOfOldManifestsAreFound) {
  Manifest manifest;
  manifest.config_toml = "";
  nlohmann::json whole = nlohmann::json::parse(to_text(manifest));
  nlohmann::json& body = whole["checkpoint"];
  body["loss_scale"] = {{"scale", 1024.0}, {"good_steps", 5}, {"skipped_steps", 2}};
  body["fp8_scales"] = {1.5, 2.0};
  whole["xxh3"] = hex(hash_text(body.dump()));
  const SavedSections sections = parse_manifest(whole.dump(), "old").state.sections;
  EXPECT_EQ(sections.at("loss_scale"), R"({"good_steps":5,"scale":1024.0,"skipped_steps":2})");
  EXPECT_EQ(sections.at("fp8_scales"), "[1.5,2.0]");
}

TEST(Checkpoint, ComputeWeightsAreRestoredFromTheMasters) {
  const auto storage = empty_run();
  save(*storage, 2);
  const auto world = single_world();
  Rank rank(*world, DataParallel::Replicated, DType::BF16);
  load_checkpoint(CheckpointReader(storage, step_dir(2)), rank.parameters, *rank.store);
  for (const ParameterShard& shard : rank.store->shards()) {
    const std::string& name = rank.parameters[shard.parameter].name;
    const Tensor exact = exact_weights(rank.store->context(), shard, 0, shard.range.size());
    for (int64_t i = 0; i < shard.range.size(); ++i) {
      const float saved = value_of("weight", name, shard.range.begin + i, 2);
      EXPECT_EQ(exact.as<float>()[i], saved);
      EXPECT_EQ(shard.weight.as<Bf16>()[i].bits, test::rounded_half(saved));
    }
  }
}

TEST(Checkpoint, WeightsKeptInHalvesAreSavedExactly) {
  const auto storage = empty_run();
  save(*storage, 2);
  const auto world = single_world();
  Rank halves(*world, DataParallel::Replicated, DType::BF16),
      whole(*world, DataParallel::Replicated);
  const RunState state =
      load_checkpoint(CheckpointReader(storage, step_dir(2)), halves.parameters, *halves.store);
  RunState later = state;
  later.step = 3;
  save_checkpoint(*storage, world->control(), kRun, RunConfig{}, later, halves.parameters,
                  *halves.store, {});
  load_checkpoint(CheckpointReader(storage, step_dir(3)), whole.parameters, *whole.store);
  for (const ParameterShard& shard : whole.store->shards())
    for (int64_t i = 0; i < shard.range.size(); ++i)
      EXPECT_EQ(shard.master.as<float>()[i],
                value_of("weight", whole.parameters[shard.parameter].name, i, 2));
}

TEST(Checkpoint, InfoTellsStateConfigAndSize) {
  const auto storage = empty_run();
  save(*storage, 7, 2, DataParallel::FullySharded, "tokens of a kind");
  const CheckpointReader reader(storage, step_dir(7));
  const CheckpointInfo& info = reader.info();
  EXPECT_EQ(info.dir, step_dir(7));
  EXPECT_EQ(info.state.step, 7);
  EXPECT_EQ(info.config_toml, to_toml(RunConfig{}));
  EXPECT_EQ(info.model, RunConfig{}.model);
  EXPECT_EQ(info.hash, config_hash(RunConfig{}));
  EXPECT_TRUE(info.has_optimizer);
  EXPECT_EQ(info.tokenizer, step_dir(7) + "/tokenizer.bin");
  EXPECT_EQ(read_text(*storage, info.tokenizer), "tokens of a kind");
  int64_t bytes = 0;
  for (const std::string& name : storage->list(step_dir(7))) {
    if (name != "manifest.json") bytes += storage->open(step_dir(7) + "/" + name)->size();
  }
  EXPECT_EQ(info.bytes, bytes);
  EXPECT_NO_THROW(reader.verify());
}

TEST(Checkpoint, RangesAreReadAcrossRankFilesInEveryDtype) {
  const auto storage = empty_run();
  save(*storage, 1, 4);
  const CheckpointReader reader(storage, step_dir(1));
  const std::string name = "embedding.weight";
  EXPECT_EQ(reader.numel(name), 15);
  for (int64_t begin = 0; begin <= 15; ++begin) {
    for (int64_t end = begin; end <= 15; ++end) {
      const int64_t count = end - begin;
      std::vector<float> floats(15);
      std::vector<Bf16> bf16(15);
      std::vector<F16> f16(15);
      reader.read("moment1", name, {begin, end},
                  Tensor::contiguous(floats.data(), DType::F32, {count}));
      reader.read("moment1", name, {begin, end},
                  Tensor::contiguous(bf16.data(), DType::BF16, {count}));
      reader.read("moment1", name, {begin, end},
                  Tensor::contiguous(f16.data(), DType::F16, {1, count}));
      for (int64_t i = 0; i < count; ++i) {
        const float expected = value_of("moment1", name, begin + i, 1);
        EXPECT_EQ(floats[static_cast<size_t>(i)], expected);
        EXPECT_EQ(bf16[static_cast<size_t>(i)].bits, Bf16::from_float(expected).bits);
        EXPECT_EQ(f16[static_cast<size_t>(i)].bits, F16::from_float(expected).bits);
      }
    }
  }
  std::vector<float> one(16);
  const auto out = [&](int64_t n) { return Tensor::contiguous(one.data(), DType::F32, {n}); };
  EXPECT_THROW(reader.read("weight", name, {0, 16}, out(16)), Error);
  EXPECT_THROW(reader.read("weight", "no.such", {0, 1}, out(1)), Error);
  EXPECT_THROW(reader.read("moment3", name, {0, 1}, out(1)), Error);
  EXPECT_THROW(reader.read("weight", name, {0, 2}, out(1)), Error);
}

TEST(Checkpoint, ACheckpointOfAnotherModelIsRefused) {
  const auto storage = empty_run();
  save(*storage, 1);
  const auto world = single_world();
  Rank rank(*world, DataParallel::Replicated);
  TensorTable other;
  for (TensorSpec row : rank.parameters.rows()) {
    if (row.name == "layers.0.out.weight") row.shape = {6};
    other.add(row);
  }
  try {
    load_checkpoint(CheckpointReader(storage, step_dir(1)), other, *rank.store);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Data);
    EXPECT_NE(std::string(error.what()).find("layers.0.out.weight"), std::string::npos);
  }
}

TEST(Checkpoint, WeightsAloneLoadWithMomentsAtZero) {
  const auto storage = empty_run();
  const TensorTable parameters = small_parameters();
  const MadeWeights weights(
      [](const std::string& name, int64_t i) { return value_of("weight", name, i, 9); });
  write_weights(*storage, "out", parameters, weights, {});
  const CheckpointReader reader(storage, "out");
  EXPECT_FALSE(reader.info().has_optimizer);
  EXPECT_EQ(reader.info().tokenizer, "byte");
  const auto world = single_world();
  Rank rank(*world, DataParallel::Replicated);
  rank.fill(1);
  load_checkpoint(reader, rank.parameters, *rank.store);
  rank.for_each([&](const auto& what, const auto& name, ShardRange range, const Tensor& tensor) {
    for (int64_t i = 0; i < range.size(); ++i) {
      EXPECT_EQ(tensor.template as<float>()[i],
                what == "weight" ? value_of(what, name, i, 9) : 0.0f);
    }
  });
  EXPECT_EQ(CheckpointChoice(storage, "out").use().info().dir, "out");
}

TEST(Checkpoint, WeightsAloneAreAModelAndNoRunAlsoWhereTheyWereKeptAsOne) {
  const auto storage = empty_run();
  const ModelConfig model = model_preset("qwen3_0.6b");
  const MadeWeights weights([](const std::string&, int64_t) { return 1.0f; }, model);
  write_weights(*storage, "out", small_parameters(), weights, {});
  const auto expect_model = [&] {
    const CheckpointInfo info = CheckpointReader(storage, "out").info();
    EXPECT_EQ(info.model, model);
    EXPECT_EQ(info.config_toml, to_toml(model));
    EXPECT_EQ(info.config_toml.find("preset"), std::string::npos);
    EXPECT_EQ(info.config_toml.find("[optim]"), std::string::npos);
  };
  expect_model();
  Manifest manifest = parse_manifest(read_text(*storage, "out/manifest.json"), "");
  RunConfig config;
  config.model = model;
  manifest.config_toml = to_toml(config);
  write_file_atomically(*storage, "out/manifest.json", to_text(manifest));
  expect_model();
}

TEST(Checkpoint, WeightsInSeveralFilesAreTheSame) {
  const auto storage = empty_run();
  const TensorTable parameters = small_parameters();
  const MadeWeights weights(
      [](const std::string& name, int64_t i) { return value_of("weight", name, i, 9); });
  write_weights(*storage, "out", parameters, weights, {}, /*file_bytes=*/16);
  EXPECT_TRUE(storage->exists("out/rank_1.safetensors"));
  const CheckpointReader reader(storage, "out");
  reader.verify();
  for (const TensorSpec& row : parameters.rows()) {
    std::vector<float> values(static_cast<size_t>(row.shape.numel()));
    reader.read("weight", row.name, {0, row.shape.numel()},
                Tensor::contiguous(values.data(), DType::F32, row.shape));
    for (int64_t i = 0; i < row.shape.numel(); ++i)
      EXPECT_EQ(values[static_cast<size_t>(i)], value_of("weight", row.name, i, 9)) << row.name;
  }
}

TEST(Checkpoint, ABadWeightInOneOfSeveralFilesLeavesNothing) {
  const auto storage = empty_run();
  const TensorTable parameters = small_parameters();
  const std::string last = parameters.rows().back().name;
  const MadeWeights weights([&](const std::string& name, int64_t) {
    return name == last ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
  });
  EXPECT_THROW(write_weights(*storage, "out", parameters, weights, {}, 16), Error);
  EXPECT_EQ(storage->list("."), (std::vector<std::string>{"runs"}));
}

TEST(Checkpoint, ExportReplacesNothingAndSaysWhatIsThere) {
  const auto storage = empty_run();
  const TensorTable parameters = small_parameters();
  const MadeWeights ones([](const std::string&, int64_t) { return 1.0f; });
  const auto refusal = [&](const std::string& dir) -> std::string {
    try {
      write_weights(*storage, dir, parameters, ones, {.origin = {.path = "somewhere"}});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Usage);
      return error.what();
    }
    return "";
  };
  storage->make_directories("out");
  EXPECT_EQ(refusal("out"), "");
  EXPECT_NE(refusal("out").find("a model that was imported from somewhere"), std::string::npos);
  save(*storage, 3);
  EXPECT_NE(refusal(step_dir(3)).find("a checkpoint of step 3, 3000 tokens"), std::string::npos);
  EXPECT_EQ(storage->list("."), (std::vector<std::string>{"out", "runs"}));
  storage->make_directories("home");
  overwrite(*storage, "home/thesis", "years of work");
  EXPECT_NE(refusal("home").find("no checkpoint"), std::string::npos);
  EXPECT_EQ(storage->list("home"), (std::vector<std::string>{"thesis"}));
}

}  // namespace
}  // namespace ingot::checkpoint_test
