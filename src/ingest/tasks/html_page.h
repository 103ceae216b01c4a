// A report as one HTML file: no scripts, no external resources, all text escaped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/tasks/samples.h"

namespace ingot {

class HtmlPage {
 public:
  explicit HtmlPage(std::string_view title);

  void paragraph(std::string_view text);
  void heading(std::string_view text);
  void facts(const std::vector<std::pair<std::string, std::string>>& rows);  // name, value
  struct Bar {
    std::string label;
    int64_t count = 0;
  };
  void bars(const std::vector<Bar>& bars, int64_t whole);  // each as a share of `whole`
  void table(const std::vector<std::string>& head,
             const std::vector<std::vector<std::string>>& rows);
  void fold_out(std::string_view label, const std::vector<Sample>& samples);
  void samples(const Samples& samples);  // one fold-out per label

  std::string str() const;

 private:
  std::string body_;
  std::string title_;
};

}  // namespace ingot
