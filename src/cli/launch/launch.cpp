// ingot launch -n N -- train RECIPE
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include "cli/frame/command.h"
#include "cli/launch/agent.h"
#include "cli/launch/attempt.h"
#include "core/error/error.h"
#include "core/storage/storage.h"

extern "C" char** environ;

namespace ingot::cli {
namespace {

struct LaunchCommand {
  std::vector<std::string> words;  // of the command that ranks run
  int ranks = 0;
  std::string hosts, program, address, ssh = "ssh";
  std::vector<std::string> variables;
  int restarts = 0;
  bool agent = false;

  Exit run() const {
    if (agent) {
      run_agent();
      return Exit::Done;
    }
    check(!words.empty(), ErrorCode::Usage,
          "expected the command that every rank runs: ingot launch -n 2 -- train RECIPE.toml");
    check_has_ranks();
    check(restarts == 0 || words[0] == "train", ErrorCode::Usage,
          "--restarts resumes a run: expected train after --, got {}", words[0]);
    LaunchPlan plan = this->plan();
    SignalQueue signals({SIGINT, SIGTERM, SIGUSR1, SIGUSR2});
    std::signal(SIGHUP, SIG_IGN);  // as a run that has lost its terminal does
    for (int left = restarts;; --left) {
      const LaunchEnd end = run_attempt(plan, signals);
      if (end.why.empty()) return end.exit;
      fmt::print(stderr, "ingot launch: {}; all ranks are ended\n", end.why);
      const bool again = left > 0 && !end.asked_to && end.exit != Exit::Usage;
      if (!again) return end.exit;
      fmt::print(stderr, "ingot launch: restart {} of {}, from the newest checkpoint\n",
                 restarts - left + 1, restarts);
      if (std::ranges::find(plan.args, "--resume") == plan.args.end())
        plan.args.push_back("--resume");
    }
  }

 private:
  // Any other command would do the same once for every rank, into the same files.
  void check_has_ranks() const {
    static constexpr std::string_view kCommands[] = {
        "train",       "smoke",      "probe",      "bench train",        "bench comm",
        "plan memory", "data clean", "data dedup", "data decontaminate", "data tokenize"};
    std::string command;
    for (const std::string& word : words) {
      if (word.starts_with('-')) continue;
      command += (command.empty() ? "" : " ") + word;
      const auto begins = [&](std::string_view known) { return known.starts_with(command + " "); };
      if (std::ranges::find(kCommands, command) != std::end(kCommands)) return;
      check(std::ranges::any_of(kCommands, begins), ErrorCode::Usage,
            "«{}» has no ranks, so each of them would do the same: run it without launch, which "
            "starts {}",
            command, fmt::join(kCommands, ", "));
    }
  }

  LaunchPlan plan() const {
    LaunchPlan plan;
    plan.hosts = place_ranks(
        hosts.empty() ? std::vector<HostSlots>{{this_machine(), 0}} : read_hosts(), ranks);
    plan.ranks = plan.hosts.back().first + plan.hosts.back().count;
    std::error_code ignored;
    plan.program = program.empty()
                       ? std::filesystem::read_symlink("/proc/self/exe", ignored).string()
                       : program;
    plan.folder = std::filesystem::current_path().string();
    std::istringstream ssh_words(ssh);
    for (std::string word; ssh_words >> word;) plan.ssh.push_back(word);
    check(!plan.ssh.empty(), ErrorCode::Usage, "--ssh: expected a command, got nothing");
    plan.address = address;
    plan.variables = passed_on();
    for (const auto& [name, value] : parse_variables()) plan.variables[name] = value;
    plan.variables["INGOT_LAUNCH"] = line();
    plan.args = words;
    return plan;
  }

  std::vector<HostSlots> read_hosts() const {
    const auto storage = posix_storage();
    const bool is_file = std::filesystem::is_regular_file(hosts);
    return parse_hosts(is_file ? read_text(*storage, hosts) : hosts,
                       is_file ? hosts : std::string("--hosts"));
  }

  std::vector<std::pair<std::string, std::string>> parse_variables() const {
    std::vector<std::pair<std::string, std::string>> read;
    for (const std::string& text : variables) {
      const size_t equals = text.find('=');
      check(equals != std::string::npos && equals > 0, ErrorCode::Usage,
            "--env expected NAME=VALUE, got \"{}\"", text);
      read.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return read;
  }

  // What other machines would not have by themselves: how NCCL is set up here.
  static std::map<std::string, std::string> passed_on() {
    std::map<std::string, std::string> passed;
    for (char** at = environ; *at != nullptr; ++at) {
      const std::string_view text = *at;
      const size_t equals = text.find('=');
      if (text.starts_with("NCCL_") && equals != std::string_view::npos)
        passed[std::string(text.substr(0, equals))] = text.substr(equals + 1);
    }
    return passed;
  }

  // This command up to its "--", for messages of the ranks, without what may be secret.
  std::string line() const {
    std::string text = "ingot launch";
    if (ranks > 0) text += fmt::format(" -n {}", ranks);
    if (!hosts.empty()) text += fmt::format(" --hosts {}", hosts);
    if (!program.empty()) text += fmt::format(" --program {}", program);
    if (!address.empty()) text += fmt::format(" --address {}", address);
    if (ssh != "ssh") text += fmt::format(" --ssh '{}'", ssh);
    if (restarts > 0) text += fmt::format(" --restarts {}", restarts);
    for (const auto& [name, value] : parse_variables()) text += fmt::format(" --env {}=…", name);
    return text;
  }
};

}  // namespace

void add_launch(Command& app) {
  auto command = std::make_shared<LaunchCommand>();
  auto* launch = app.add_subcommand(
      "launch", "start the ranks of a run as processes, on this machine or on several by ssh");
  launch->add_option("COMMAND", command->words,
                     "after --: what every rank runs, such as train RECIPE.toml");
  launch
      ->add_option("-n,--ranks", command->ranks,
                   "number of ranks; default with --hosts a:8,b:8: as "
                   "many as they take")
      ->positive();
  launch->add_option("--hosts", command->hosts,
                     "machines: a,b:4 (NAME:RANKS), or a file with one per line; default: this "
                     "machine");
  launch
      ->add_option("--restarts", command->restarts,
                   "how often to resume from the newest checkpoint after a failure that is not "
                   "one of the settings")
      ->not_negative()
      ->capture_default_str();
  launch->add_option("--env", command->variables, "NAME=VALUE for every rank (repeatable)")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  launch->add_option("--program", command->program,
                     "path of ingot on the machines; default: the same as here");
  launch->add_option("--address", command->address,
                     "name or address by which the machines reach rank 0's");
  launch->add_option("--ssh", command->ssh, "the command that reaches a machine")
      ->capture_default_str();
  launch->add_flag("--agent", command->agent,
                   "be the part that starts the ranks of one machine; launch itself uses it");
  launch->footer(
      "Examples:\n"
      "  ingot launch -n 2 -- train recipes/shakespeare.toml --set data.train=input.txt\n"
      "  ingot launch --hosts a:8,b:8 -- train recipes/x.toml\n"
      "  ingot launch --hosts hosts.txt --restarts 3 -- train recipes/x.toml --resume\n"
      "Lines of rank 0 are shown as they are, those of rank 3 with [3] before them. The first rank "
      "that fails is named and ends the others; its exit code is launch's, 4 for one that was "
      "killed. Signals go to all ranks. Under mpirun and srun `ingot train` needs no launch.");
  launch->callback([command] { return command->run(); });
}

}  // namespace ingot::cli
