#include <gtest/gtest.h>

#include "support/read_support.h"
#include "support/source_path.h"

namespace ingot {
namespace {

using testing_support::error_of;
using testing_support::gzip;
using testing_support::read_all;
using testing_support::TemporaryFolder;
using Texts = std::vector<std::string>;
using Skipped = std::map<std::string, int64_t>;

std::string record(const std::string& type, const std::string& block,
                   const std::string& more = "") {
  return fmt::format(
      "WARC/1.0\r\nWARC-Type: {}\r\nWARC-Record-ID: <urn:uuid:{}>\r\nwarc-target-uri: "
      "http://x/{}\r\n"
      "Content-Length: {}\r\n{}\r\n{}\r\n\r\n",
      type, block.size(), type, block.size(), more, block);
}

std::string response(const std::string& header, const std::string& body) {
  return record("response", "HTTP/1.1 200 OK\r\n" + header + "\r\n" + body);
}

const char kHtml[] = "Content-Type: text/html; charset=UTF-8\r\n";

TEST(ReadWarc, PagesBecomeDocuments) {
  const TemporaryFolder folder;
  const std::string page = response(kHtml, "<p>one</p><p>two</p>");
  const auto result = read_all(
      folder.write("a.warc", record("warcinfo", "software: x\r\n") + record("request", "GET /") +
                                 page + record("metadata", "x: y") +
                                 record("conversion", "plain", "Content-Type: text/plain\r\n")));
  EXPECT_EQ(result.texts(), (Texts{"one\n\ntwo", "plain"}));
  EXPECT_EQ(result.documents[0].url, "http://x/response");
  EXPECT_TRUE(result.documents[0].id.starts_with("urn:uuid:")) << result.documents[0].id;
  EXPECT_EQ(result.counts.skipped, (Skipped{{"not_a_page", 3}}));
}

TEST(ReadWarc, EachRecordMayBeAGzipMember) {
  const TemporaryFolder folder;
  std::string contents;
  Texts expected;
  for (int i = 0; i < 500; ++i) {
    expected.push_back("page " + std::to_string(i));
    contents += gzip(response(kHtml, "<body>" + expected.back()));
  }
  EXPECT_EQ(read_all(folder.write("a.warc.gz", contents)).texts(), expected);
}

TEST(ReadWarc, BodiesAreDecoded) {
  const TemporaryFolder folder;
  const std::string html = "<p>caf&eacute;";
  const std::string chunked = "Transfer-Encoding: chunked\r\n",
                    zipped = "Content-Encoding: gzip\r\n";
  const std::string zipped_html = gzip(html);
  const std::string in_chunks =
      fmt::format("3\r\n{}\r\n{:x};x=y\r\n{}\r\n0\r\n\r\n", zipped_html.substr(0, 3),
                  zipped_html.size() - 3, zipped_html.substr(3));
  const auto result = read_all(folder.write(
      "a.warc",
      response(kHtml + chunked, "3\r\n<p>\r\nb\r\ncaf&eacute;\r\n0\r\n\r\n") +
          response(kHtml + zipped, zipped_html) + response(kHtml + chunked + zipped, in_chunks) +
          response(kHtml + chunked + zipped, html) +  // stored decoded, the header left as it was
          response("Content-Type: text/html\r\n", "<p>caf\xE9") +
          response("Content-Type: text/html\r\n", "<meta charset=koi8-r><p>\xC4\xC1")));
  EXPECT_EQ(result.texts(), (Texts{"café", "café", "café", "café", "café", "да"}));
}

TEST(ReadWarc, AHeaderOfMoreLinesThanAnyServerSendsIsNotHttp) {
  const TemporaryFolder folder;
  std::string lines = kHtml;
  for (int i = 0; i < 2000; ++i) lines += "x: y\r\n";
  const auto result =
      read_all(folder.write("a.warc", response(lines, "no") + response(kHtml, "good")));
  EXPECT_EQ(result.texts(), Texts{"good"});
  EXPECT_EQ(result.counts.skipped, (Skipped{{"invalid_http", 1}}));
}

TEST(ReadWarc, WhatIsNoPageIsCountedByReason) {
  const TemporaryFolder folder;
  ReadSettings settings;
  settings.max_document_bytes = 200;
  const auto result = read_all(
      folder.write(
          "a.warc",
          record("response", "HTTP/1.1 404 Not Found\r\n" + std::string(kHtml) + "\r\n<p>no") +
              record("response", "not http") + response("Content-Type: image/png\r\n", "x") +
              response("", "x") + response("Content-Type: text/html; charset=klingon\r\n", "x") +
              response(std::string(kHtml) + "Content-Encoding: br\r\n", "x") +
              response(std::string(kHtml) + "Content-Encoding: gzip\r\n",
                       gzip("abc").substr(0, 12)) +
              response(std::string(kHtml) + "Content-Encoding: gzip\r\n",
                       gzip(std::string(500, 'x'))) +
              response(kHtml, std::string(500, 'x')) + response(kHtml, "<br>") +
              response(kHtml, "good")),
      settings);
  EXPECT_EQ(result.texts(), Texts{"good"});
  EXPECT_EQ(result.counts.skipped, (Skipped{{"http_status", 1},
                                            {"invalid_http", 2},
                                            {"not_text", 2},
                                            {"unknown_charset", 1},
                                            {"unknown_encoding", 1},
                                            {"too_large", 2},
                                            {"empty", 1}}));
}

TEST(ReadWarc, DamageIsAnError) {
  const TemporaryFolder folder;
  const std::string page = response(kHtml, "<p>one</p>");
  const auto refused = [&](const std::string& contents) {
    const std::string path = folder.write("a.warc", contents);
    return error_of(ErrorCode::Data, [&] { read_all(path); });
  };
  refused(page + "garbage\r\n");
  refused("WARC/1.0\r\nContent-Length: -5\r\n\r\n");
  refused("WARC/1.0\r\nWARC-Type: response\r\n\r\n");
  refused("WARC/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n");
  refused("WARC/1.0\r\nContent-Length: 9223372036854775807\r\n\r\n");
  for (size_t size = 1; size + 4 < page.size(); ++size) {
    EXPECT_NE(refused(page.substr(0, size)).find("cut short"), std::string::npos) << size;
  }
}

TEST(ReadWarc, ReadsCrawledPages) {
  const std::string folder = testing_support::source_path("../shared/data/warc/");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  for (const auto& [name, records, pages] :
       {std::tuple{"sample-0000.warc.gz", 48, 22}, {"sample-0001.warc.gz", 34, 15}}) {
    const auto result = read_all(folder + name);
    EXPECT_EQ(result.counts.documents, pages) << name;
    EXPECT_EQ(result.counts.skipped, (Skipped{{"not_a_page", records - pages}})) << name;
    for (const auto& document : result.documents) {
      EXPECT_TRUE(document.url.starts_with("http")) << document.url;
      EXPECT_EQ(document.text.find("<div"), std::string::npos) << document.url;
    }
  }
}

}  // namespace
}  // namespace ingot
