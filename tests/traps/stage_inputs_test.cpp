// Traps around what stages of data preparation take as their inputs: docs/traps.md.
#include <nlohmann/json.hpp>
#include <sstream>

#include "ingest/web_server.h"
#include "traps/trap.h"

namespace ingot::test {
namespace {

using nlohmann::json;
using testing_support::WebServer;

class StageInputsTrap : public Trap {
 protected:
  static std::string lines(const std::vector<std::string>& texts, const std::string& prefix = "") {
    std::string file;
    for (size_t i = 0; i < texts.size(); ++i) {
      file += json{{"id", prefix + std::to_string(i)}, {"text", texts[i]}}.dump() + "\n";
    }
    return file;
  }
  // Documents of some hundred bytes each, no two of which are equal.
  static std::vector<std::string> texts(int count, const std::string& what, int first = 0) {
    std::vector<std::string> all;
    for (int i = first; i < first + count; ++i) {
      std::string text;
      for (int k = 0; k < 20; ++k) text += what + " " + std::to_string(i * 31 + k) + " ";
      all.push_back(text);
    }
    return all;
  }
  Outcome stage(const std::string& name, const Args& inputs, const std::string& out,
                const Args& more = {}) const {
    const std::map<std::string, Args> needs = {
        {"tokenize", {"--tokenizer", "byte"}},
        {"dedup", {"--method", "exact"}},
        {"clean", {"--set", "gopher_quality.enabled=false"}},
        {"decontaminate", {"--against", path("task.jsonl")}}};
    const Args args = with(with({"data", name, "--out", path(out), "--json"}, inputs), more);
    return ingot(with(args, needs.at(name)));
  }
  Outcome tokenize(const Args& inputs, const std::string& out, const Args& more = {}) const {
    return stage("tokenize", inputs, out, more);
  }
  Outcome mix(const std::string& toml, const std::string& out) const {
    write("mix.toml", toml);
    return ingot({"data", "mix", path("mix.toml"), "--out", path(out), "--json"});
  }
  void expect_refused(const Outcome& outcome, const Args& parts) const {
    EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.code << outcome.out;
    for (const std::string& part : parts) {
      EXPECT_TRUE(contains(outcome.err, part)) << "expected " << part << ": " << outcome.err;
    }
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
};

TEST_F(StageInputsTrap, AnEditOfTheSameLengthDoesNotPassForDone) {
  write("task.jsonl", json{{"context", "What was said?"}, {"continuation", "Nothing."}}.dump());
  for (const std::string name : {"clean", "dedup", "decontaminate", "tokenize"}) {
    write("in/a.jsonl", lines({"the first text", "another"}));
    write("in/b.jsonl", lines({"one more"}));
    ASSERT_EQ(stage(name, {path("in")}, name).code, 0) << name;
    write("in/a.jsonl", lines({"the other text", "another"}));
    const Outcome edited = stage(name, {path("in")}, name);
    expect_refused(edited, {path("in/a.jsonl"), path(name), "--out", "remove"});
    write("in/a.jsonl", lines({"the first text", "another"}));
    EXPECT_EQ(stage(name, {path("in")}, name).code, 0) << name;
  }
}

TEST_F(StageInputsTrap, AFileThatWasTouchedOrCopiedBackIsTheSame) {
  write("in/a.jsonl", lines({"the first text", "another"}));
  ASSERT_EQ(tokenize({path("in")}, "out").code, 0);
  const std::string tokens = slurp(root_ / "out/00000.tokens");
  const Outcome same = shell(
      "cp in/a.jsonl copy && rm in/a.jsonl && cp copy in/a.jsonl && touch -d 2001-01-01 "
      "in/a.jsonl");
  ASSERT_EQ(same.code, 0) << same.err;
  const Outcome again = tokenize({path("in")}, "out");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(slurp(root_ / "out/00000.tokens"), tokens);
  // The time of a change may be set back.
  ASSERT_EQ(shell("sed -i s/first/other/ in/a.jsonl; touch -d 2001-01-01 in/a.jsonl").code, 0);
  expect_refused(tokenize({path("in")}, "out"), {path("in/a.jsonl")});
}

TEST_F(StageInputsTrap, AFolderOfAnOlderProgramIsAcceptedAndThatIsSaid) {
  write("in/a.jsonl", lines({"the first text", "another"}));
  ASSERT_EQ(tokenize({path("in")}, "out").code, 0);
  json record = json::parse(slurp(root_ / "out/tasks/00000.json"));
  EXPECT_EQ(record.erase("inputs"), 1u);
  write("out/tasks/00000.json", record.dump() + "\n");
  const Outcome again = tokenize({path("in")}, "out");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "older program")) << again.err;
}

TEST_F(StageInputsTrap, AnotherVersionOnTheServerDoesNotPassForDone) {
  write("served/a.jsonl", lines({"the first text", "another"}));
  WebServer server(path("served"));
  const Args inputs = {server.url("plain/a.jsonl"), "--cache="};
  ASSERT_EQ(tokenize(inputs, "out").code, 0);
  EXPECT_EQ(tokenize(inputs, "out").code, 0);
  write("served/a.jsonl", lines({"the other text", "another"}));
  expect_refused(tokenize(inputs, "out"), {"plain/a.jsonl", path("out")});
}

TEST_F(StageInputsTrap, DocumentsOfAKilledStageAreRefusedAsItsFolderIs) {
  for (int i = 0; i < 4; ++i) {
    write("in/" + std::to_string(i) + ".jsonl", lines(texts(3, "file " + std::to_string(i))));
  }
  ASSERT_EQ(stage("dedup", {path("in")}, "half").code, 0);
  fs::remove(root_ / "half/report.json");
  fs::remove(root_ / "half/tasks/00003.json");
  fs::remove(root_ / "half/documents/3.jsonl.zst");
  fs::create_directory_symlink(root_ / "half/documents", root_ / "link");
  fs::create_symlink(root_ / "half/documents/1.jsonl.zst", root_ / "one.jsonl.zst");
  for (const std::string name :
       {"half", "half/documents", "half/documents/", "link", "link/", "half/documents/*.zst",
        "half/documents/1.jsonl.zst", "one.jsonl.zst", "half/../half/documents/."}) {
    expect_refused(tokenize({path(name)}, "tokens"), {"has not finished", "run that again"});
  }
  ASSERT_EQ(stage("dedup", {path("in")}, "half").code, 0);
  const Outcome whole = tokenize({path("link/")}, "tokens");
  EXPECT_EQ(result_of(whole).value("documents", 0), 12) << whole.err;
}

TEST_F(StageInputsTrap, SkippedRecordsNameTheFirstFileAndRecord) {
  write("task.jsonl", json{{"context", "What was said?"}, {"continuation", "Nothing."}}.dump());
  write("in/a.jsonl", lines({"fine", "fine too"}));
  write("in/b.jsonl", "{\"text\":\"fine\"}\n{\"a\":1}\n{\"text\":\"b\xff\"}\nno json\n{\"a\":2}\n");
  for (const std::string name : {"clean", "dedup", "decontaminate", "tokenize"}) {
    const Outcome outcome = stage(name, {path("in")}, name);
    ASSERT_EQ(outcome.code, 0) << name << outcome.err;
    const json result = result_of(outcome);
    const json first =
        result.value(name == "tokenize" ? "first_left_out" : "first_skipped", json::object());
    const std::map<std::string, int> expected = {
        {"no_text", 1}, {"invalid_utf8", 2}, {"invalid_json", 3}};
    for (const auto& [reason, number] : expected) {
      const json place = first.value(reason, json::object());
      EXPECT_EQ(place.value("file", ""), "b.jsonl") << name << " " << reason;
      EXPECT_EQ(place.value("record", 0), number) << name << " " << reason;
      const std::string told = reason + " (the first: b.jsonl, record " + std::to_string(number);
      EXPECT_TRUE(contains(outcome.out, told)) << name << ": " << outcome.out;
    }
    // A command that finds all done says the same.
    EXPECT_EQ(result_of(stage(name, {path("in")}, name))
                  .value(name == "tokenize" ? "first_left_out" : "first_skipped", json::object()),
              first);
  }
}

TEST_F(StageInputsTrap, OptionsOfAFilterThatIsOffAreRefused) {
  write("in/a.jsonl", lines({"a text"}));
  write("list.txt", "example.org\n");
  const auto clean = [&](const Args& more) {
    return ingot(with({"data", "clean", path("in"), "--out", path("out")}, more));
  };
  expect_refused(clean({"--set", "url.domains=" + path("list.txt")}),
                 {"url.domains", "url.enabled=true"});
  expect_refused(clean({"--set", "length.min_chars=10"}), {"length.enabled=true"});
  write("filled_in.toml", "[bad_words]\nenabled = false\nlist = \"" + path("list.txt") + "\"\n");
  expect_refused(clean({"--config", path("filled_in.toml")}), {"bad_words.enabled=true"});
  EXPECT_FALSE(fs::exists(root_ / "out"));
  // What a file tunes may be turned off for once.
  write("tuned.toml", "[c4]\nmin_sentences = 3\n");
  EXPECT_EQ(clean({"--config", path("tuned.toml"), "--set", "c4.enabled=false"}).code, 0);
  expect_refused(ingot({"data", "dedup", path("in"), "--out", path("d"), "--normalize"}),
                 {"normalize", "exact"});
}

TEST_F(StageInputsTrap, AFilterThatIsOnWithoutItsListIsRefused) {
  write("in/a.jsonl", lines({"a text"}));
  write("empty.txt", "");
  const auto clean = [&](const Args& sets) {
    Args args = {"data", "clean", path("in"), "--out", path("out")};
    for (const std::string& set : sets) args.insert(args.end(), {"--set", set});
    return ingot(args);
  };
  expect_refused(clean({"url.enabled=true"}), {"url.domains"});
  expect_refused(clean({"url.enabled=true", "url.words=" + path("empty.txt")}), {"url.domains"});
  expect_refused(clean({"bad_words.enabled=true"}), {"bad_words.list"});
  expect_refused(clean({"length.enabled=true"}), {"length.min_chars"});
  EXPECT_FALSE(fs::exists(root_ / "out"));
}

TEST_F(StageInputsTrap, AWrongTextFieldOfARemoteFileEndsBeforeAnythingIsWritten) {
  std::string file;
  for (int i = 0; i < 50; ++i) file += json{{"body", "text " + std::to_string(i)}}.dump() + "\n";
  write("served/a.jsonl", file);
  WebServer server(path("served"));
  for (const std::string& cache : {std::string(), path("cache")}) {
    const Outcome wrong = tokenize({server.url("plain/a.jsonl"), "--cache=" + cache}, "out");
    expect_refused(wrong, {"body", "--text-field"});
    EXPECT_FALSE(fs::exists(root_ / "out"));
  }
  // The look costs no request: one for the file, one for the count.
  const auto num_requests = [&] {
    const Outcome counted = ingot({"data", "tokenize", server.url("requests.txt"), "--tokenizer",
                                   "byte", "--cache=", "--out", path("counted")});
    EXPECT_EQ(counted.code, 0) << counted.err;
    const int count = std::stoi(ingot({"data", "cat", path("counted")}).out);
    fs::remove_all(root_ / "counted");
    return count;
  };
  for (const std::string& cache : {std::string(), path("another_cache")}) {
    const int before = num_requests();
    const std::string out = cache.empty() ? "streamed" : "cached";
    const Outcome right =
        tokenize({server.url("plain/a.jsonl"), "--cache=" + cache, "--text-field", "body"}, out);
    EXPECT_EQ(result_of(right).value("documents", 0), 50) << right.err;
    EXPECT_EQ(num_requests() - before, 2);
  }
}

TEST_F(StageInputsTrap, AnEmptyValueIsAValue) {
  write("in/a.jsonl", lines({"a text"}));
  const Outcome outcome = tokenize({path("in"), "--cache", ""}, "out");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(StageInputsTrap, WhatTheCutsOfAMixtureCostTrainingIsToldAndBounded) {
  std::vector<std::string> documents = texts(10, "short");
  std::string novel;
  for (int i = 0; i < 3000; ++i) novel += "line " + std::to_string(i) + " of a novel. ";
  documents.push_back(novel);
  write("in/a.jsonl", lines(documents));
  ASSERT_EQ(tokenize({path("in")}, "tokens").code, 0);
  const auto toml = [&](int seed, const std::string& more) {
    return "seed = " + std::to_string(seed) + "\nvalid_tokens = 198\ntrain_tokens = 1000\n" + more +
           "[[source]]\npath = \"tokens\"\n";
  };
  // The seed with which the novel comes first.
  int refusals = 0;
  for (int seed = 0; seed < 200 && refusals == 0; ++seed) {
    const Outcome outcome = mix(toml(seed, ""), "mixed");
    if (outcome.code == 0) {
      const json cuts = result_of(outcome).value("cut_off", json::array());
      ASSERT_EQ(cuts.size(), 1u) << outcome.out;
      EXPECT_TRUE(contains(outcome.out, "that train lacks")) << outcome.out;
      fs::remove_all(root_ / "mixed");
      continue;
    }
    ++refusals;
    expect_refused(outcome, {"max_cut_share", "«10»"});
    EXPECT_FALSE(fs::exists(root_ / "mixed"));
    const Outcome allowed = mix(toml(seed, "max_cut_share = 1\n"), "mixed");
    ASSERT_EQ(allowed.code, 0) << allowed.err;
    const json cut = result_of(allowed).at("cut_off").at(0);
    EXPECT_EQ(cut.value("tokens", 0), static_cast<int>(novel.size()) + 1 - 198);
    EXPECT_GT(cut.value("share", 0.0), 0.2);
  }
  EXPECT_EQ(refusals, 1);
}

TEST_F(StageInputsTrap, AFileThatIsReachedTwiceIsNotTokenizedTwice) {
  write("raw/a.jsonl", lines(texts(3, "a")));
  write("raw/part/b.jsonl", lines(texts(3, "b")));
  fs::create_directory_symlink(root_ / "raw", root_ / "rawlink");
  fs::create_hard_link(root_ / "raw/a.jsonl", root_ / "hard.jsonl");
  const Args inputs[] = {{path("raw"), path("rawlink")},
                         {path("raw"), path("hard.jsonl")},
                         {"--source", "one=" + path("raw"), "--source", "two=" + path("raw/part")},
                         {path("raw"), "--source", "two=" + path("raw/../raw/")}};
  for (const Args& twice : inputs) {
    expect_refused(tokenize(twice, "tokens"), {"same file", "leave one of them out"});
    EXPECT_FALSE(fs::exists(root_ / "tokens"));
  }
}

TEST_F(StageInputsTrap, ACopyOfAnInputIsNotTokenizedBesideIt) {
  write("raw/a.jsonl", lines(texts(3, "a")));
  write("raw/deep/b.jsonl", lines(texts(3, "b")));
  fs::copy(root_ / "raw", root_ / "copy", fs::copy_options::recursive);
  fs::rename(root_ / "copy/a.jsonl", root_ / "copy/other.jsonl");
  expect_refused(tokenize({path("raw"), path("copy")}, "tokens"),
                 {path("raw"), path("copy"), "leave one of them out"});
  EXPECT_FALSE(fs::exists(root_ / "tokens"));
  // Of the same sizes, but not the same.
  std::string other = slurp(root_ / "copy/deep/b.jsonl");
  other[other.size() - 5] = '!';
  write("copy/deep/b.jsonl", other);
  EXPECT_EQ(tokenize({path("raw"), path("copy")}, "tokens").code, 0);
}

TEST_F(StageInputsTrap, EqualDocumentsAreCountedAndTold) {
  std::vector<std::string> some = texts(5, "a");
  write("raw/a.jsonl", lines(some, "a"));
  some.resize(2);
  write("raw/b.jsonl", lines(some, "b"));
  const Outcome outcome = tokenize({path("raw")}, "tokens");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(result_of(outcome).value("equal_documents", 0), 2);
  EXPECT_EQ(json::parse(slurp(root_ / "tokens/manifest.json")).value("equal_documents", 0), 2);
  EXPECT_TRUE(contains(outcome.out, "equal to an earlier document: 2")) << outcome.out;
  EXPECT_TRUE(contains(outcome.out, "input: a0 = input: b0")) << outcome.out;
}

TEST_F(StageInputsTrap, AMixtureWithASourceUnderTwoNamesIsRefused) {
  write("in/a.jsonl", lines(texts(50, "a")));
  ASSERT_EQ(tokenize({path("in")}, "ss").code, 0);
  ASSERT_EQ(tokenize({path("in")}, "other_shards", {"--shard-tokens", "2000"}).code, 0);
  fs::create_directory_symlink(root_ / "ss", root_ / "link");
  fs::copy(root_ / "ss", root_ / "copy", fs::copy_options::recursive);
  for (const std::string name : {"ss", "ss/", "./ss", "link", "copy", "other_shards"}) {
    const Outcome outcome =
        mix("train_tokens = 2000\nvalid_tokens = 1500\n[[source]]\npath = \"ss\"\n[[source]]\n"
            "path = \"" +
                name + "\"\n",
            "mixed");
    expect_refused(outcome, {path("ss"), "max_epochs = 2"});
    EXPECT_FALSE(fs::exists(root_ / "mixed")) << name;
  }
}

TEST_F(StageInputsTrap, AMixtureHasNoDocumentInTwoSplitsUnderTwoNames) {
  write("a.jsonl", lines(texts(60, "shared"), "a"));
  write("b.jsonl", lines(texts(90, "shared"), "b"));  // 60 of them as in a
  ASSERT_EQ(tokenize({path("a.jsonl")}, "a").code, 0);
  ASSERT_EQ(tokenize({path("b.jsonl")}, "b").code, 0);
  const Outcome mixed =
      mix("train_tokens = 15000\nvalid_tokens = 3001\ntest_tokens = 2003\nmax_cut_share = 1\n"
          "[[source]]\npath = \"a\"\n[[source]]\npath = \"b\"\n",
          "mixed");
  ASSERT_EQ(mixed.code, 0) << mixed.err;
  const json result = result_of(mixed);
  EXPECT_EQ(result.value("equal_documents", 0), 60);
  EXPECT_TRUE(contains(mixed.out, ": 60 (input: a")) << mixed.out;
  std::map<std::string, std::string> split_of;  // by the beginning, as some are cut
  std::map<std::string, int64_t> left_out;
  for (const json& entry : result.value("left_out", json::array())) {
    left_out[entry.value("split", "") + " " + entry.value("reason", "")] =
        entry.value("documents", 0);
  }
  EXPECT_GT(left_out["train equal_to_test"], 0);
  EXPECT_GT(left_out["train equal_to_valid"], 0);
  const std::map<std::string, int64_t> wanted = {{"train", 15000}, {"valid", 3001}, {"test", 2003}};
  for (const auto& [split, tokens] : wanted) {
    EXPECT_EQ(ingot({"data", "verify", path("mixed/" + split)}).code, 0);
    const json facts = result_of(ingot({"data", "inspect", path("mixed/" + split), "--json"}));
    EXPECT_EQ(facts.value("tokens", 0), tokens);
    const int last = facts.value("documents", 1) - 1;
    std::istringstream out(
        ingot({"data", "cat", path("mixed/" + split), "0-" + std::to_string(last)}).out);
    for (std::string text; std::getline(out, text);) {
      const std::string beginning = text.substr(0, 15);
      if (beginning.size() < 15) continue;  // cut so short that it may be of any
      const std::string& first = split_of.emplace(beginning, split).first->second;
      EXPECT_EQ(first, split) << text;
    }
  }
}

TEST_F(StageInputsTrap, EqualIdsOfOtherDocumentsInAMixtureAreTold) {
  write("a.jsonl", lines(texts(60, "one")));
  write("b.jsonl", lines(texts(90, "other")));
  ASSERT_EQ(tokenize({path("a.jsonl")}, "a").code, 0);
  ASSERT_EQ(tokenize({path("b.jsonl")}, "b").code, 0);
  const Outcome mixed =
      mix("train_tokens = 9000\n[[source]]\npath = \"a\"\n[[source]]\npath = \"b\"\n", "mixed");
  ASSERT_EQ(mixed.code, 0) << mixed.err;
  EXPECT_EQ(result_of(mixed).value("equal_ids", 0), 60);
  EXPECT_EQ(result_of(mixed).value("equal_documents", -1), 0);
  EXPECT_TRUE(contains(mixed.out, "have the id of an earlier one")) << mixed.out;
}

TEST_F(StageInputsTrap, WhatAFolderHoldsThatNothingReadsIsCounted) {
  write("in/a.jsonl", lines({"the first text", "another"}));
  write("in/b.jsonl.bz2", "packed");
  write("in/c.jsonl.xz", "packed");
  write("in/d.jsonl.xz", "packed");
  write("in/part-00000", lines({"more"}));
  write("elsewhere/e.jsonl", lines({"in a folder that is linked"}));
  fs::create_directory_symlink(root_ / "elsewhere", root_ / "in/linked");
  fs::create_symlink(root_ / "gone.jsonl", root_ / "in/gone.jsonl");
  write("task.jsonl", json{{"context", "What was said?"}, {"continuation", "Nothing."}}.dump());
  const auto expect_told = [&](const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const char* part :
         {"1 .bz2", "2 .xz", "1 links to folders", "1 links to nothing", "1 without an ending"})
      EXPECT_TRUE(contains(outcome.err, part)) << part << ": " << outcome.err;
  };
  for (const std::string name : {"clean", "dedup", "decontaminate", "tokenize"})
    expect_told(stage(name, {path("in")}, name));
  expect_told(ingot(
      {"tokenizer", "train", "--input", path("in"), "--out", path("t.json"), "--vocab", "260"}));
  write("dedup/more.jsonl", lines({"put beside what the stage wrote"}));
  const Outcome beside = tokenize({path("dedup")}, "beside");
  EXPECT_TRUE(contains(beside.err, "1 .jsonl beside its documents")) << beside.err;
  write("none/part-00000", lines({"more"}));
  expect_refused(tokenize({path("none")}, "of none"), {"1 without an ending"});
}

TEST_F(StageInputsTrap, AFileThatIsCompressedUnderAnotherNameIsNotLeftOutRecordByRecord) {
  write("task.jsonl", json{{"context", "What was said?"}, {"continuation", "Nothing."}}.dump());
  write("in/a.jsonl", lines({"the first text", "another"}));
  write("in/b.jsonl", lines(texts(50, "packed")));
  ASSERT_EQ(shell("gzip in/b.jsonl && mv in/b.jsonl.gz in/b.jsonl").code, 0);
  for (const std::string name : {"clean", "dedup", "decontaminate", "tokenize"}) {
    expect_refused(stage(name, {path("in")}, name), {path("in/b.jsonl"), "gz", ".jsonl.gz"});
    EXPECT_FALSE(fs::exists(root_ / name));
  }
  // Packed twice, or a column file that is packed.
  ASSERT_EQ(shell("gzip -c in/b.jsonl > twice.jsonl.gz").code, 0);
  expect_refused(tokenize({path("twice.jsonl.gz")}, "twice"), {"twice.jsonl.gz", "gz data"});
}

TEST_F(StageInputsTrap, AnOutputBelowItsInputIsNoInputWhenItIsContinued) {
  write("in/a.jsonl", lines({"the first text", "another"}));
  for (const std::string name : {"dedup", "tokenize"}) {
    EXPECT_EQ(stage(name, {path("in")}, "in/" + name).code, 0);
    const Outcome again = stage(name, {path("in")}, "in/" + name);
    EXPECT_EQ(again.code, 0) << again.err;
    fs::remove_all(root_ / "in" / name);
    expect_refused(stage(name, {path("in")}, "in/../in"), {path("in"), "--out"});
  }
}

TEST_F(StageInputsTrap, AFolderOfAnotherStageOrOfFewerFilesSaysThat) {
  write("in/a.jsonl", lines({"the first text", "another"}));
  ASSERT_EQ(stage("dedup", {path("in")}, "out").code, 0);
  expect_refused(stage("clean", {path("in")}, "out"), {"stage: \"dedup\"", "\"clean\""});
  ASSERT_EQ(tokenize({path("in")}, "tokens").code, 0);
  write("in/b.jsonl", lines({"one more"}));
  expect_refused(tokenize({path("in")}, "tokens"), {"num_files: 1, now it is 2"});
}

TEST_F(StageInputsTrap, AnImportTakesAFileOnceAndCountsWhatIsEqual) {
  write("in/a.jsonl", lines({"the first text", "another", "a third"}));
  ASSERT_EQ(tokenize({path("in")}, "ss").code, 0);
  ASSERT_EQ(
      ingot({"data", "export", path("ss"), "--format", "nanogpt", "--out", path("a.bin")}).code, 0);
  const auto import = [&](const Args& files, const std::string& out, const Args& more) {
    const Args args = {"data", "import", "--format", "nanogpt", "--tokenizer",
                       "byte", "--out",  path(out),  "--json"};
    return ingot(with(with(args, files), more));
  };
  fs::create_symlink(root_ / "a.bin", root_ / "link.bin");
  for (const char* again : {"a.bin", "./a.bin", "link.bin"})
    expect_refused(import({path("a.bin"), path(again)}, "twice", {"--eos", "256"}),
                   {path("a.bin"), "the same file"});
  fs::copy(root_ / "a.bin", root_ / "copy.bin");
  const Outcome copied = import({path("a.bin"), path("copy.bin")}, "copied", {"--eos", "256"});
  EXPECT_EQ(result_of(copied).value("equal_documents", 0), 3) << copied.out << copied.err;
  const Outcome one = import({path("a.bin")}, "one", {});
  EXPECT_TRUE(contains(one.out, "--eos 256")) << one.out << one.err;
}

TEST_F(StageInputsTrap, AFolderAboveShardsIsNotCalledUnfinished) {
  write("in/a.jsonl", lines({"the first text", "another"}));
  ASSERT_EQ(tokenize({path("in")}, "all/one").code, 0);
  ASSERT_EQ(tokenize({path("in")}, "all/two").code, 0);
  for (const Args& command : {Args{"data", "verify", path("all")},
                              {"data", "inspect", path("all")},
                              {"data", "cat", path("all"), "0"}})
    expect_refused(ingot(command), {path("all/one") + ", " + path("all/two")});
}

TEST_F(StageInputsTrap, AnImportKnowsWhatEndsTheDocumentsOfAFile) {
  write("in/a.jsonl", lines({"the first text", "another", "a third"}));
  ASSERT_EQ(tokenize({path("in")}, "with").code, 0);
  ASSERT_EQ(tokenize({path("in")}, "without", {"--no-eos"}).code, 0);
  const auto import = [&](const Args& names, const std::string& out) {
    Args args = {"data", "import", "--tokenizer", "byte", "--out", path(out), "--json"};
    for (const std::string& name : names) {
      ingot({"data", "export", path(name), "--format", "megatron", "--out", path(name + ".file"),
             "--force"});
      args.push_back(path(name + ".file.bin"));
    }
    return ingot(args);
  };
  const auto eos_of = [&](const std::string& folder) {
    return json::parse(slurp(root_ / folder / "manifest.json")).value("eos", -2);
  };
  const Outcome whole = import({"with"}, "whole");
  EXPECT_EQ(eos_of("whole"), 256) << whole.err;
  EXPECT_TRUE(contains(whole.out, "ends with EOS 256")) << whole.out;
  const Outcome none = import({"without"}, "none");
  EXPECT_EQ(eos_of("none"), -1);
  EXPECT_FALSE(contains(none.err, "EOS")) << none.err;
  const Outcome some = import({"with", "without"}, "some");
  EXPECT_EQ(eos_of("some"), -1);
  EXPECT_TRUE(contains(some.err, "mark=EOS documents=\"3 of 6\"")) << some.err;
}

TEST_F(StageInputsTrap, AFileThatComesFromTheCacheIsSaidToDoSo) {
  write("served/a.jsonl", lines({"the first text", "another"}));
  WebServer server(path("served"));
  const Args inputs = {server.url("plain/a.jsonl"), "--cache", path("cache")};
  EXPECT_FALSE(contains(tokenize(inputs, "first").err, "read_from_cache"));
  write("served/a.jsonl", lines({"what the server has by now"}));
  const Outcome again = tokenize(inputs, "again");
  EXPECT_EQ(result_of(again).value("documents", 0), 2) << again.err;
  EXPECT_TRUE(contains(again.err, "read_from_cache files=1")) << again.err;
}

}  // namespace
}  // namespace ingot::test
