// ingot: raw text to a trained language model.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <system_error>

#include "cli/frame/command.h"
#include "cli/frame/console.h"
#include "cli/frame/help.h"
#include "cli/start/machine.h"
#include "cli/start/processes.h"
#include "cli/start/signals.h"
#include "core/error/foreign_error.h"
#include "core/error/log.h"
#include "core/storage/storage.h"
#include "tokenizer/tokenizer.h"

namespace {

using ingot::ErrorCode;
using ingot::cli::Exit;

Exit exit_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::Usage:
    case ErrorCode::Config:
      return Exit::Usage;
    case ErrorCode::Comm:
      return Exit::RankLost;
    default:
      return Exit::Failed;
  }
}

Exit run(const std::vector<std::string>& words) {
  ingot::cli::Command program("ingot",
                              "Ingot: from raw text to a trained language model, in one program.");
  bool version = false, verbose = false;
  program.add_flag("--version", version, "version and build facts, as `ingot version`");
  program
      .add_flag("-v,--verbose", verbose,
                "say on stderr which files are opened, which algorithms are chosen and what is "
                "waited for")
      ->everywhere();
  ingot::cli::add_commands(program);
  program.footer("Start with `ingot quickstart --text FILE`. Every command answers --help.");
  program.callback([&] {
    if (version)
      fmt::print("{}", ingot::cli::version_text());
    else
      ingot::cli::print_help(program);
  });
  if (const std::string cache = ingot::cli::default_cache_dir(); !cache.empty())
    ingot::keep_tokenizers_in(ingot::join_path(cache, "tokenizers"));
  const Exit exit = program.run(words, [&] {
    ingot::log::configure(verbose ? ingot::log::Level::Debug : ingot::log::Level::Info,
                          ingot::log::Format::Text);
  });
  ingot::cli::finish_stdout();
  return exit;
}

// Nobody reads any more: end as other programs do in a pipe, without a word.
void end_if_abandoned() {
  if (std::ferror(stdout) == 0 || !ingot::cli::is_stdout_abandoned()) return;
  std::signal(SIGPIPE, SIG_DFL);
  std::raise(SIGPIPE);
}

Exit fail(const ingot::Error& error) {
  end_if_abandoned();
  if (ingot::cli::is_shown_by_launch(error)) return exit_of(error.code());
  std::string line = ingot::cli::one_line(ingot::cli::speaker_of(error) + error.what());
  if (error.code() == ErrorCode::Internal)
    line += fmt::format(" (an error in ingot, at {}: please report it)", error.place());
  fmt::print(stderr, "ingot: {}\n", line);
  return exit_of(error.code());
}

}  // namespace

int main(int argc, char** argv) {
  ingot::cli::prepare_process();
  ingot::cli::open_console();
  try {
    return static_cast<int>(run({argv + 1, argv + argc}));
  } catch (const ingot::Error& error) {
    return static_cast<int>(fail(error));
  } catch (const std::system_error& error) {
    // fmt::print() found stdout full before finish_stdout() did.
    return static_cast<int>(fail(std::ferror(stdout) != 0
                                     ? ingot::cli::stdout_error(error.code().value())
                                     : ingot::translated(error)));
  } catch (const std::exception& error) {
    return static_cast<int>(fail(ingot::translated(error)));
  }
}
