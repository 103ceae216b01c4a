#include "cli/machine/parts.h"

#include <fmt/format.h>

#include "core/device/cuda_facts.h"
#include "core/system/module.h"
#include "core/text/format.h"
#include "ingest/read/arrow_library.h"
#include "parallel/comm/mpi/mpi_library.h"
#include "remote/http_library.h"
#include "tokenizer/hf/regex/regex_library.h"
#include "tokenizer/train/sentencepiece_library.h"

namespace ingot::cli {
namespace {

Part cuda() {
  const auto found = cuda_facts();
  Part part{.name = "CUDA", .serves = "GPUs", .in_build = found.has_value()};
  if (!found) return part;
  part.facts = "runtime " + found->runtime;
  if (found->driver.empty()) {
    part.problem = "there is no driver of NVIDIA's";
    return part;
  }
  part.facts += ", driver " + found->driver;
  if (found->devices.empty()) part.problem = "there is no GPU that it can use";
  for (const DeviceFacts& device : found->devices)
    part.facts += fmt::format(", {} (sm_{}{}, {})", device.name, device.major, device.minor,
                              format_bytes(device.memory_bytes));
  return part;
}

Part library(const char* name, const char* serves, bool in_build, const char* file) {
  return {.name = name,
          .serves = serves,
          .in_build = in_build,
          .problem = in_build ? library_problem(file) : ""};
}

Part module(const char* name, const char* serves, bool in_build, const char* file) {
  return {.name = name,
          .serves = serves,
          .in_build = in_build,
          .problem = in_build ? module_problem(file) : ""};
}

}  // namespace

std::vector<Part> backends() {
  const Part gpu = cuda();
  return {{.name = "CPU", .serves = "every machine", .in_build = true},
          gpu,
          library("cuDNN", "attention on GPUs", gpu.in_build, "libcudnn.so.9"),
          {.name = "TCP", .serves = "system.backend = tcp", .in_build = true},
          library("NCCL", "system.backend = nccl", INGOT_HAS_NCCL, "libnccl.so.2"),
          module("MPI", "system.backend = mpi", INGOT_HAS_MPI, kMpiModule)};
}

std::vector<Part> libraries() {
  return {module("Arrow", "parquet files and s3://", INGOT_HAS_ARROW, kArrowModule),
          module("libcurl", "http:// and hf://", true, kHttpModule),
          module("SentencePiece", "tokenizer train of its models", true, kSentencePieceModule),
          module("Oniguruma", "regular expressions of tokenizer.json", true, kRegexModule)};
}

std::string text_of(const Part& part) {
  if (!part.in_build) return fmt::format("not in this build ({})", part.serves);
  const std::string facts = part.facts.empty() ? "" : fmt::format(" ({})", part.facts);
  if (part.problem.empty()) return "yes" + facts;
  return fmt::format("no: {}{}; for {}", part.problem, facts, part.serves);
}

}  // namespace ingot::cli
