// ingot: raw text to a trained language model.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "cli/command.h"
#include "cli/console.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "core/error.h"
#include "core/log.h"
#include "core/text/printable.h"

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

Exit run(const std::vector<std::string>& words, bool& verbose) {
  ingot::cli::Command program("ingot",
                              "Ingot: from raw text to a trained language model, in one program.");
  bool version = false;
  program.add_flag("--version", version, "version and build facts, as `ingot version`");
  program
      .add_flag("-v,--verbose", verbose,
                "say on stderr which files are opened, which algorithms are chosen and what is "
                "waited for")
      ->everywhere();
  ingot::cli::add_commands(program);
  program.footer("Start with: ingot quickstart --text FILE\nEvery command answers --help.");
  program.callback([&] {
    if (version)
      fmt::print("{}", ingot::cli::version_text());
    else
      ingot::cli::print_help(program);
  });
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

Exit fail(ErrorCode code, const std::string& message) {
  end_if_abandoned();
  // One line, whatever it quotes.
  std::string line = ingot::printable(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  fmt::print(stderr, "ingot: {}\n", line);
  return exit_of(code);
}

}  // namespace

int main(int argc, char** argv) {
  ingot::cli::prepare_process();
  ingot::cli::open_console();
  bool verbose = false;
  Exit exit = Exit::Failed;
  try {
    exit = run({argv + 1, argv + argc}, verbose);
  } catch (const ingot::Error& error) {
    const std::string rank = error.rank() >= 0 ? fmt::format("rank {}: ", error.rank()) : "";
    const std::string place =
        error.code() == ErrorCode::Internal
            ? fmt::format(" (an internal error at {}: please report it)", error.place())
            : "";
    exit = fail(error.code(), rank + error.what() + place);
  } catch (const std::bad_alloc&) {
    exit = fail(ErrorCode::Memory, "out of memory: the system gave no more");
  } catch (const std::exception& error) {
    if (std::ferror(stdout) != 0) {
      exit = fail(ErrorCode::Storage, "cannot write to stdout: check the disk");
    } else {
      exit = fail(ErrorCode::Internal, fmt::format("internal error: please report it; {}",
                                                   verbose ? error.what() : "-v says more"));
    }
  }
  return static_cast<int>(exit);
}
