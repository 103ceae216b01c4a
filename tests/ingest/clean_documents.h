// Documents cut from the texts under ../shared/data, as tools/clean_documents.py cuts them.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/python_text.h"

namespace ingot::testing_support {

class CleanDocuments {
 public:
  explicit CleanDocuments(const std::string& data) : data_(data) {
    int number = 0;
    for (const auto& path : files("text/novels_en", ".txt", "")) {
      std::string text = read(path);
      if (number++ % 4 != 0) std::erase(text, '\r');
      put_groups(split(text, "\n"), 24, 24, "\n");
    }
    for (const auto& path : files("text", ".txt", "wikitext2_")) put_articles(read(path));
    for (const auto& path : files("text/zh_d2l", ".md", "")) put(read(path));
    for (const auto& path : files("text/zh_songci", ".json", "")) put_poems(read(path));
    put_groups(split(read(data + "/text/tiny_shakespeare.txt"), "\n\n"), 30, 4, "\n\n");
    for (const auto& path : files("text/ja", ".txt", ""))
      put_groups(split(read(path), "\n"), 10, 8, "\n");
    std::ifstream lines(data + "/warc/cc_en_head-0091.jsonl");
    for (std::string line; std::getline(lines, line);) put(nlohmann::json::parse(line)["text"]);
  }

  const std::vector<std::string>& texts() const { return texts_; }

 private:
  static std::string read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::vector<std::filesystem::path> files(const std::string& folder, const std::string& extension,
                                           const std::string& prefix) const {
    std::vector<std::filesystem::path> paths;
    const bool recurses = folder == "text/zh_d2l";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(data_ + "/" + folder)) {
      const auto& path = entry.path();
      if (path.extension() != extension || !path.filename().string().starts_with(prefix)) continue;
      if (recurses || path.parent_path() == std::filesystem::path(data_ + "/" + folder))
        paths.push_back(path);
    }
    std::sort(paths.begin(), paths.end(),
              [](const auto& a, const auto& b) { return a.native() < b.native(); });
    return paths;
  }

  static std::vector<std::string> split(const std::string& text, const std::string& between) {
    std::vector<std::string> pieces;
    size_t begin = 0;
    for (size_t at; (at = text.find(between, begin)) != std::string::npos;
         begin = at + between.size()) {
      pieces.push_back(text.substr(begin, at - begin));
    }
    pieces.push_back(text.substr(begin));
    return pieces;
  }

  static std::string join(const std::vector<std::string>& pieces, size_t begin, size_t end,
                          const std::string& between) {
    std::string text;
    for (size_t i = begin; i < std::min(end, pieces.size()); ++i)
      text += (i == begin ? "" : between) + pieces[i];
    return text;
  }

  void put_groups(const std::vector<std::string>& pieces, size_t size, size_t every,
                  const std::string& between) {
    for (size_t start = 0; start < pieces.size(); start += size * every) {
      put(join(pieces, start, start + size, between));
    }
  }

  void put_articles(const std::string& text) {
    const std::vector<std::string> lines = split(text, "\n");
    std::vector<size_t> starts;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].starts_with(" = ") && !lines[i].starts_with(" = =")) starts.push_back(i);
    }
    starts.push_back(lines.size());
    for (size_t i = 0; i + 1 < starts.size(); ++i) put(join(lines, starts[i], starts[i + 1], "\n"));
  }

  void put_poems(const std::string& text) {
    int number = 0;
    for (const auto& poem : nlohmann::json::parse(text)) {
      if (!poem.contains("paragraphs") || poem["paragraphs"].empty() || number++ % 200 != 0)
        continue;
      const auto lines = poem["paragraphs"].get<std::vector<std::string>>();
      put(join(lines, 0, lines.size(), "\n"));
    }
  }

  static std::string replaced(const std::string& text, const std::string& what,
                              const std::string& by, int at_most = 1 << 30) {
    std::string out;
    size_t begin = 0;
    for (size_t at; at_most-- > 0 && (at = text.find(what, begin)) != std::string::npos;
         begin = at + what.size()) {
      out += text.substr(begin, at - begin) + by;
    }
    return out + text.substr(begin);
  }

  static std::string first_third(const std::string& text) {
    size_t chars = text::length(text) / 3, bytes = 0;
    while (chars > 0) {
      ++bytes;
      if (bytes == text.size() || (static_cast<unsigned char>(text[bytes]) & 0xC0) != 0x80) --chars;
    }
    return text.substr(0, bytes);
  }

  static std::string wear(const std::string& text, size_t way) {
    std::vector<std::string> lines = split(text, "\n");
    switch (way) {
      case 0:
        return replaced(replaced(text, ". ", ".[12] "), ", ", "[citation needed], ");
      case 1:
        return text + "\n" + first_third(text);
      case 2:
        return "Please enable JavaScript in your browser.\n" + text +
               "\nThis page uses cookies, as most do.";
      case 3:
        for (std::string& line : lines) line = "- " + line;
        return join(lines, 0, lines.size(), "\n");
      case 4:
        for (std::string& line : lines) line = std::string(text::rstrip(line)) + "...";
        return join(lines, 0, lines.size(), "\n");
      case 5:
        lines[lines.size() / 2] += " {x}";
        return join(lines, 0, lines.size(), "\n");
      case 6:
        return replaced(replaced(replaced(text, ". ", ".\n"), "! ", "!\n"), "? ", "?\n");
      case 7: {
        const std::string line = "\u2028Write to joe.public@example.org or 8.8.8.8, or 10.0.0.1.\n";
        return replaced(text, " ", "\u00a0# ", 50) + line + line + line;
      }
      default:
        return replaced(replaced(text, ".", ""), "。", "");
    }
  }

  void put(const std::string& text) {
    const size_t index = num_pieces_++;
    if (text.empty()) return;
    texts_.push_back(text);
    if (index % 2 == 0) texts_.push_back(wear(text, index % 9));
  }

  std::string data_;
  size_t num_pieces_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace ingot::testing_support
