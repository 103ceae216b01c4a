// A Slurm, run by whoever runs the test, in a folder of its own: of one node, which is this
// machine, or of the hosts of a network.
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cli/process.h"
#include "cli/programs.h"
#include "support/free_port.h"

namespace ingot::test {

class SlurmCluster {
 public:
  struct Node {
    std::string name, address;
    std::vector<std::string> launcher;  // what to put before a command that is to run on it
  };

  static bool is_installed() {
    for (const char* name : {"munged", "slurmctld", "slurmd", "srun", "scancel", "sinfo"}) {
      if (find_program(name).empty()) return false;
    }
    return true;
  }

  // Up when it returns; srun and scancel of this process, on the first node, then mean this
  // cluster.
  explicit SlurmCluster(const std::filesystem::path& folder,
                        std::vector<Node> nodes = {this_machine()})
      : folder_(folder), nodes_(std::move(nodes)) {
    for (const char* name : {"state", "munge", "slurmctld", "client"}) {
      std::filesystem::create_directories(folder_ / name);
    }
    for (const Node& node : nodes_) std::filesystem::create_directories(folder_ / node.name);
    std::filesystem::permissions(folder_ / "munge", std::filesystem::perms::owner_all);
    std::ofstream(folder_ / "munge/key") << std::string(64, 'k');  // secret to nobody
    std::filesystem::permissions(folder_ / "munge/key", std::filesystem::perms::owner_read);
    write_config();
    setenv("SLURM_CONF", in("slurm.conf").c_str(), 1);
    // --force: a temporary folder is not where it would be put for good.
    start("munge", nodes_[0],
          {find_program("munged"), "--foreground", "--force", "--key-file=" + in("munge/key"),
           "--socket=" + in("munge/socket"), "--pid-file=" + in("munge/pid"),
           "--log-file=" + in("munge/log"), "--seed-file=" + in("munge/seed")});
    start("slurmctld", nodes_[0], {find_program("slurmctld"), "-D", "-i"});
    for (const Node& node : nodes_) start(node.name, node, {find_program("slurmd"), "-D"});
    wait_until_idle();
  }
  ~SlurmCluster() {
    cancel_all();
    while (!daemons_.empty()) daemons_.pop_back();  // last started, first stopped
    unsetenv("SLURM_CONF");
  }
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  // Ends all jobs of this cluster as a user would.
  void cancel_all() const {
    Process(folder_ / "client", at(nodes_[0], {"scancel", "--me"})).wait();
  }

 private:
  std::string in(const std::string& name) const { return (folder_ / name).string(); }

  static std::vector<std::string> at(const Node& node, const std::vector<std::string>& words) {
    std::vector<std::string> all = node.launcher;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }

  void start(const std::string& name, const Node& node, const std::vector<std::string>& words) {
    daemons_.push_back(std::make_unique<Process>(folder_ / name, at(node, words)));
  }

  static Node this_machine() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return {whole.substr(0, whole.find('.')), "127.0.0.1", {}};
  }

  // Nothing that a container without systemd and control groups lacks; more CPUs than there are.
  void write_config() const {
    using testing_support::free_port;
    const std::string user = getpwuid(getuid())->pw_name;
    // Where PMIx keeps sockets that are called alike on all nodes: hosts of a network share /tmp.
    if (nodes_.size() > 1) std::ofstream(folder_ / "mpi.conf") << "PMIxCliTmpDirBase=/run\n";
    std::ofstream file(folder_ / "slurm.conf");
    file << "ClusterName=ingot\nSlurmctldHost=" << nodes_[0].name << '(' << nodes_[0].address
         << ")\nSlurmctldPort=" << free_port() << "\nSlurmdPort=" << free_port()
         << "\nSlurmUser=" << user << "\nSlurmdUser=" << user
         << "\nAuthType=auth/munge\nAuthInfo=socket=" << in("munge/socket")
         << "\nCredType=cred/munge\nStateSaveLocation=" << in("state")
         << "\nSlurmdSpoolDir=" << in("%n/spool") << "\nSlurmctldPidFile=" << in("slurmctld/pid")
         << "\nSlurmdPidFile=" << in("%n/pid")
         << "\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\n"
            "JobAcctGatherType=jobacct_gather/none\n"
            "AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\n"
            "MpiDefault=none\nReturnToService=2\nSlurmdParameters=config_overrides\n"
         << "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
    for (const Node& node : nodes_) {
      file << "NodeName=" << node.name << " NodeAddr=" << node.address << " CPUs=8 State=UNKNOWN\n";
    }
  }

  void wait_until_idle() const {
    for (int attempt = 0; attempt < 300; ++attempt) {
      Process sinfo(folder_ / "client", at(nodes_[0], {"sinfo", "--noheader", "--format=%T"}));
      if (sinfo.wait() == 0 && sinfo.out() == "idle\n") return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    throw std::runtime_error("Slurm did not come up:\n" + slurp(folder_ / "slurmctld/stderr.txt") +
                             slurp(folder_ / nodes_.back().name / "stderr.txt"));
  }

  std::filesystem::path folder_;
  std::vector<Node> nodes_;
  std::vector<std::unique_ptr<Process>> daemons_;
};

}  // namespace ingot::test
