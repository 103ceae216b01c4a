#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "core/error/error.h"
#include "ingest/dedup/clusters.h"
#include "ingest/dedup/dedup_stage.h"
#include "ingest/dedup/key_runs.h"
#include "support/own_folder.h"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Of letters: the normal form makes one number of all numbers.
std::string word(uint64_t number) {
  std::string text = "w";
  for (; number > 0; number /= 26) text += static_cast<char>('a' + number % 26);
  return text;
}

std::string words(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : " ") + word(random() % 5000);
  return text;
}

std::string with_changes(std::mt19937& random, const std::string& text, int changes) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string word; in >> word;) parts.push_back(word);
  for (int i = 0; i < changes; ++i) parts[random() % parts.size()] = "changed" + word(random());
  std::string out;
  for (const auto& part : parts) out += (out.empty() ? "" : " ") + part;
  return out;
}

// Texts of which some are copies and near-copies of earlier ones, near-copies of those, and some
// are too short for a signature.
std::vector<std::vector<std::string>> planted_corpus() {
  std::mt19937 random(11);
  std::vector<std::vector<std::string>> files(7);
  std::vector<std::string> all;
  for (int i = 0; i < 240; ++i) {
    std::string text;
    const auto kind = random() % 6;
    if (kind == 0 && !all.empty()) {
      text = all[random() % all.size()];
    } else if (kind <= 2 && !all.empty()) {
      text = with_changes(random, all[random() % all.size()], 1 + static_cast<int>(random() % 8));
    } else if (kind == 3 && i % 5 == 0) {
      text = "too short";
    } else {
      text = words(random, 60 + static_cast<int>(random() % 200));
    }
    all.push_back(text);
    files[random() % (files.size() - 1)].push_back(text);  // the last file stays empty
  }
  return files;
}

class Dedup : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = testing_support::own_folder();
    fs::create_directories(root_ / "in");
    files_ = planted_corpus();
    for (size_t f = 0; f < files_.size(); ++f) {
      std::ofstream out(root_ / "in" / (std::to_string(f) + ".jsonl"));
      for (const std::string& text : files_[f]) out << json{{"text", text}}.dump() << "\n";
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  DedupStage stage(DedupMethod method) const {
    DedupStage stage;
    stage.inputs.files = list_input_files({(root_ / "in").string()});
    stage.settings.method = method;
    stage.keeps_removed = true;
    return stage;
  }
  StageRun run(const std::string& out, ProcessShare share = {}, int64_t threads = 1) {
    StageRun run;
    run.storage = posix_storage();
    run.folder = (root_ / out).string();
    run.share = share;
    run.threads = threads;
    run.observer = &observer_;
    return run;
  }

  // Outputs in memory: no disk has to be waited for.
  StageRun run_in(const std::shared_ptr<Storage>& storage, ProcessShare share = {},
                  int64_t threads = 1) {
    StageRun run = this->run("out", share, threads);
    run.storage = storage;
    run.folder = "out";
    return run;
  }
  // All that a run promises, by name.
  static std::map<std::string, std::string> tree(Storage& storage) {
    std::map<std::string, std::string> files;
    for (const char* name : {"out/report.json", "out/report.html", "out/stage.json"}) {
      files[name] = read_text(storage, name);
    }
    for (const char* folder : {"out/documents", "out/removed", "out/tasks"}) {
      for (const std::string& name : storage.list(folder)) {
        const bool promised = name.ends_with(".json") || name.ends_with(".zst");
        const std::string path = join_path(folder, name);
        if (promised) files[path] = read_text(storage, path);
      }
    }
    return files;
  }

  // "FILE:NUMBER" of the documents below a folder: ids are given by position.
  std::set<std::string> ids(const std::string& folder) const {
    std::set<std::string> ids;
    Document document;
    for (const InputFile& file : list_input_files({(root_ / folder).string()})) {
      const auto reader = open_documents(file, {});
      while (reader->next(document)) EXPECT_TRUE(ids.insert(document.id).second) << document.id;
    }
    return ids;
  }

  // The first document of each connected component, by comparing every two.
  template <class Alike>
  std::set<std::string> survivors(const Alike& alike) const {
    std::vector<std::pair<std::string, std::string>> all;  // id, text
    for (size_t f = 0; f < files_.size(); ++f) {
      for (size_t i = 0; i < files_[f].size(); ++i) {
        all.emplace_back(std::to_string(f) + ".jsonl:" + std::to_string(i), files_[f][i]);
      }
    }
    std::vector<bool> seen(all.size());
    std::set<std::string> ids;
    for (size_t first = 0; first < all.size(); ++first) {
      if (seen[first]) continue;
      ids.insert(all[first].first);
      std::vector<size_t> open = {first};
      seen[first] = true;
      while (!open.empty()) {
        const size_t at = open.back();
        open.pop_back();
        for (size_t i = 0; i < all.size(); ++i) {
          if (seen[i] || !alike(at, i, all)) continue;
          seen[i] = true;
          open.push_back(i);
        }
      }
    }
    return ids;
  }

  fs::path root_;
  std::vector<std::vector<std::string>> files_;
  StageObserver observer_;
};

TEST_F(Dedup, MinHashKeepsTheFirstOfEachClusterThatComparingEveryTwoFinds) {
  const auto splitter = make_splitter("spacy-en");
  MinHasher hasher({}, *splitter);
  std::map<std::string, std::vector<uint64_t>> signatures;
  for (const auto& file : files_) {
    for (const std::string& text : file) {
      const auto signature = hasher.signature(text);
      signatures[text] = {signature.begin(), signature.end()};
    }
  }
  const auto expected = survivors([&](size_t a, size_t b, const auto& all) {
    const auto &x = signatures.at(all[a].second), &y = signatures.at(all[b].second);
    if (x.empty() || y.empty()) return false;
    for (size_t bucket = 0; bucket < 14; ++bucket) {
      if (std::equal(x.begin() + static_cast<std::ptrdiff_t>(8 * bucket),
                     x.begin() + static_cast<std::ptrdiff_t>(8 * bucket + 8),
                     y.begin() + static_cast<std::ptrdiff_t>(8 * bucket)))
        return true;
    }
    return false;
  });
  const auto report = run_dedup(stage(DedupMethod::MinHash), run("out"));
  ASSERT_TRUE(report);
  EXPECT_EQ(ids("out/documents"), expected);
  EXPECT_EQ((*report)["documents"], 240);
  EXPECT_EQ((*report)["kept"], expected.size());
  EXPECT_LT(expected.size(), 200u);  // the planted ones were found
  EXPECT_GT(expected.size(), 100u);  // and not everything was
  EXPECT_EQ(ids("out/removed").size(), 240 - expected.size());
  EXPECT_FALSE(fs::exists(root_ / "out/work"));
  // Of every cluster shown, the document that stays comes first, then some that do not.
  EXPECT_GT((*report)["samples"].size(), 5u);
  for (const auto& cluster : (*report)["samples"]) {
    ASSERT_GE(cluster.size(), 2u);
    EXPECT_EQ(cluster[0]["note"], "stays");
    EXPECT_EQ(expected.count(cluster[0]["id"]), 1u);
    for (size_t i = 1; i < cluster.size(); ++i) EXPECT_EQ(cluster[i]["note"], "removed");
  }
}

TEST_F(Dedup, ExactKeepsTheFirstOfEqualTexts) {
  const auto expected =
      survivors([](size_t a, size_t b, const auto& all) { return all[a].second == all[b].second; });
  const auto report = run_dedup(stage(DedupMethod::Exact), run("out"));
  ASSERT_TRUE(report);
  EXPECT_EQ(ids("out/documents"), expected);
  EXPECT_GT((*report)["removed"], 20);
}

TEST_F(Dedup, ExactCanLookAtTheNormalFormOnly) {
  std::ofstream(root_ / "in/9.jsonl") << json{{"text", "Café, No. 12!"}}.dump() << "\n"
                                      << json{{"text", "cafe no 7"}}.dump() << "\n"
                                      << json{{"text", "..."}}.dump() << "\n"
                                      << json{{"text", "!?"}}.dump() << "\n";
  DedupStage plain = stage(DedupMethod::Exact);
  plain.inputs.files = {plain.inputs.files.back()};
  DedupStage normal = plain;
  normal.settings.normalize = true;
  EXPECT_EQ((*run_dedup(plain, run("plain")))["kept"], 4);
  // Texts that are nothing but punctuation are not duplicates of each other.
  EXPECT_EQ((*run_dedup(normal, run("normal")))["kept"], 3);
}

TEST_F(Dedup, TheSameBytesForAnyThreadsProcessesAndMemory) {
  for (const DedupMethod method : {DedupMethod::Exact, DedupMethod::MinHash}) {
    DedupStage stage = this->stage(method);
    const auto one = memory_storage();
    run_dedup(stage, run_in(one));
    const auto expected = tree(*one);
    ASSERT_EQ(expected.size(), 3 + 3 * files_.size());
    stage.memory_bytes = 8192;  // several runs a file, several passes a merge
    for (const int64_t threads : {2, 8}) {
      const auto storage = memory_storage();
      run_dedup(stage, run_in(storage, {}, threads));
      EXPECT_TRUE(tree(*storage) == expected) << threads << " threads";
    }
    for (const int64_t count : {2, 3, 11}) {
      const auto storage = memory_storage();
      std::vector<std::jthread> processes;
      for (int64_t i = 0; i < count; ++i) {
        processes.emplace_back([&, i] { run_dedup(stage, run_in(storage, {i, count}, 2)); });
      }
      processes.clear();
      EXPECT_TRUE(tree(*storage) == expected) << count << " processes";
    }
  }
}

// Cuts the power at a write, then goes on with whatever is left on disk.
TEST_F(Dedup, APowerCutAtAnyWriteChangesNothing) {
  const DedupStage stage = this->stage(DedupMethod::MinHash);
  const auto one = memory_storage();
  run_dedup(stage, run_in(one));
  const auto expected = tree(*one);
  int64_t cuts = 0;
  for (int64_t operations = 3;; operations += 17) {
    const auto disk = memory_storage();
    bool survived = true;
    try {
      run_dedup(stage, run_in(faulty_storage(disk, {operations, cuts % 2 == 1})));
    } catch (const Error&) {
      survived = false;
      ++cuts;
    }
    run_dedup(stage, run_in(disk));
    ASSERT_TRUE(tree(*disk) == expected) << "cut after " << operations << " operations";
    if (survived) break;
  }
  EXPECT_GT(cuts, 10);
}

TEST_F(Dedup, AnInputThatChangesBetweenStagesIsAnError) {
  const DedupStage stage = this->stage(DedupMethod::Exact);
  run_dedup(stage, run("out"));
  fs::remove(root_ / "out/tasks/00002.json");  // repeats the filter of that file, and all before it
  DedupStage longer = stage;
  std::ofstream(root_ / "in/2.jsonl", std::ios::app) << json{{"text", "one more"}}.dump() << "\n";
  longer.inputs.files = list_input_files({(root_ / "in").string()});
  try {
    run_dedup(longer, run("out"));
    FAIL() << "went on with another input";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Config);
    EXPECT_NE(std::string(error.what()).find("inputs.files[2].bytes"), std::string::npos)
        << error.what();
  }
}

TEST_F(Dedup, MemoryThatCannotHoldTheClustersIsRefusedWithWhatIsNeeded) {
  DedupStage stage = this->stage(DedupMethod::Exact);
  stage.memory_bytes = 100;
  try {
    run_dedup(stage, run("out"));
    FAIL() << "100 bytes were enough";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--memory: 240 documents"), std::string::npos);
  }
}

TEST(Clusters, RootsAreTheLowestWhateverTheOrderOfPairs) {
  std::mt19937 random(3);
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  for (int i = 0; i < 300; ++i) pairs.emplace_back(random() % 1000, random() % 1000);
  std::vector<uint32_t> expected;
  for (int order = 0; order < 5; ++order) {
    Clusters clusters(1000);
    for (const auto& [a, b] : pairs) clusters.join(a, b);
    const auto summary = clusters.summarize(3, 3);
    const std::vector<uint32_t> roots(clusters.roots().begin(), clusters.roots().end());
    if (order == 0) expected = roots;
    EXPECT_EQ(roots, expected);
    int64_t removed = 0;
    for (uint32_t i = 0; i < roots.size(); ++i) {
      EXPECT_LE(roots[i], i);
      EXPECT_EQ(roots[roots[i]], roots[i]);
      removed += roots[i] != i;
    }
    EXPECT_EQ(summary.removed, removed);
    EXPECT_EQ(summary.largest.size(), 3u);
    EXPECT_GE(summary.size_of_largest[0], summary.size_of_largest[1]);
    std::shuffle(pairs.begin(), pairs.end(), random);
  }
}

TEST(KeyRuns, ManyRunsInLittleMemoryComeOutInOrder) {
  const auto storage = memory_storage();
  std::mt19937_64 random(5);
  std::vector<KeyRecord> all;
  std::vector<KeyRun> runs;
  for (uint32_t file = 0; file < 9; ++file) {
    const std::string path = "keys" + std::to_string(file);
    KeyRunWriter writer(*storage, path, 3, 48 * 100);
    for (uint32_t i = 0; i < 1000 + file; ++i) {
      const KeyRecord record{random() % 50, random() % 50, file, i};
      const auto partition = static_cast<int64_t>(record.high % 3);
      writer.add(partition, record);
      if (partition == 1) all.push_back(record);
    }
    writer.finish();
    for (const KeyRun& run : runs_of_partition(path, writer.counts(), 1)) runs.push_back(run);
  }
  EXPECT_GT(runs.size(), 80u);
  std::sort(all.begin(), all.end());
  std::vector<KeyRecord> merged;
  merge_runs(*storage, runs, 3 * 48 * 1024, "scratch",
             [&](const KeyRecord& record) { merged.push_back(record); });
  EXPECT_TRUE(merged == all);
  for (const std::string& name : storage->list(".")) EXPECT_NE(name.substr(0, 7), "scratch");
}

}  // namespace
}  // namespace ingot::test
