// ingot: raw text to a trained language model. Exit code 0: done, 1: failed, 2: wrong usage.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "cli/command.h"
#include "core/error.h"
#include "core/log.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("Ingot: from raw text to a trained language model, in one program.", "ingot");
  app.require_subcommand(0, 1);
  bool version = false, verbose = false;
  app.add_flag("--version", version, "print version and build facts");
  app.add_flag("-v,--verbose", verbose, "log more to stderr");
  ingot::cli::Command root(&app);
  ingot::cli::add_quickstart(root);
  ingot::cli::add_config(root);
  ingot::cli::add_train(root);
  ingot::cli::add_generate(root);
  ingot::cli::add_checkpoint(root);
  ingot::cli::add_data(root);
  ingot::cli::add_tokenizer(root);
  ingot::cli::add_bench(root);
  app.footer("Start with: ingot quickstart --text FILE\nEvery command answers --help.");
  // Commands run inside parse(), when everything before them is known.
  app.parse_complete_callback([&] {
    ingot::log::configure(verbose ? ingot::log::Level::Debug : ingot::log::Level::Info,
                          ingot::log::Format::Text);
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (version)
    fmt::print("{}", ingot::cli::version_text());
  else if (app.get_subcommands().empty())
    fmt::print("{}", app.help());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const ingot::Error& error) {
    const std::string rank = error.rank() >= 0 ? fmt::format("rank {}: ", error.rank()) : "";
    fmt::print(stderr, "ingot: {}{}\n", rank, error.what());
    const bool wrong_usage =
        error.code() == ingot::ErrorCode::Usage || error.code() == ingot::ErrorCode::Config;
    return wrong_usage ? 2 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "ingot: unexpected: {}\n", error.what());
    return 1;
  }
}
