#include "parallel/comm/tcp/message.h"

#include <gtest/gtest.h>

#include "core/error/error.h"
#include "parallel/comm/tcp/siphash.h"

namespace ingot::tcp {
namespace {

// vectors_sip128 of the reference implementation (github.com/veorq/SipHash): the key is 00 … 0f,
// row n is the hash of 00 … n - 1.
TEST(SipHash, GivesThePublishedVectors) {
  const char* rows[] = {"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
                        "8177228da4a45dc7fca38bdef60affe4", "9c70b60c5267a94e5f33b6b02985ed51",
                        "f88164c12d9c8faf7d0f6e7c7bcd5579", "1368875980776f8854527a07690e9627",
                        "14eeca338b208613485ea0308fd7a15e", "a1f1ebbed8dbc153c0b84aa61ff08239",
                        "3b62a9ba6258f5610f83e264f31497b4"};
  Key key;
  for (size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  std::vector<std::byte> bytes;
  const auto hex_of_hash = [&] {
    std::string hex;
    for (const std::byte byte : siphash(key, bytes)) hex += fmt::format("{:02x}", byte);
    return hex;
  };
  for (const char* row : rows) {
    EXPECT_EQ(hex_of_hash(), row) << bytes.size();
    bytes.push_back(static_cast<std::byte>(bytes.size()));
  }
  while (bytes.size() < 15) bytes.push_back(static_cast<std::byte>(bytes.size()));
  EXPECT_EQ(hex_of_hash(), "5493e99933b0a8117e08ec0f97cfc3d9");
}

std::vector<Message> read_all(FrameReader& reader, std::string_view bytes, size_t at_a_time) {
  std::vector<Message> messages;
  while (!bytes.empty()) {
    const size_t count = std::min({reader.missing(), at_a_time, bytes.size()});
    if (auto message = reader.add(std::as_bytes(std::span(bytes.substr(0, count)))))
      messages.push_back(std::move(*message));
    bytes.remove_prefix(count);
  }
  return messages;
}

TEST(FrameReader, GivesBackWhatWasEncodedHoweverItArrives) {
  const Message first{Kind::JoinRound, 3, -600000, "save", std::string(70000, 'x')};
  const Message second{Kind::Done};
  const std::string bytes = encode(first) + encode(second);
  for (const size_t at_a_time : {1, 7, 65536}) {
    FrameReader reader(kMaxFrame);
    const auto messages = read_all(reader, bytes, at_a_time);
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].kind, first.kind);
    EXPECT_EQ(messages[0].rank, first.rank);
    EXPECT_EQ(messages[0].number, first.number);
    EXPECT_EQ(messages[0].name, first.name);
    EXPECT_EQ(messages[0].text, first.text);
    EXPECT_EQ(messages[1].kind, Kind::Done);
  }
}

TEST(FrameReader, RefusesWhatIsNoFrameOfOurs) {
  const auto refused = [](std::string bytes, size_t longest = kMaxFrame) {
    FrameReader reader(longest);
    try {
      read_all(reader, bytes, 65536);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Comm);
      return std::string(error.what());
    }
    return std::string();
  };
  const std::string good = encode({Kind::Beat, 1, 0, "", "step 7"});
  const auto with = [&](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  EXPECT_EQ(refused(good), "");
  EXPECT_NE(refused("GET / HTTP/1.1\r\n"), "");
  EXPECT_NE(refused(good, /*longest=*/20), "");
  EXPECT_NE(refused(with(4, 2)).find("the same build everywhere"), std::string::npos);
  EXPECT_NE(refused(with(5, 99)), "");   // kind
  EXPECT_NE(refused(with(18, 50)), "");  // length of the name
  EXPECT_NE(refused(with(22, 5)), "");   // length of the text
  EXPECT_NE(refused(with(0, 3)), "");    // too short to be one
}

}  // namespace
}  // namespace ingot::tcp
