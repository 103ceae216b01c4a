#include "net/http_request.h"

#include <gtest/gtest.h>

namespace ingot::net {
namespace {

// Fed in pieces of so many bytes.
RequestParser parsed(std::string_view bytes, size_t piece, const HttpLimits& limits = {}) {
  RequestParser parser(limits);
  while (!bytes.empty() && !parser.is_complete() && parser.problem().status == 0) {
    const size_t used = parser.feed(bytes.substr(0, piece));
    bytes.remove_prefix(used);
  }
  return parser;
}

int status_of(std::string_view bytes, const HttpLimits& limits = {}) {
  const int status = parsed(bytes, 1 << 20, limits).problem().status;
  EXPECT_EQ(parsed(bytes, 1, limits).problem().status, status) << bytes;
  return status;
}

TEST(HttpRequest, IsReadInPiecesOfAnySize) {
  constexpr std::string_view kBytes =
      "\r\nPOST /v1/a%20b?x=1&y HTTP/1.1\r\nHost: me\r\nContent-Length: 5\r\nX-Some:  thing "
      "\r\n\r\n"
      "hello";
  for (const size_t piece : {1, 2, 3, 7, 1000}) {
    RequestParser parser = parsed(kBytes, piece);
    ASSERT_TRUE(parser.is_complete());
    const HttpRequest request = parser.take();
    EXPECT_EQ(request.method, "POST");
    EXPECT_EQ(request.path, "/v1/a b");
    EXPECT_EQ(request.query, "x=1&y");
    EXPECT_EQ(request.body, "hello");
    EXPECT_EQ(*request.header("x-some"), "thing");
    EXPECT_EQ(request.header("none"), nullptr);
    EXPECT_TRUE(request.keep_alive);
    EXPECT_FALSE(parser.has_begun());
  }
}

TEST(HttpRequest, ChunksArePutTogether) {
  constexpr std::string_view kBytes =
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n"
      "0\r\nTrailer: t\r\n\r\n";
  for (const size_t piece : {1, 5, 1000}) {
    RequestParser parser = parsed(kBytes, piece);
    ASSERT_TRUE(parser.is_complete());
    EXPECT_EQ(parser.take().body, "abc0123456789");
  }
}

TEST(HttpRequest, TheNextRequestsBytesAreLeft) {
  RequestParser parser({});
  const std::string one = "GET /a HTTP/1.1\r\n\r\n";
  EXPECT_EQ(parser.feed(one + "GET /b HTTP/1.1\r\n\r\n"), one.size());
  EXPECT_TRUE(parser.is_complete());
  EXPECT_EQ(parser.take().path, "/a");
}

TEST(HttpRequest, ConnectionsAreKeptAsTheVersionSays) {
  const auto keeps = [](std::string_view bytes) { return parsed(bytes, 9).take().keep_alive; };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(HttpRequest, WhatIsMalformedIsRefused) {
  for (const char* bytes :
       {"\x16\x03\x01 hello\n\n", "GET\r\n\r\n", "GET /\r\n\r\n", "G@T / HTTP/1.1\r\n\r\n",
        "GET http://x/ HTTP/1.1\r\n\r\n", "GET /a b HTTP/1.1\r\n\r\n", "GET /% HTTP/1.1\r\n\r\n",
        "GET /%4 HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nNo colon\r\n\r\n",
        "GET / HTTP/1.1\r\nA : b\r\n\r\n", "GET / HTTP/1.1\r\n folded\r\n\r\n",
        "GET / HTTP/1.1\r\nA: b\x01\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n"})
    EXPECT_EQ(status_of(bytes), 400) << bytes;
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"), 501);
}

TEST(HttpRequest, LimitsHold) {
  const HttpLimits limits{200, 3, 10};
  EXPECT_EQ(status_of("GET /" + std::string(300, 'a'), limits), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\na: 1\r\nb: 1\r\nc: 1\r\n\r\n", limits), 0);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\na: 1\r\nb: 1\r\nc: 1\r\nd: 1\r\n\r\n", limits), 431);
  const std::string post = "POST / HTTP/1.1\r\n";
  EXPECT_EQ(status_of(post + "Content-Length: 10\r\n\r\n0123456789", limits), 0);
  EXPECT_EQ(status_of(post + "Content-Length: 11\r\n\r\n", limits), 413);
  const std::string chunked = post + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(status_of(chunked + "6\r\nabcdef\r\n5\r\n", limits), 413);
  EXPECT_EQ(status_of(chunked + "ffffffffffffffff\r\n", limits), 400);
  EXPECT_EQ(status_of(chunked + "fffffffffffffff\r\n", limits), 413);
  EXPECT_EQ(status_of(chunked + std::string(2000, '1'), limits), 400);
  EXPECT_EQ(
      status_of(chunked + "0\r\n" + std::string(150, 'a') + "\r\n" + std::string(150, 'b') + "\r\n",
                limits),
      431);
}

}  // namespace
}  // namespace ingot::net
