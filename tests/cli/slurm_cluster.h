// A Slurm of one node, run by whoever runs the test, in a folder of its own.
#pragma once

#include <arpa/inet.h>
#include <pwd.h>
#include <sys/socket.h>
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

namespace ingot::test {

class SlurmCluster {
 public:
  static bool is_installed() {
    for (const char* name : {"munged", "slurmctld", "slurmd", "srun", "scancel", "sinfo"}) {
      if (find_program(name).empty()) return false;
    }
    return true;
  }

  // Up when it returns; srun and scancel of this process then mean this cluster.
  explicit SlurmCluster(const std::filesystem::path& folder) : folder_(folder) {
    for (const char* name : {"state", "spool", "munge", "slurmctld", "slurmd", "client"}) {
      std::filesystem::create_directories(folder_ / name);
    }
    std::filesystem::permissions(folder_ / "munge", std::filesystem::perms::owner_all);
    std::ofstream(folder_ / "munge/key") << std::string(64, 'k');  // secret to nobody
    std::filesystem::permissions(folder_ / "munge/key", std::filesystem::perms::owner_read);
    write_config();
    setenv("SLURM_CONF", in("slurm.conf").c_str(), 1);
    // --force: a temporary folder is not where it would be put for good.
    start("munge",
          {find_program("munged"), "--foreground", "--force", "--key-file=" + in("munge/key"),
           "--socket=" + in("munge/socket"), "--pid-file=" + in("munge/pid"),
           "--log-file=" + in("munge/log"), "--seed-file=" + in("munge/seed")});
    start("slurmctld", {find_program("slurmctld"), "-D", "-i"});
    start("slurmd", {find_program("slurmd"), "-D"});
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
  void cancel_all() const { Process(folder_ / "client", {"scancel", "--me"}).wait(); }

 private:
  std::string in(const std::string& name) const { return (folder_ / name).string(); }

  void start(const std::string& name, const std::vector<std::string>& words) {
    daemons_.push_back(std::make_unique<Process>(folder_ / name, words));
  }

  static int free_port() {
    const int probe = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(probe, reinterpret_cast<sockaddr*>(&address), size);
    getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size);
    close(probe);
    return ntohs(address.sin_port);
  }

  // Nothing that a container without systemd and control groups lacks; more CPUs than there are.
  void write_config() const {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    const std::string host = std::string(name.data()).substr(0, std::string(name.data()).find('.'));
    const std::string user = getpwuid(getuid())->pw_name;
    std::ofstream(folder_ / "slurm.conf")
        << "ClusterName=ingot\nSlurmctldHost=" << host
        << "(127.0.0.1)\nSlurmctldPort=" << free_port() << "\nSlurmdPort=" << free_port()
        << "\nSlurmUser=" << user << "\nSlurmdUser=" << user
        << "\nAuthType=auth/munge\nAuthInfo=socket=" << in("munge/socket")
        << "\nCredType=cred/munge\nStateSaveLocation=" << in("state")
        << "\nSlurmdSpoolDir=" << in("spool") << "\nSlurmctldPidFile=" << in("slurmctld/pid")
        << "\nSlurmdPidFile=" << in("slurmd/pid")
        << "\nProctrackType=proctrack/pgid\nTaskPlugin=task/none\n"
           "JobAcctGatherType=jobacct_gather/none\n"
           "AccountingStorageType=accounting_storage/none\nSelectType=select/cons_tres\n"
           "MpiDefault=none\nReturnToService=2\nSlurmdParameters=config_overrides\n"
        << "NodeName=" << host << " NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN\n"
        << "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
  }

  void wait_until_idle() const {
    for (int attempt = 0; attempt < 300; ++attempt) {
      Process sinfo(folder_ / "client", {"sinfo", "--noheader", "--format=%T"});
      if (sinfo.wait() == 0 && sinfo.out() == "idle\n") return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    throw std::runtime_error("Slurm did not come up:\n" + slurp(folder_ / "slurmctld/stderr.txt") +
                             slurp(folder_ / "slurmd/stderr.txt"));
  }

  std::filesystem::path folder_;
  std::vector<std::unique_ptr<Process>> daemons_;
};

}  // namespace ingot::test
