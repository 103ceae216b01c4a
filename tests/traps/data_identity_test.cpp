// Traps of what data is: its content, not its name. docs/traps.md.
#include <nlohmann/json.hpp>

#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;

class DataIdentityTrap : public Trap {
 protected:
  // Documents `first` to `last` of a corpus, all different, of 400 to 900 bytes.
  static std::vector<std::string> texts(int first, int last) {
    std::vector<std::string> all;
    for (int i = first; i < last; ++i) {
      std::string text;
      for (int line = 0; line < 20 + i % 20; ++line)
        text += "line " + std::to_string(line) + " of " + std::to_string(i) + ".\n";
      all.push_back(text);
    }
    return all;
  }
  static std::string lines(const std::vector<std::string>& texts) {
    std::string file;
    for (const std::string& text : texts) file += json{{"text", text}}.dump() + "\n";
    return file;
  }
  // A folder of shards of these documents.
  void tokenize(const std::vector<std::string>& texts, const std::string& out) const {
    write("of_" + out + "/a.jsonl", lines(texts));
    const Outcome outcome =
        ingot({"data", "tokenize", path("of_" + out), "--tokenizer", "byte", "--out", path(out)});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  Outcome train(const std::string& run, const std::string& data, const Args& sets = {},
                const Args& more = {}) const {
    Args all = {"data.train=" + path(data)};
    all.insert(all.end(), sets.begin(), sets.end());
    return ingot(with(train_args(run, all), more));
  }
  void expect_refused(const Outcome& outcome, const Args& parts) const {
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.out << outcome.err;
    for (const std::string& part : parts) EXPECT_TRUE(contains(outcome.err, part)) << outcome.err;
  }
  // The lowest bit of these bytes: an id becomes its neighbour.
  void flip(const std::string& name, const std::vector<size_t>& places) const {
    std::string bytes = slurp(root_ / name);
    for (const size_t at : places) bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1);
    write(name, bytes);
  }
  // As a program leaves it that wrote no hashes of chunks.
  void forget_hashes(const std::string& folder) const {
    fs::remove(root_ / folder / "00000.hashes");
    json manifest = json::parse(slurp(root_ / folder / "manifest.json"));
    for (json& shard : manifest.at("shards")) shard.erase("hashes_hash");
    write(folder + "/manifest.json", manifest.dump());
  }
  std::string mixture(const Args& paths) const {
    std::string text;
    for (const std::string& source : paths) text += "[[source]]\npath = \"" + source + "\"\n";
    write("mix.toml", text);
    return "mix.toml";
  }
};

// Of each 64 KiB of the tokens one byte.
const std::vector<size_t> kOfEachChunk = {100, 65'536 + 100};

TEST_F(DataIdentityTrap, AShardWhoseBytesWereChangedIsNotTrainedOn) {
  tokenize(texts(0, 100), "ss");
  flip("ss/00000.tokens", kOfEachChunk);
  expect_refused(train("run", "ss"), {"00000.tokens: tokens [", "changed", "ingot data verify"});
  flip("ss/00000.tokens", kOfEachChunk);
  EXPECT_EQ(train("run", "ss", {}, {"--resume"}).code, 0);
}

TEST_F(DataIdentityTrap, AShardWhoseBytesWereChangedIsNotResumedOn) {
  tokenize(texts(0, 100), "ss");
  ASSERT_EQ(train("run", "ss", {"train.steps=2"}).code, 0);
  flip("ss/00000.tokens", kOfEachChunk);
  expect_refused(train("run", "ss", {}, {"--resume"}), {"00000.tokens: tokens [", "changed"});
  flip("ss/00000.tokens", kOfEachChunk);
  const Outcome resumed = train("run", "ss", {}, {"--resume", "--json"});
  EXPECT_EQ(result_of(resumed).value("step", 0), 6) << resumed.err;
}

TEST_F(DataIdentityTrap, AChangedDocumentIndexIsNotTrainedOn) {
  tokenize(texts(0, 100), "ss");
  flip("ss/00000.documents", {10 * 32});  // where a document ends, by one token
  expect_refused(train("run", "ss", {"data.packing=best_fit"}),
                 {"00000.documents: documents [", "changed"});
}

TEST_F(DataIdentityTrap, ShardsOfAnOlderProgramAreComparedToo) {
  tokenize(texts(0, 100), "ss");
  forget_hashes("ss");
  EXPECT_EQ(train("good", "ss").code, 0);
  flip("ss/00000.tokens", kOfEachChunk);
  expect_refused(train("run", "ss"), {"00000.tokens: the file changed"});
}

TEST_F(DataIdentityTrap, AMixtureThatNamesAFolderTwiceIsRefused) {
  tokenize(texts(0, 100), "ss");
  tokenize(texts(100, 150), "other");
  fs::create_directory_symlink(root_ / "ss", root_ / "link");
  fs::copy(root_ / "ss", root_ / "copy");
  for (const char* again : {"ss", "ss/", "./ss", "link", "copy"})
    expect_refused(
        train("run", mixture({"ss", "other", again})),
        {"the same content twice", path("ss"), "data.max_epochs=", "remove one of them"});
  EXPECT_EQ(train("run", mixture({"ss", "other"})).code, 0);
}

// Made again in other shards, under another name; and a text beside the folder it lies in.
TEST_F(DataIdentityTrap, AMixtureOfTheSameDocumentsInOtherFilesIsRefused) {
  tokenize(texts(0, 100), "ss");
  ASSERT_EQ(ingot({"data", "tokenize", "--source", "web=" + path("of_ss"), "--tokenizer", "byte",
                   "--shard-tokens", "20000", "--out", path("again")})
                .code,
            0);
  expect_refused(train("run", mixture({"ss", "again"})), {"the same content twice"});
  write("books/a.txt", texts(0, 1)[0]);
  write("books/b.txt", texts(1, 2)[0]);
  expect_refused(train("run", mixture({"books", "books/a.txt"})),
                 {"the same content twice", "books/a.txt"});
}

TEST_F(DataIdentityTrap, PassesOverTheSameContentCountTogether) {
  tokenize(texts(0, 100), "ss");
  const std::string mix = mixture({"ss", "./ss"});
  const Args steps = {"train.steps=2000"};  // 64,000 tokens of 41,000
  expect_refused(train("run", mix, with(steps, {"data.max_epochs=1"})),
                 {"the same content twice", "max_epochs allows 1"});
  const Outcome outcome = train("run", mix, {"train.steps=20", "data.max_epochs=1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "same_content")) << outcome.err;
}

TEST_F(DataIdentityTrap, SeenCountsSamplesThatTwoNamesShare) {
  tokenize(texts(0, 20), "ss");
  ASSERT_EQ(train("run", mixture({"ss", "./ss"}),
                  {"train.steps=400", "data.max_epochs=9", "train.eval_tokens=16"})
                .code,
            0);
  const Outcome seen = ingot({"data", "seen", path("run"), "--json"});
  const json result = result_of(seen);
  EXPECT_FALSE(contains(seen.out, "no sample was used twice")) << seen.out;
  // 800 samples were drawn; what was used once more than it exists was used twice.
  const int64_t used = result.at("samples"), repeated = result.at("repeated_samples");
  EXPECT_GT(repeated, 100);
  EXPECT_EQ(result.at("unique_tokens"), 16 * (used - repeated)) << seen.out;
}

TEST_F(DataIdentityTrap, ValidatingOnWhatIsTrainedOnIsRefusedUnlessAccepted) {
  tokenize(texts(0, 100), "ss");
  fs::copy(root_ / "ss", root_ / "copy");
  fs::copy(root_ / "text.txt", root_ / "copy.txt");
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {"ss", "ss"}, {"ss", "copy"}, {"text.txt", "text.txt"}, {"text.txt", "copy.txt"}};
  for (const auto& [data, valid] : pairs)
    expect_refused(train("run", data, {"data.valid=" + path(valid)}),
                   {path(valid), "data.valid_in_train=true"});
  EXPECT_FALSE(fs::exists(root_ / "run"));
  const Outcome accepted =
      train("run", "ss", {"data.valid=" + path("ss"), "data.valid_in_train=true"});
  EXPECT_EQ(accepted.code, 0) << accepted.err;
  EXPECT_TRUE(contains(slurp(root_ / "run/run.toml"), "valid_in_train = true"));
}

TEST_F(DataIdentityTrap, ADocumentThatIsHeldOutAndTrainedOnIsRefused) {
  tokenize(texts(0, 100), "ss");
  std::vector<std::string> some = texts(100, 110);
  tokenize(some, "apart");
  some.push_back(texts(42, 43)[0]);
  tokenize(some, "valid");
  write("books/one.txt", texts(7, 8)[0]);
  write("books/two.txt", texts(200, 201)[0]);
  expect_refused(train("run", "ss", {"data.valid=" + path("valid")}),
                 {"1 of its 11 documents are in data.train too", path("valid")});
  expect_refused(train("run", "ss", {"data.valid=" + path("books")}),
                 {"1 of its 2 documents", "one.txt"});
  expect_refused(train("run", "books", {"data.valid=" + path("ss")}), {"1 of its 100 documents"});
  forget_hashes("ss");
  expect_refused(train("run", "ss", {"data.valid=" + path("valid")}), {"1 of its 11 documents"});
  EXPECT_EQ(train("run", "ss", {"data.valid=" + path("apart")}).code, 0);
}

TEST_F(DataIdentityTrap, CopiesInTheTailThatIsHeldOutAreCounted) {
  std::vector<std::string> all = texts(0, 100);
  all.push_back(all[3]);
  tokenize(all, "ss");
  const Outcome outcome = train("run", "ss");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "valid_in_train")) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "1 of")) << outcome.err;
}

// What a new run is refused for, a run that was begun so may go on with.
TEST_F(DataIdentityTrap, WhatWasBegunGoesOnWithAWarning) {
  tokenize(texts(0, 100), "ss");
  ASSERT_EQ(train("twice", mixture({"ss", "./ss"}), {"train.steps=2", "data.max_epochs=9"}).code,
            0);
  const Outcome twice = train("twice", "mix.toml", {}, {"--resume"});
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_TRUE(contains(twice.err, "the same content twice")) << twice.err;
  const std::string valid = "data.valid=" + path("ss");
  ASSERT_EQ(train("same", "ss", {"train.steps=2", valid, "data.valid_in_train=true"}).code, 0);
  const Outcome same = train("same", "ss", {valid, "data.valid_in_train=false"}, {"--resume"});
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_TRUE(contains(same.err, "the validation loss would be")) << same.err;
  ASSERT_EQ(train("text", "text.txt", {"train.steps=2"}).code, 0);
  fs::copy(root_ / "text.txt", root_ / "text.jsonl");
  const Outcome text = train("text", "text.jsonl", {}, {"--resume"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.err, "documents of another kind")) << text.err;
}

TEST_F(DataIdentityTrap, DocumentsThatAreNoTextAreNotTrainedOnAsText) {
  write("a.jsonl", lines(texts(0, 100)));
  write("a.csv", "text\n" + slurp(root_ / "text.txt"));
  write("columns", "PAR1" + slurp(root_ / "text.txt"));
  ASSERT_EQ(shell("gzip -k text.txt && cp text.txt.gz packed.txt && cp text.txt plain.zst").code,
            0);
  for (const char* name : {"a.jsonl", "a.csv", "columns", "text.txt.gz", "packed.txt", "plain.zst"})
    expect_refused(train("run", name), {path(name), "ingot data tokenize", "--tokenizer byte",
                                        "--out SHARDS", "--set data.train=SHARDS"});
  expect_refused(ingot({"train", path("recipe.toml"), "--set", "data.train=hf://datasets/a/b"}),
                 {"ingot data tokenize hf://datasets/a/b"});
}

TEST_F(DataIdentityTrap, WhatAFolderOfTextHoldsBesidesIsListed) {
  fs::create_directories(root_ / "corpus/web");
  write("corpus/README.txt", slurp(root_ / "text.txt"));
  write("corpus/web/a.jsonl", lines(texts(0, 10)));
  write("corpus/web/b.jsonl", lines(texts(10, 20)));
  write("corpus/notes.md", "# Notes");
  write("corpus/picture.png", "png");
  expect_refused(train("run", "corpus"),
                 {"its 1 .txt", "2 .jsonl, 1 .md", "ingot data tokenize " + path("corpus"),
                  "data.txt_only=true"});
  const Outcome text = train("run", "corpus", {"data.txt_only=true"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.err, "2 .jsonl, 1 .md, 1 .png")) << text.err;
  fs::remove(root_ / "corpus/README.txt");
  expect_refused(train("none", "corpus"), {"2 .jsonl", "ingot data tokenize"});
}

// The tail of a text, the same text with a byte order mark, and text that stands in shards.
TEST_F(DataIdentityTrap, APartOfTheTrainedTextIsNotValidatedOn) {
  const std::string text = slurp(root_ / "text.txt");
  write("tail.txt", text.substr(text.size() / 2 + 7));
  write("marked.txt", "\xEF\xBB\xBF" + text);
  write("other.txt", lines(texts(0, 40)));
  tokenize({text + "and a last line", "Another document."}, "ss");
  for (const auto& [data, valid] :
       {std::pair("text.txt", "tail.txt"), {"text.txt", "marked.txt"}, {"ss", "tail.txt"}})
    expect_refused(train("run", data, {"data.valid=" + path(valid)}),
                   {path(valid), "passages of 64 tokens", path(data), "data.valid_in_train=true"});
  EXPECT_FALSE(fs::exists(root_ / "run"));
  EXPECT_EQ(train("other", "text.txt", {"data.valid=" + path("other.txt")}).code, 0);
  const std::string valid = "data.valid=" + path("tail.txt");
  const Args accepted = {valid, "train.steps=2", "data.valid_in_train=true"};
  EXPECT_EQ(train("accepted", "text.txt", accepted).code, 0);
  const Outcome resumed =
      train("accepted", "text.txt", {valid, "data.valid_in_train=false"}, {"--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_TRUE(contains(resumed.err, "passages of 64 tokens")) << resumed.err;
}

// Of bytes, and of pairs of bytes, where line ends are parts of longer tokens.
TEST_F(DataIdentityTrap, PassagesAreTheSameWhateverTheirLinesEndIn) {
  std::string text, other;
  for (int i = 0; i < 3000; ++i) {
    text += "verse " + std::to_string(i * 7919 % 3001) + ",\n" + (i % 5 == 0 ? "\n" : "");
    other += "another " + std::to_string(i * 7907 % 3001) + ".\n";
  }
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  write("lf.txt", text);
  write("crlf.txt", crlf);
  write("other.txt", other);
  ASSERT_EQ(ingot({"tokenizer", "train", "--input", path("lf.txt"), "--vocab", "400", "--out",
                   path("pairs.json")})
                .code,
            0);
  for (const std::string& tokenizer : {std::string("byte"), path("pairs.json")}) {
    const auto validated_on = [&](const char* data, const char* valid) {
      return train("of " + std::string(valid), data,
                   {"data.valid=" + path(valid), "data.tokenizer=" + tokenizer, "model.vocab=512",
                    "train.steps=2"});
    };
    expect_refused(validated_on("lf.txt", "crlf.txt"), {"passages of 64 tokens", path("crlf.txt")});
    expect_refused(validated_on("crlf.txt", "lf.txt"), {"passages of 64 tokens", path("lf.txt")});
    const Outcome fine = validated_on("crlf.txt", "other.txt");
    EXPECT_EQ(fine.code, 0) << fine.err;
    fs::remove_all(root_ / "of other.txt");
  }
}

TEST_F(DataIdentityTrap, TextsOfAFolderThatHoldTheSameAreCounted) {
  write("books/a.txt", slurp(root_ / "text.txt"));
  write("books/b.txt", std::string(slurp(root_ / "text.txt").size(), 'b'));
  EXPECT_FALSE(contains(train("once", "books", {}, {"--dry-run"}).err, "equal_files"));
  write("books/deep/c.txt", slurp(root_ / "text.txt"));
  const Outcome twice = train("twice", "books", {"data.valid_fraction=0"}, {"--dry-run"});
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_TRUE(contains(twice.err, "files=1 first=\"" + path("books/deep/c.txt") + " = "))
      << twice.err;
}

TEST_F(DataIdentityTrap, ATextThatLiesTwiceInAFolderIsCounted) {
  write("books/a.txt", slurp(root_ / "text.txt"));
  EXPECT_FALSE(contains(train("once", "books").err, "valid_in_train"));
  fs::create_symlink(root_ / "books/a.txt", root_ / "books/b.txt");
  const Outcome twice = train("twice", "books");
  EXPECT_EQ(twice.code, 0) << twice.err;
  EXPECT_TRUE(contains(twice.err, "valid_in_train")) << twice.err;
  EXPECT_TRUE(contains(twice.err, "passages of 64 tokens")) << twice.err;
}

TEST_F(DataIdentityTrap, ShardsWithoutTheEosOfTheOthersAreNamed) {
  tokenize(texts(0, 40), "with");
  write("more.jsonl", lines(texts(40, 80)));
  for (const auto& [out, more] : {std::pair("without", Args{"--no-eos"}), {"alike", Args{}}})
    ASSERT_EQ(ingot(with({"data", "tokenize", path("more.jsonl"), "--tokenizer", "byte", "--out",
                          path(out)},
                         more))
                  .code,
              0);
  const auto said = [&](const std::string& data, const Args& sets) {
    const Outcome outcome = train("run", data, sets, {"--dry-run"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return contains(outcome.err, "marks_differ") && contains(outcome.err, "BOS none, EOS 256") &&
           contains(outcome.err, "BOS none, EOS none") && contains(outcome.err, path("without"));
  };
  EXPECT_TRUE(said(mixture({"with", "without"}), {}));
  EXPECT_TRUE(said("with", {"data.valid=" + path("without")}));
  EXPECT_FALSE(said(mixture({"with", "alike"}), {}));
  EXPECT_FALSE(said("without", {}));
}

// Of token files that do not know their documents, and of Megatron's, which count EOS to them.
TEST_F(DataIdentityTrap, TheSameTokensInAnotherFormatAreTheSameContent) {
  tokenize(texts(0, 100), "ss");
  for (const auto& [format, out] : {std::pair("nanogpt", "bare.bin"), {"megatron", "indexed"}})
    ASSERT_EQ(ingot({"data", "export", path("ss"), "--format", format, "--out", path(out)}).code,
              0);
  const auto valid = [&](const std::string& name) { return "data.valid=" + path(name); };
  expect_refused(train("run", "bare.bin", {valid("indexed.bin")}), {"passages of 64 tokens"});
  expect_refused(train("run", "bare.bin", {valid("ss")}), {"passages of 64 tokens"});
  expect_refused(train("run", "indexed.bin", {valid("ss")}), {"100 of its 100 documents"});
  for (const char* other : {"bare.bin", "indexed.bin"})
    expect_refused(train("run", mixture({"ss", other})), {"the same content twice", path(other)});
}

TEST_F(DataIdentityTrap, JsonLinesUnderANameThatSaysNothingAreNotTrainedOn) {
  const std::string documents = lines(texts(0, 100));
  write("part-00000", documents);
  write("corpus.bak", documents);
  write("brace.c", "{\n" + slurp(root_ / "text.txt"));
  write("meant.txt", documents);
  for (const char* name : {"part-00000", "corpus.bak"})
    expect_refused(train("run", name), {path(name), "JSON lines", ".jsonl", "ingot data tokenize"});
  for (const char* name : {"brace.c", "meant.txt"})
    EXPECT_EQ(train(std::string("run of ") + name, name).code, 0) << name;
}

TEST_F(DataIdentityTrap, AFolderAboveShardsNamesThemAndAnUnfinishedOneSaysSo) {
  tokenize(texts(0, 100), "all/train");
  tokenize(texts(100, 120), "all/valid");
  write("all/stage.json", "{}");  // as `data mix` leaves it
  write("all/tasks/lock", "");
  expect_refused(train("run", "all"), {path("all/train") + ", " + path("all/valid")});
  fs::remove(root_ / "all/train/manifest.json");
  expect_refused(train("run", "all/train"), {path("all/train"), "has not finished"});
}

TEST_F(DataIdentityTrap, DocumentsThatATokenFileDoesNotKnowAreNotKeptApart) {
  tokenize(texts(0, 100), "ss");
  ASSERT_EQ(
      ingot({"data", "export", path("ss"), "--format", "nanogpt", "--out", path("a.bin")}).code, 0);
  for (const char* setting : {"train.document_mask=true", "data.packing=best_fit"}) {
    expect_refused(train("run", "a.bin", {setting}), {path("a.bin"), "ingot data import"});
    EXPECT_EQ(train(setting, "ss", {setting}).code, 0);
    EXPECT_EQ(train(std::string("text ") + setting, "text.txt", {setting}).code, 0);
  }
  EXPECT_EQ(train("plain", "a.bin").code, 0);
}

}  // namespace
}  // namespace ingot::test
