#include <gtest/gtest.h>
#include <algorithm>
#include <thread>

#include "ingest/read/remote/begun_streams.h"
#include "ingest/read/remote/remote.h"
#include "ingest/web_server.h"
#include "remote/hub.h"
#include "support/read_support.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::gzip;
using testing_support::read_all;
using testing_support::ReadResult;
using testing_support::TemporaryFolder;
using testing_support::WebServer;
using Texts = std::vector<std::string>;
using Names = std::vector<std::string>;

class ReadWeb : public ::testing::Test {
 protected:
  ReadWeb() {
    for (int i = 0; i < 10'000; ++i)
      contents_ += fmt::format("{{\"text\": \"document number {}\"}}\n", i);
    files_.write("a.jsonl", contents_);
    files_.write("b.jsonl.gz", gzip(contents_));
    settings_.remote.first_delay_ms = 1;
    settings_.remote.stall_seconds = 1;
    settings_.remote.hf_endpoint = server_.root();
  }

  ReadResult read(const std::string& path) {
    return read_all(list_input_files({server_.url(path)}).at(0), settings_);
  }
  void expect_whole(const std::string& path) {
    const auto result = read(path);
    ASSERT_EQ(result.documents.size(), 10'000) << path;
    EXPECT_EQ(result.documents[9'999].text, "document number 9999") << path;
    EXPECT_TRUE(result.counts.skipped.empty()) << path;
  }
  std::string refused(ErrorCode code, const std::string& path) {
    return error_of(code, [&] { read(path); });
  }
  void use_cache() { settings_.remote.cache_folder = folder_.path("cache"); }
  std::string first_document(const std::string& path) {  // and stop reading
    const auto reader = open_documents(list_input_files({server_.url(path)}).at(0), settings_);
    Document document;
    return reader->next(document) ? document.text : "";
  }
  Names cached() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path("cache"))) {
      names.push_back(entry.path().extension());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  TemporaryFolder folder_;
  struct FilesFolder {
    std::string path;
    void write(const std::string& name, std::string_view bytes) const {
      std::filesystem::create_directories(std::filesystem::path(path + "/" + name).parent_path());
      std::ofstream(path + "/" + name, std::ios::binary) << bytes;
    }
  } files_{folder_.path("served")};
  std::string contents_;
  WebServer server_{files_.path};
  ReadSettings settings_;
};

TEST_F(ReadWeb, FilesAreStreamed) {
  expect_whole("plain/a.jsonl");
  expect_whole("plain/b.jsonl.gz?download=true");
  expect_whole("redirect/a.jsonl");
  expect_whole("nolength/a.jsonl");
  files_.write("empty.jsonl", "");
  EXPECT_TRUE(read("plain/empty.jsonl").documents.empty());
}

TEST_F(ReadWeb, BrokenTransfersGoOnWhereTheyBroke) {
  expect_whole("drop-90000/a.jsonl");
  expect_whole("drop-15000/b.jsonl.gz");
  expect_whole("norange-150000/a.jsonl");
  expect_whole("stall-150000/a.jsonl");
}

// Streams that were checked before a job end with its settings: none of them may hold what keeps
// it.
TEST_F(ReadWeb, StreamsOfACheckThatFailsEndWithTheSettings) {
  for (const std::string cache : {"", "cache"}) {
    for (const std::string path : {"plain/a.jsonl", "plain/none.jsonl"}) {
      ReadSettings settings = settings_;
      settings.text_field = "body";
      if (!cache.empty()) settings.remote.cache_folder = folder_.path(cache);
      error_of(ErrorCode::Data,
               [&] { check_text_field(list_input_files({server_.url(path)}), settings); });
      const std::weak_ptr<BegunStreams> begun = settings.begun;
      ASSERT_FALSE(begun.expired()) << path;
      settings = ReadSettings();
      EXPECT_TRUE(begun.expired()) << path;
    }
  }
}

TEST_F(ReadWeb, ABusyServerIsAskedAgain) {
  for (const char* status : {"429", "500", "503"})
    expect_whole(fmt::format("busy-3-{}/a.jsonl", status));
  settings_.remote.max_attempts = 3;
  const std::string error = refused(ErrorCode::Storage, "busy-9-503/b.jsonl.gz");
  EXPECT_NE(error.find("failed after 3 attempts"), std::string::npos) << error;
  EXPECT_NE(error.find("answers 503"), std::string::npos) << error;
}

TEST_F(ReadWeb, WhatIsNotThereIsSaidAtOnce) {
  EXPECT_NE(refused(ErrorCode::Data, "plain/none.jsonl").find("none.jsonl: the server answers 404"),
            std::string::npos);
  EXPECT_EQ(read("requests.txt").texts(), Texts{"1"});
}

TEST_F(ReadWeb, AServerThatIsNotThereIsAnError) {
  server_.stop();
  settings_.remote.max_attempts = 2;
  EXPECT_NE(refused(ErrorCode::Storage, "plain/a.jsonl").find("failed after 2 attempts"),
            std::string::npos);
}

TEST_F(ReadWeb, AFileThatChangesWhileItIsReadIsAnError) {
  // What nobody has read yet may be replaced by the new file. The reader gets time to read some.
  settings_.remote.first_delay_ms = 500;
  EXPECT_NE(refused(ErrorCode::Data, "changed-300000/a.jsonl").find("changed on the server"),
            std::string::npos);
}

TEST_F(ReadWeb, ACachedFileIsReadWithoutTheNetwork) {
  use_cache();
  expect_whole("plain/a.jsonl");
  EXPECT_EQ(cached(), (Names{".jsonl"}));
  server_.stop();
  expect_whole("plain/a.jsonl");
}

TEST_F(ReadWeb, AStoppedTransferGoesOnInTheCache) {
  use_cache();
  settings_.remote.max_attempts = 2;
  // Whatever of it has come by then: the first document is enough to stop.
  EXPECT_EQ(first_document("stall-300000/a.jsonl"), "document number 0");
  EXPECT_EQ(cached(), (Names{".json", ".part"}));
  expect_whole("stall-300000/a.jsonl");
  EXPECT_EQ(cached(), (Names{".jsonl"}));
}

TEST_F(ReadWeb, APartOfAnotherVersionIsThrownAway) {
  use_cache();
  EXPECT_EQ(first_document("stall-300000/a.jsonl"), "document number 0");
  std::string changed = contents_;
  std::replace(changed.begin(), changed.end(), 'd', 'D');
  files_.write("a.jsonl", changed);
  const auto result = read("stall-300000/a.jsonl");
  ASSERT_EQ(result.documents.size(), 10'000);
  EXPECT_EQ(result.documents[0].text, "Document number 0");
}

TEST_F(ReadWeb, ManyReadersOfOneFileFetchItOnce) {
  use_cache();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_whole("drop-90000/a.jsonl"); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cached(), (Names{".jsonl"}));
}

TEST_F(ReadWeb, AStreamMayBeLeftAtAnyTime) {
  for (const char* path : {"plain/a.jsonl", "stall-100000/a.jsonl", "drop-100000/a.jsonl"}) {
    EXPECT_EQ(first_document(path), "document number 0");
  }
}

TEST_F(ReadWeb, HubDatasetsAreListedAndRead) {
  for (const char* name : {"data/train-0.jsonl", "data/train-1.jsonl", "data/test.jsonl",
                           "data/en/x.jsonl", "README.md", ".gitattributes"}) {
    files_.write(name, "{\"text\": \"" + std::string(name) + "\"}\n");
  }
  const auto names = [&](const std::string& address) {
    Names result;
    for (const auto& file : list_input_files({address}, settings_.remote))
      result.push_back(file.name);
    return result;
  };
  EXPECT_EQ(names("hf://datasets/o/n/data"),
            (Names{"en/x.jsonl", "test.jsonl", "train-0.jsonl", "train-1.jsonl"}));
  EXPECT_EQ(names("hf://datasets/o/n/data/train-*.jsonl"),
            (Names{"train-0.jsonl", "train-1.jsonl"}));
  EXPECT_EQ(names("hf://datasets/o/n@v1/**/x.jsonl"), (Names{"data/en/x.jsonl"}));
  EXPECT_EQ(names("hf://datasets/o/n").size(), 6);
  const auto files =
      list_input_files({"hf://datasets/o/n@refs/convert/parquet/data/en"}, settings_.remote);
  EXPECT_EQ(files.at(0).location, "hf://datasets/o/n@refs/convert/parquet/data/en/x.jsonl");
  EXPECT_EQ(files.at(0).bytes, 28);
  EXPECT_EQ(read_all(files.at(0), settings_).texts(), Texts{"data/en/x.jsonl"});
  EXPECT_EQ(
      read_all(list_input_files({"hf://datasets/o/n/data/test.jsonl"}, settings_.remote).at(0),
               settings_)
          .texts(),
      Texts{"data/test.jsonl"});
  error_of(ErrorCode::Data, [&] { names("hf://datasets/o/n/none"); });
}

TEST_F(ReadWeb, AHubThatLeadsOutOfTheDatasetOrElsewhereIsRefused) {
  files_.write("data/a.jsonl", "{}\n");
  const auto list = [&](const std::string& owner) {
    return error_of(ErrorCode::Data, [&] {
      list_input_files({"hf://datasets/" + owner + "/n/data/**"}, settings_.remote);
    });
  };
  EXPECT_NE(list("outside").find("leads out of its folder"), std::string::npos);
  EXPECT_NE(list("elsewhere").find("http://elsewhere.invalid"), std::string::npos);
}

TEST_F(ReadWeb, PrivateDatasetsNeedTheToken) {
  const auto read_private = [&] {
    return read_all(list_input_files({"hf://datasets/private/n/a.jsonl"}, settings_.remote).at(0),
                    settings_);
  };
  const std::string error = error_of(ErrorCode::Data, read_private);
  EXPECT_NE(error.find("401"), std::string::npos) << error;
  EXPECT_NE(error.find("token"), std::string::npos) << error;
  settings_.remote.hf_token = "secret";
  EXPECT_EQ(read_private().documents.size(), 10'000);
  settings_.remote.hf_token = "wrong";
  EXPECT_NE(error_of(ErrorCode::Data, read_private).find("403"), std::string::npos);
}

TEST(Remote, PatternsMatchWholeComponents) {
  EXPECT_TRUE(matches_pattern("a/*.txt", "a/b.txt"));
  EXPECT_FALSE(matches_pattern("a/*.txt", "a/b/c.txt"));
  EXPECT_TRUE(matches_pattern("**/c.txt", "a/b/c.txt"));
  EXPECT_TRUE(matches_pattern("**/c.txt", "c.txt"));
  EXPECT_TRUE(matches_pattern("a/**", "a/b/c.txt"));
  EXPECT_FALSE(matches_pattern("a/**/d", "a/b/c"));
  EXPECT_FALSE(matches_pattern("*", ".hidden"));
  EXPECT_TRUE(matches_pattern("**/b/**/b/c", "a/b/b/a/b/c"));
  EXPECT_TRUE(is_remote("https://a/b"));
  EXPECT_FALSE(is_remote("./a/https://b"));
}

TEST(Remote, APatternOfManyFoldersIsMatchedInTheTimeOfAFew) {
  std::string pattern, path;
  for (int i = 0; i < 40; ++i) {
    pattern += "**/";
    path += "a/";
  }
  EXPECT_FALSE(matches_pattern(pattern + "z", path + "y"));
  EXPECT_TRUE(matches_pattern(pattern + "z", path + "z"));
}

TEST(Remote, OtherSchemesAreRefused) {
  EXPECT_NE(
      error_of(ErrorCode::Data, [] { list_input_files({"ftp://host/a.txt"}); }).find("http://"),
      std::string::npos);
}

}  // namespace
}  // namespace ingot
