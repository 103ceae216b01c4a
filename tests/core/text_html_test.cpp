#include "core/text/html.h"

#include <gtest/gtest.h>

namespace ingot {
namespace {

TEST(HtmlText, EscapesWhatHtmlGivesAMeaningAndNothingElse) {
  EXPECT_EQ(escape_html("<a href=\"x\">Tom & 'Jerry'</a>"),
            "&lt;a href=&#34;x&#34;&gt;Tom &amp; &#39;Jerry&#39;&lt;/a&gt;");
  EXPECT_EQ(escape_html("größer, 漢字\t\n\x01"), "größer, 漢字\t\n\x01");
}

}  // namespace
}  // namespace ingot
