// NCCL in a build without CUDA.
#include "core/error/error.h"
#include "parallel/comm/nccl_facts.h"
#include "parallel/comm/wire/wire.h"

namespace ingot {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::Missing,
              "this build has no NCCL (no_nccl): build with ./run cuda, or set system.backend = "
              "\"tcp\"");
}

}  // namespace

std::unique_ptr<Communicator> nccl_communicator(HostPlane&, const std::string&, std::vector<int>,
                                                int, const Context&) {
  refuse();
}

std::string nccl_facts(const ReadVariable&) {
  refuse();
}

}  // namespace ingot
