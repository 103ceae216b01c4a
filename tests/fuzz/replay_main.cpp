// Runs a fuzz target without libFuzzer: the committed corpus as it is, then fixed mutations of it.
// usage: fuzz_replay NAME CORPUS_DIR NUM_MUTATIONS    or    fuzz_replay NAME INPUT_FILE
//
// The mutations are a pure function of the corpus, so a failure here fails again everywhere. When
// the target dies, the input it died on is left in the working directory as fuzz_NAME.crash.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Each target's LLVMFuzzerTestOneInput: the build gives it a name of its own.
#define FUZZ_TARGET(name) extern "C" int fuzz_##name(const uint8_t* data, size_t size);
#include "fuzz_targets.inc"
#undef FUZZ_TARGET

namespace {

using Target = int (*)(const uint8_t* data, size_t size);
const std::map<std::string, Target> kTargets = {
#define FUZZ_TARGET(name) {#name, fuzz_##name},
#include "fuzz_targets.inc"
#undef FUZZ_TARGET
};

using Bytes = std::vector<uint8_t>;

constexpr size_t kMaxInputBytes = 4096;

std::string crash_path;
Bytes running;  // the input the target has now

// Only async-signal-safe calls: the process is in an unknown state.
void save_input() {
  const int file = open(crash_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  [[maybe_unused]] const auto written = write(file, running.data(), running.size());
  close(file);
}

void on_signal(int signal) {
  save_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

size_t below(std::mt19937_64& random, size_t bound) {
  return random() % bound;
}

// One to four edits; what they do is what parsers tend to get wrong: lengths, ends, repeats.
Bytes mutate(const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  static constexpr uint8_t kEdges[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '\n', '"', '=', '[', '.'};
  Bytes input = corpus[below(random, corpus.size())];
  for (size_t edit = 1 + below(random, 4); edit > 0; --edit) {
    const size_t at = below(random, input.size() + 1);
    const auto position = input.begin() + static_cast<std::ptrdiff_t>(at);
    const size_t length = std::min(below(random, 16) + 1, input.size() - at);
    const auto end = position + static_cast<std::ptrdiff_t>(length);
    switch (below(random, 6)) {
      case 0:  // cut the end off
        input.erase(position, input.end());
        break;
      case 1:  // drop a run
        input.erase(position, end);
        break;
      case 2:  // flip a bit
        if (at < input.size()) input[at] ^= static_cast<uint8_t>(1U << below(random, 8));
        break;
      case 3:  // set a run to an edge value: lengths become huge, negative or zero
        std::fill(position, end, kEdges[below(random, std::size(kEdges))]);
        break;
      case 4:  // repeat a run
        if (length > 0) {
          const Bytes run(position, end);
          input.insert(position, run.begin(), run.end());
        }
        break;
      default: {  // splice in the end of another input
        const Bytes& other = corpus[below(random, corpus.size())];
        const auto from = static_cast<std::ptrdiff_t>(below(random, other.size() + 1));
        input.erase(position, input.end());
        input.insert(input.end(), other.begin() + from, other.end());
      }
    }
  }
  input.resize(std::min(input.size(), kMaxInputBytes));
  return input;
}

void run(Target target, Bytes input) {
  running = std::move(input);
  target(running.data(), running.size());
}

}  // namespace

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  const auto named = argc < 3 ? kTargets.end() : kTargets.find(argv[1]);
  if (named == kTargets.end()) {
    std::cerr << "usage: " << argv[0] << " NAME CORPUS_DIR NUM_MUTATIONS | NAME INPUT_FILE\nNAME:";
    for (const auto& [name, target] : kTargets) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  const auto& [name, target] = *named;
  crash_path = "fuzz_" + name + ".crash";
  for (int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_signal);

  try {
    if (fs::is_regular_file(argv[2])) {
      run(target, read_file(argv[2]));
      return 0;
    }
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(argv[2])) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    if (paths.empty()) throw std::runtime_error("no corpus: mutations of nothing reach nothing");
    std::vector<Bytes> corpus = {{}};
    for (const auto& path : paths) corpus.push_back(read_file(path));
    for (const Bytes& input : corpus) run(target, input);

    const int64_t num_mutations = argc > 3 ? std::atoll(argv[3]) : 0;
    std::mt19937_64 random(corpus.size());
    for (int64_t i = 0; i < num_mutations; ++i) run(target, mutate(corpus, random));
    std::cout << corpus.size() << " inputs and " << num_mutations << " mutations\n";
    return 0;
  } catch (const std::exception& error) {
    save_input();
    std::cerr << "the target threw: " << error.what() << "; the input is in " << crash_path << "\n";
    return 1;
  }
}
