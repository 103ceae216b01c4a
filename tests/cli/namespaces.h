// Hosts on a network of their own, as processes of this machine: real names, addresses, sshd and
// cables that can be pulled. Nothing of it is seen outside, and all of it ends with the test.
#pragma once

#include <signal.h>
#include <unistd.h>

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

// One host: a process that is the first of its process namespace, with network, host name and
// mounts of its own. What runs on the host ends when that process does.
class Host {
 public:
  // `files` holds the names of all hosts and the settings of ssh; `folder` is this host's.
  Host(const std::string& name, const std::filesystem::path& folder,
       const std::filesystem::path& files)
      : name_(name) {
    std::filesystem::create_directories(folder);
    // In a chroot / is no mount point, and its maker has cut it off from the mounts of others.
    // The number is read before /proc is the host's own: others know the process by it.
    const std::string script =
        "set -e; read number rest </proc/self/stat; mount --make-rprivate / 2>/dev/null || :\n"
        "mount -t proc proc /proc; mount -t tmpfs tmpfs /run; mkdir -m 755 /run/sshd\n"
        "mount --bind \"$2/hosts\" /etc/hosts; mount --bind \"$2/ssh_config\" /etc/ssh/ssh_config\n"
        "echo \"$1\" >/proc/sys/kernel/hostname; ip link set lo up; echo $number\n"
        "exec /usr/sbin/sshd -D -e -f \"$2/sshd_config\" -h \"$2/$1.key\"";
    // pdeathsig: a test that is killed leaves no host behind.
    first_ = std::make_unique<Process>(
        folder,
        std::vector<std::string>{"setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--uts",
                                 "--mount", "--propagation", "unchanged", "--pid", "--fork",
                                 "--kill-child", "sh", "-c", script, "sh", name, files.string()});
    while (first_->is_running() && first_->err().find("listening") == std::string::npos) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!first_->is_running()) {
      throw std::runtime_error("host " + name + " did not come up:\n" + first_->err());
    }
    number_ = std::stoi(first_->out());
  }
  ~Host() { end(); }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const std::string& name() const { return name_; }
  pid_t number() const { return number_; }  // of its first process, among all of this machine
  // What to put before a command that is to run on this host.
  std::vector<std::string> launcher() const {
    return {"nsenter", "--target", std::to_string(number_), "--net", "--uts", "--mount", "--pid",
            "--root",  "--wd"};
  }

  // Everything that runs on it is gone when this returns.
  void end() {
    if (number_ < 0) return;
    kill(number_, SIGKILL);
    first_->wait();
    number_ = -1;
  }

 private:
  std::string name_;
  std::unique_ptr<Process> first_;
  pid_t number_ = -1;
};

// Hosts «node1», «node2», …, each with one cable to a switch. Root of each logs in on all by ssh.
class Network {
 public:
  // What it needs that this machine does not give; empty: nothing.
  static std::string missing() {
    if (getuid() != 0) return "root";
    for (const char* name : {"ip", "iptables", "sshd", "ssh", "ssh-keygen", "unshare", "nsenter"}) {
      if (find_program(name).empty()) return name;
    }
    const std::string probe =
        "unshare --net --uts --mount --pid --fork --propagation unchanged "
        "ip link add probe type veth 2>/dev/null";
    return std::system(probe.c_str()) == 0 ? "" : "the right to make namespaces";
  }

  Network(const std::filesystem::path& folder, int num_hosts) : folder_(folder) {
    std::filesystem::create_directories(folder_ / "switch");
    std::filesystem::create_directories(folder_ / "client");
    write_files(num_hosts);
    switch_ = std::make_unique<Process>(
        folder_ / "switch",
        std::vector<std::string>{"setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sh", "-c",
                                 "ip link add bridge type bridge && ip link set bridge up && "
                                 "echo up && exec sleep infinity"});
    while (switch_->is_running() && switch_->out().empty()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    for (int i = 0; i < num_hosts; ++i) {
      hosts_.push_back(std::make_unique<Host>(name(i), folder_ / name(i), folder_));
      insert_card(i);
    }
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  Host& host(int i) { return *hosts_.at(static_cast<size_t>(i)); }
  static std::string name(int i) { return "node" + std::to_string(i + 1); }
  static std::string address(int i) { return "10.77.0." + std::to_string(i + 1); }

  // Runs a command of the shell on a host; throws when it fails.
  void run(int i, const std::string& command) {
    std::vector<std::string> words = host(i).launcher();
    words.insert(words.end(), {"sh", "-c", command});
    expect_done(words, command);
  }

  // The cable is pulled: the host sees that its link has no carrier.
  void pull_cable(int i) { at_switch("ip link set port" + std::to_string(i) + " down"); }
  void put_cable(int i) { at_switch("ip link set port" + std::to_string(i) + " up"); }
  // The host's network card is gone, and its address with it.
  void remove_card(int i) { at_switch("ip link delete port" + std::to_string(i)); }
  void insert_card(int i) {
    const std::string port = "port" + std::to_string(i);
    const std::string number = std::to_string(host(i).number());
    const std::string in_host = "nsenter --target " + number + " --net ip ";
    at_switch("ip link add " + port + " type veth peer name eth0 netns " + number +
              " && ip link set " + port + " master bridge up && " + in_host + "addr add " +
              address(i) + "/24 dev eth0 && " + in_host + "link set eth0 up");
  }
  // The card first: the kernel takes a while to forget the network of a host that has ended.
  void power_off(int i) {
    remove_card(i);
    host(i).end();
  }
  void power_on(int i) {
    hosts_.at(static_cast<size_t>(i)) = std::make_unique<Host>(name(i), folder_ / name(i), folder_);
    insert_card(i);
  }
  // Nothing but ssh comes in or goes out, and nobody is told.
  void drop_packets(int i) {
    run(i,
        "iptables -A INPUT -i eth0 -p tcp -m multiport ! --ports 22 -j DROP && "
        "iptables -A OUTPUT -o eth0 -p tcp -m multiport ! --ports 22 -j DROP");
  }
  void deliver_packets(int i) { run(i, "iptables -F"); }

 private:
  void at_switch(const std::string& command) {
    expect_done(
        {"nsenter", "--target", std::to_string(switch_->pid()), "--net", "sh", "-c", command},
        command);
  }

  void expect_done(const std::vector<std::string>& words, const std::string& command) {
    Process client(folder_ / "client", words);
    if (client.wait() != 0) throw std::runtime_error(command + ":\n" + client.err());
  }

  void make_key(const std::string& name) {
    const std::string path = (folder_ / name).string();
    expect_done({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path}, path);
  }

  void write_files(int num_hosts) {
    const std::string folder = folder_.string();
    std::ofstream hosts(folder_ / "hosts"), known(folder_ / "known_hosts");
    hosts << "127.0.0.1 localhost\n";
    for (int i = 0; i < num_hosts; ++i) {
      make_key(name(i) + ".key");
      hosts << address(i) << ' ' << name(i) << '\n';
      known << name(i) << ',' << address(i) << ' ' << slurp(folder_ / (name(i) + ".key.pub"));
    }
    make_key("user.key");
    std::ofstream(folder_ / "ssh_config")
        << "Host *\n  User root\n  IdentityFile " << folder << "/user.key\n  UserKnownHostsFile "
        << folder << "/known_hosts\n  StrictHostKeyChecking yes\n  BatchMode yes\n"
        << "  LogLevel ERROR\n  ConnectTimeout 5\n";
    // StrictModes asks who may write to the folders above, which are the machine's temporary ones.
    std::ofstream(folder_ / "sshd_config")
        << "Port 22\nAuthorizedKeysFile " << folder << "/user.key.pub\nStrictModes no\nUsePAM no\n"
        << "PermitRootLogin prohibit-password\nPidFile none\nUseDNS no\nMaxStartups 100\n";
  }

  std::filesystem::path folder_;
  std::unique_ptr<Process> switch_;
  std::vector<std::unique_ptr<Host>> hosts_;  // gone before the switch
};

}  // namespace ingot::test
