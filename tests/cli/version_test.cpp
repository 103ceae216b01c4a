// What the program says of itself.
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/run_fixture.h"
#include "support/source_path.h"

namespace ingot::test {
namespace {

using Version = RunFixture;

nlohmann::json last_line(const std::string& out) {
  return nlohmann::json::parse(out.substr(out.rfind('\n', out.size() - 2) + 1));
}

std::string of_the_tree(const std::string& file) {
  return slurp(testing_support::source_path(file));
}

TEST_F(Version, LicensesAreTheFilesOfTheTree) {
  const Outcome licenses = ingot({"version", "--licenses"});
  ASSERT_EQ(licenses.code, 0) << licenses.err;
  EXPECT_EQ(licenses.out, of_the_tree("LICENSE") + "\n" + of_the_tree("NOTICE"));
  EXPECT_NE(licenses.out.find("Apache License\n                           Version 2.0"),
            std::string::npos);
}

// The first column of the tables in docs/dependencies.md, but for what only builds and tests use.
TEST_F(Version, NoticeNamesEveryLibraryOfTheDependencies) {
  const std::string notice = of_the_tree("NOTICE");
  std::istringstream lines(of_the_tree("docs/dependencies.md"));
  int found = 0;
  for (std::string line; std::getline(lines, line) && !line.starts_with("## What it is built");) {
    if (!line.starts_with("| ") || line.starts_with("| library")) continue;
    // "Arrow, Parquet", "zlib, zstd", "cuDNN and its frontend's headers", "Open MPI, or another
    // MPI"
    std::istringstream names(line.substr(2, line.find(" |", 2) - 2));
    for (std::string name; std::getline(names, name, ',');) {
      name = name.substr(name.find_first_not_of(' '));
      name = name.substr(0, name.find(" and its"));
      if (name == "static" || name.starts_with("or ")) continue;
      EXPECT_NE(notice.find(name), std::string::npos) << name;
      ++found;
    }
  }
  EXPECT_GT(found, 15);
}

TEST_F(Version, EveryPartWorksOrSaysWhyNot) {
  const Outcome version = ingot({"version", "--json"});
  ASSERT_EQ(version.code, 0) << version.err;
  const auto json = last_line(version.out);
  EXPECT_EQ(json.at("isa").at("build"), nlohmann::json({"generic", "avx2", "avx512"}));
  EXPECT_EQ(json.at("isa").at("machine").at(0), "generic");
  for (const char* name : {"CPU", "CUDA", "cuDNN", "TCP", "NCCL", "MPI"})
    EXPECT_TRUE(json.at("backends").contains(name)) << name;
  for (const char* group : {"backends", "libraries"}) {
    for (const auto& [name, part] : json.at(group).items()) {
      EXPECT_NE(version.out.find("\n  " + name + " "), std::string::npos) << name;
      EXPECT_EQ(part.at("works").get<bool>(),
                part.at("in_build").get<bool>() && part.at("problem").get<std::string>().empty())
          << name;
    }
  }
  EXPECT_TRUE(json.at("backends").at("TCP").at("works").get<bool>());
}

// The program alone in a folder, as where its modules are not installed.
TEST_F(Version, AMissingModuleIsNamed) {
  std::filesystem::copy_file(program(), path("alone"));
  Process process(std::filesystem::path(path("")), {path("alone"), "version", "--json"});
  ASSERT_EQ(process.wait(), 0) << process.err();
  const auto part = last_line(process.out()).at("libraries").at("Oniguruma");
  EXPECT_TRUE(part.at("in_build").get<bool>());
  EXPECT_FALSE(part.at("works").get<bool>());
  EXPECT_EQ(part.at("problem"), "there is no libingot_regex.so beside the program");
  EXPECT_NE(process.out().find("Oniguruma     no: there is no libingot_regex.so"),
            std::string::npos)
      << process.out();
}

// As a package lays it out: bin/ingot, lib/ingot/libingot_*.so.
TEST_F(Version, ModulesAreFoundWhereTheyAreInstalled) {
  const std::filesystem::path root = path("installed"), built = program();
  std::filesystem::create_directories(root / "bin");
  std::filesystem::create_directories(root / "lib/ingot");
  std::filesystem::copy_file(built, root / "bin/ingot");
  std::filesystem::copy_file(built.parent_path() / "libingot_regex.so",
                             root / "lib/ingot/libingot_regex.so");
  Process process(std::filesystem::path(path("")), {root / "bin/ingot", "version", "--json"});
  ASSERT_EQ(process.wait(), 0) << process.err();
  EXPECT_TRUE(last_line(process.out()).at("libraries").at("Oniguruma").at("works").get<bool>());
}

// Every row of every --help: the page cannot differ from it.
TEST_F(Version, TheManualPageHasEveryCommandAndOption) {
  const Outcome man = ingot({"man"});
  ASSERT_EQ(man.code, 0) << man.err;
  std::string page;  // as it reads: without the escapes
  for (size_t i = 0; i < man.out.size(); ++i)
    if (man.out[i] != '\\') page += man.out[i];
  EXPECT_TRUE(page.starts_with(".TH INGOT 1 "));
  int options = 0;
  const std::function<void(const Args&)> look = [&](const Args& command) {
    std::istringstream lines(ingot(with(command, {"--help"})).out);
    std::string line, section;
    std::string name = "ingot";
    for (const std::string& word : command) name += " " + word;
    EXPECT_NE(page.find(name), std::string::npos) << name;
    while (std::getline(lines, line)) {
      if (line.ends_with(":") && !line.starts_with(" ")) section = line;
      if (line.empty()) section.clear();
      if (!line.starts_with("  ") || line.starts_with("   ")) continue;
      const std::string word = line.substr(2, line.find(' ', 2) - 2);
      if (section == "Options:") {
        EXPECT_NE(page.find("\n.B " + word), std::string::npos) << name << " " << word;
        ++options;
      }
      if (section == "Commands:") look(with(command, {word}));
    }
  };
  look({});
  EXPECT_GT(options, 150);
}

}  // namespace
}  // namespace ingot::test
