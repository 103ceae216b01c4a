#include <gtest/gtest.h>

#include "ingest/read/charset.h"
#include "ingest/read/formats/html_text.h"

namespace ingot {
namespace {

std::string text_of(std::string_view html) {
  std::string text;
  html_to_text(html, text);
  return text;
}

TEST(HtmlText, BlocksAreLinesAndParagraphsStandApart) {
  EXPECT_EQ(text_of("<html><body><h1>Title</h1><p>One  <b>two</b>\n "
                    "three</p><p>Four</p><div>five</div><div>six</div></body></html>"),
            "Title\n\nOne two three\n\nFour\n\nfive\nsix");
  EXPECT_EQ(text_of("a<br>b<br/><br>c<hr>d"), "a\nb\n\nc\nd");
  EXPECT_EQ(text_of("<ul><li>one<li>two</ul>"), "one\ntwo");
  EXPECT_EQ(text_of("<table><tr><td>a</td> <td>b</td></tr><tr><th>c<th>d</tr></table>"),
            "a\tb\nc\td");
  EXPECT_EQ(text_of("in<i>li</i>ne <span> spaces </span> kept"), "inline spaces kept");
}

TEST(HtmlText, WhatIsNotShownIsLeftOut) {
  EXPECT_EQ(text_of("<head><title>t</title><meta x><style>p { a: '<p>' }</style></head>text"),
            "text");
  EXPECT_EQ(text_of("<head><title>t</title>no end tag <body>text"), "text");
  EXPECT_EQ(text_of("<head><meta><p>text"), "text");
  EXPECT_EQ(text_of("a<script>if (1 < 2 && '</p>') x('</scrip>');</SCRIPT >b"), "ab");
  EXPECT_EQ(text_of("a<!-- <p>x</p> -- > -->b<!-->c<!--->d<!-- e --!>f"), "abcdf");
  EXPECT_EQ(text_of("<!DOCTYPE html><?xml version=\"1.0\"?></ >text"), "text");
  EXPECT_EQ(text_of("a<svg><svg/><svg><text>x</text></svg>y</svg>b<noscript>n</"
                    "noscript><textarea>t</textarea>"),
            "ab");
}

TEST(HtmlText, AttributesMayHoldAnything) {
  EXPECT_EQ(text_of("<a title='>' href=\"x>y\" data-x = \"<p>\">link</a><img alt=a>b>c"),
            "linkb>c");
  EXPECT_EQ(text_of("<p class=it's>one</p>two"), "one\n\ntwo");
}

TEST(HtmlText, WhatLooksLikeATagAndIsNoneIsText) {
  EXPECT_EQ(text_of("1 < 2 <3 a<b >c"), "1 < 2 <3 ac");
  EXPECT_EQ(text_of("<"), "<");
  EXPECT_EQ(text_of("text<p"), "text");
  EXPECT_EQ(text_of("text<!-- open"), "text");
  EXPECT_EQ(text_of("text<script>open"), "text");
}

TEST(HtmlText, PreformattedTextKeepsItsSpaces) {
  EXPECT_EQ(text_of("<p>a</p><pre>\n  x\n\n   y\t z\n</pre>b  c"), "a\n\n  x\n\n   y\t z\nb c");
}

TEST(HtmlText, CharacterReferencesAreDecoded) {
  EXPECT_EQ(text_of("&lt;p&gt; &amp; &quot;&apos;"), "<p> & \"'");
  EXPECT_EQ(text_of("&eacute;&euro;&NotEqualTilde;&CounterClockwiseContourIntegral;"),
            "é€\u2242\u0338\u2233");
  EXPECT_EQ(text_of("&eacute &copy2026 &notit; &notin; &amplt;"), "é ©2026 ¬it; ∉ &lt;");
  EXPECT_EQ(text_of("&#233;&#xE9;&#XE9 &#128512;&#x80;&#150;"), "ééé 😀€–");
  EXPECT_EQ(text_of("&#0;&#xD800;&#x110000;&#99999999999999;"), "\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(text_of("a & b &; &# &#x; &unknown; &"), "a & b &; &# &#x; &unknown; &");
}

TEST(Charset, IsFoundAsBrowsersFindIt) {
  EXPECT_EQ(find_charset("ISO-8859-2", "x", true), "iso-8859-2");
  EXPECT_EQ(find_charset("iso-8859-2", "\xEF\xBB\xBFx", true), "utf-8");
  EXPECT_EQ(find_charset("", "\xFF\xFEx", false), "utf-16le");
  EXPECT_EQ(find_charset("", "<html><META name=a><meta charset = 'Shift_JIS'>", true), "shift_jis");
  EXPECT_EQ(find_charset("", "<meta http-equiv=Content-Type content=\"text/html; charset=gb2312\">",
                         true),
            "gb2312");
  EXPECT_EQ(find_charset("", "<meta charset=utf-8>", false), "utf-8");
  EXPECT_EQ(find_charset("", "h\xC3\xA9", true), "utf-8");
  EXPECT_EQ(find_charset("", "h\xE9", true), "windows-1252");
}

TEST(Charset, IsDecodedToUtf8) {
  const auto decoded = [](const std::string& charset, std::string_view bytes) {
    std::string out;
    return decode_charset(charset, bytes, out) ? out : "unknown";
  };
  EXPECT_EQ(decoded("utf-8", "\xEF\xBB\xBFh\xC3\xA9"), "hé");
  EXPECT_EQ(decoded("utf-8", "a\xE9z\xE2\x82!"), "a\uFFFDz\uFFFD!");
  EXPECT_EQ(decoded("iso-8859-1", "\x93h\xE9\x94\x80"), "“hé”€");
  EXPECT_EQ(decoded("gb2312", "\xC4\xE3\xBA\xC3"), "你好");
  EXPECT_EQ(decoded("shift_jis", "\x93\xFA\x96\x7B"), "日本");
  EXPECT_EQ(decoded("euc-kr", "\xC7\xD1"), "한");
  EXPECT_EQ(decoded("windows-1251", "\xCF\xF0"), "Пр");
  EXPECT_EQ(decoded("utf-16le", std::string_view("\xFF\xFEh\0\xE9\0", 6)), "hé");
  EXPECT_EQ(decoded("utf-16be", std::string_view("\0h\0\xE9", 4)), "hé");
  EXPECT_EQ(decoded("shift_jis", "a\x93"), "a\uFFFD");
  EXPECT_EQ(decoded("klingon", "a"), "unknown");
  EXPECT_EQ(decoded("utf-7", "a"), "unknown");
}

}  // namespace
}  // namespace ingot
