#include "checkpoint/exchange/llama2c.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/fixture.h"
#include "checkpoint/models/import_model.h"
#include "checkpoint/models/open_model.h"
#include "core/error/error.h"
#include "spec/model/transformer_parameters.h"
#include "support/source_path.h"

namespace ingot::checkpoint_test {
namespace {

struct Header {
  int32_t dim = 8, hidden = 6, layers = 2, heads = 4, kv_heads = 2, vocab = 260, seq = 5;
};

template <class T>
void add(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A file whose floats count up from 0, so that a value tells where in the file it stood.
std::string model_file(const Header& h, int64_t num_floats) {
  std::string file;
  add(file, h);
  for (int64_t i = 0; i < num_floats; ++i) add(file, static_cast<float>(i));
  return file;
}

int64_t num_floats(const Header& h) {
  const int64_t C = h.dim, F = h.hidden, L = h.layers, V = std::abs(h.vocab), D = C / h.heads;
  const int64_t kv = h.kv_heads * D;
  return V * C + L * (C + C * C + 2 * kv * C + C * C + C + 3 * F * C) + C + h.seq * D +
         (h.vocab < 0 ? V * C : 0);
}

std::string tokenizer_file(int vocab) {
  std::string file;
  add(file, int32_t{8});
  for (int id = 0; id < vocab; ++id) {
    std::string piece = "p" + std::to_string(id);
    if (id >= 3 && id < 259) piece = fmt::format("<0x{:02X}>", id - 3);
    add(file, -static_cast<float>(id));
    add(file, static_cast<int32_t>(piece.size()));
    file += piece;
  }
  return file;
}

std::shared_ptr<Storage> with_files(const Header& h, int64_t floats, int tokens = 260) {
  auto storage = memory_storage();
  overwrite(*storage, "model.bin", model_file(h, floats));
  overwrite(*storage, "tok.bin", tokenizer_file(tokens));
  return storage;
}

std::vector<float> tensor_of(const CheckpointReader& reader, const std::string& name) {
  std::vector<float> values(static_cast<size_t>(reader.numel(name)));
  const auto n = static_cast<int64_t>(values.size());
  reader.read("weight", name, {0, n}, Tensor::contiguous(values.data(), DType::F32, {n}));
  return values;
}

TEST(ImportLlama2c, EveryTensorComesFromItsPlaceInTheFile) {
  const Header h;
  const auto storage = with_files(h, num_floats(h));
  import_model(*storage, *open_llama2c_model(storage, "model.bin"), "tok.bin", "out");
  const CheckpointReader reader(storage, "out");
  EXPECT_NO_THROW(reader.verify());
  const ModelConfig& model = reader.info().model;
  EXPECT_EQ(model.dim, 8);
  EXPECT_EQ(model.ffn, 6);
  EXPECT_EQ(model.layers, 2);
  EXPECT_EQ(model.heads, 4);
  EXPECT_EQ(model.kv_heads, 2);
  EXPECT_EQ(model.head_dim, 2);
  EXPECT_EQ(model.vocab, 260);
  EXPECT_EQ(model.context, 5);
  EXPECT_TRUE(model.tied);
  EXPECT_EQ(model.rope.style, RopeStyle::Interleaved);
  EXPECT_EQ(model.rope.theta, 10000.0);
  EXPECT_EQ(model.norm_eps, 1e-5);
  EXPECT_EQ(reader.info().tokenizer, "out/tokenizer.bin");
  EXPECT_EQ(read_text(*storage, "out/tokenizer.bin"), read_text(*storage, "tok.bin"));
  EXPECT_EQ(reader.info().state.step, 0);
  EXPECT_FALSE(reader.info().has_optimizer);

  // Begins of the file's sections, in floats.
  const int64_t att = 260 * 8, wq = att + 2 * 8, wk = wq + 2 * 64, wv = wk + 2 * 32,
                wo = wv + 2 * 32, ffn = wo + 2 * 64, w1 = ffn + 2 * 8, w2 = w1 + 2 * 48,
                w3 = w2 + 2 * 48, last = w3 + 2 * 48;
  const auto expect = [&](const std::string& name,
                          const std::vector<std::pair<int64_t, int64_t>>& pieces) {
    std::vector<float> expected;
    for (const auto& [begin, count] : pieces) {
      for (int64_t i = 0; i < count; ++i) expected.push_back(static_cast<float>(begin + i));
    }
    EXPECT_EQ(tensor_of(reader, name), expected) << name;
  };
  expect("embedding.weight", {{0, 260 * 8}});
  for (int64_t l = 0; l < 2; ++l) {
    expect(layer_name(l, "attn_norm.weight"), {{att + l * 8, 8}});
    expect(layer_name(l, "qkv.weight"), {{wq + l * 64, 64}, {wk + l * 32, 32}, {wv + l * 32, 32}});
    expect(layer_name(l, "out.weight"), {{wo + l * 64, 64}});
    expect(layer_name(l, "mlp_norm.weight"), {{ffn + l * 8, 8}});
    expect(layer_name(l, "up.weight"), {{w1 + l * 48, 48}, {w3 + l * 48, 48}});
    expect(layer_name(l, "down.weight"), {{w2 + l * 48, 48}});
  }
  expect("final_norm.weight", {{last, 8}});
  EXPECT_THROW(reader.numel("head.weight"), Error);
}

TEST(ImportLlama2c, ANegativeVocabularyMeansAHeadOfItsOwn) {
  Header h;
  h.vocab = -260;
  const auto storage = with_files(h, num_floats(h));
  import_model(*storage, *open_llama2c_model(storage, "model.bin"), "tok.bin", "out");
  const CheckpointReader reader(storage, "out");
  EXPECT_FALSE(reader.info().model.tied);
  EXPECT_EQ(tensor_of(reader, "head.weight").back(), static_cast<float>(num_floats(h) - 1));
}

TEST(ImportLlama2c, BadInputIsADataErrorAndWritesNothing) {
  const Header sound;
  const auto expect_refused = [](const std::shared_ptr<Storage>& storage, const std::string& what) {
    const std::vector<std::string> before = storage->list(".");
    try {
      import_model(*storage, *open_llama2c_model(storage, "model.bin"), "tok.bin", "out");
      ADD_FAILURE() << what << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data) << what << ": " << error.what();
    }
    EXPECT_EQ(storage->list("."), before) << what;
  };
  expect_refused(with_files(sound, num_floats(sound) - 1), "a short file");
  expect_refused(with_files(sound, num_floats(sound) + 1), "a long file");
  expect_refused(with_files(sound, 0), "a header alone");
  expect_refused(with_files(sound, num_floats(sound), 261), "another model's tokenizer");
  for (const auto& damage : std::vector<std::function<void(Header&)>>{
           [](Header& h) { h.heads = 3; },
           [](Header& h) { h.kv_heads = 3; },
           [](Header& h) { h.dim = 0; },
           [](Header& h) { h.layers = -1; },
           [](Header& h) { h.hidden = 2000000000; },
           [](Header& h) { h.vocab = INT32_MIN; },
           [](Header& h) { h.seq = 0; },
       }) {
    Header h;
    damage(h);
    expect_refused(with_files(h, num_floats(sound)), "a damaged header");
  }
  const auto tiny = memory_storage();
  overwrite(*tiny, "model.bin", "tiny");
  expect_refused(tiny, "a file shorter than its header");
  expect_refused(memory_storage(), "a missing file");
}

TEST(ExportLlama2c, TheFileThatWasReadIsWrittenAgain) {
  for (const int32_t vocab : {260, -260}) {
    Header h;
    h.vocab = vocab;
    const auto storage = with_files(h, num_floats(h));
    import_model(*storage, *open_llama2c_model(storage, "model.bin"), "tok.bin", "out");
    const CheckpointReader reader(storage, "out");
    export_llama2c(*storage, *weights_of(reader), reader.auxiliary_files(), "again");
    std::string expected = read_text(*storage, "model.bin");
    std::string written = read_text(*storage, "again/model.bin");
    ASSERT_EQ(written.size(), expected.size());
    // The rotary tables hold numbers here and counted up there: 5 positions of a head of 2.
    const size_t tables = 4 * 5 * 2;
    const size_t at = written.size() - tables - (vocab < 0 ? 4 * 260 * 8 : 0);
    EXPECT_EQ(written.substr(0, at), expected.substr(0, at));
    EXPECT_EQ(written.substr(at + tables), expected.substr(at + tables));
    float cosines[2];
    std::memcpy(cosines, written.data() + at, sizeof(cosines));
    EXPECT_FLOAT_EQ(cosines[0], 1.0f);
    EXPECT_FLOAT_EQ(cosines[1], std::cos(1.0f));
    EXPECT_EQ(read_text(*storage, "again/tokenizer.bin"), read_text(*storage, "tok.bin"));
  }
}

TEST(ExportLlama2c, AModelThatTheFormatCannotSayIsRefused) {
  ModelConfig model;
  model.qk_norm = true;
  const MadeWeights weights([](const std::string&, int64_t) { return 1.0f; }, model);
  const auto storage = memory_storage();
  EXPECT_THROW(export_llama2c(*storage, weights, {}, "out"), Error);
  EXPECT_TRUE(storage->list(".").empty());
}

TEST(ImportLlama2c, TheGoldenModelIsRead) {
  const std::string weights = testing_support::source_path("../shared/data/weights/");
  const auto storage = posix_storage();
  if (!storage->exists(weights + "stories260K.bin")) {
    GTEST_SKIP() << "no stories260K.bin beside the checkout";
  }
  const std::string out = ::testing::TempDir() + "/ingot_import_" + std::to_string(::getpid());
  import_model(*storage, *open_llama2c_model(storage, weights + "stories260K.bin"),
               weights + "tok512.bin", out);
  const CheckpointReader reader(storage, out);
  EXPECT_NO_THROW(reader.verify());
  EXPECT_EQ(reader.info().model.vocab, 512);
  EXPECT_EQ(reader.info().model.kv_heads, 4);
  int64_t numel = 0;
  const TensorTable parameters = transformer_parameters(reader.info().model);
  for (const TensorSpec& row : parameters.rows()) numel += reader.numel(row.name);
  EXPECT_EQ(numel, 264128 - 2 * 512 * 4);
  storage->remove(out);
}

}  // namespace
}  // namespace ingot::checkpoint_test
