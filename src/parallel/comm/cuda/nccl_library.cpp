#include "parallel/comm/cuda/nccl_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "core/error/error.h"
#include "parallel/comm/nccl_facts.h"

namespace ingot {
namespace {

constexpr char kFile[] = "libnccl.so.2";
constexpr int kOldest = NCCL_VERSION(2, 18, 0);  // the first whose calls all need not block
constexpr char kWhatToDo[] =
    "install NCCL 2.18 or later for CUDA 13 (pip install -r tools/requirements-nccl.txt, or the "
    "system's package libnccl2) where the loader finds it, or set system.backend = \"tcp\"";

template <class Function>
void find_newer(void* library, Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library, name));
}

template <class Function>
void find(void* library, Function& function, const char* name) {
  find_newer(library, function, name);
  check(function != nullptr, ErrorCode::Missing, "{} has no {}: {}", kFile, name, kWhatToDo);
}

NcclLibrary load() {
  // Ranks connect when a communicator is made, where all wait for each other anyway. Else NCCL does
  // it in the first call of each algorithm, which would then not return before the others make it.
  setenv("NCCL_RUNTIME_CONNECT", "0", /*replace=*/0);
  void* file = dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  check(file != nullptr, ErrorCode::Missing, "NCCL could not be loaded ({}): {}", dlerror(),
        kWhatToDo);
  NcclLibrary nccl;
  find(file, nccl.get_version, "ncclGetVersion");
  nccl.get_version(&nccl.version);
  check(nccl.version >= kOldest, ErrorCode::Missing, "NCCL: expected 2.18 or later, got {}: {}",
        nccl.version_text(), kWhatToDo);
  find(file, nccl.get_error_string, "ncclGetErrorString");
  find(file, nccl.get_last_error, "ncclGetLastError");
  find(file, nccl.get_unique_id, "ncclGetUniqueId");
  find(file, nccl.comm_init_rank_config, "ncclCommInitRankConfig");
  find(file, nccl.comm_get_async_error, "ncclCommGetAsyncError");
  find(file, nccl.comm_destroy, "ncclCommDestroy");
  find(file, nccl.comm_abort, "ncclCommAbort");
  find(file, nccl.all_reduce, "ncclAllReduce");
  find(file, nccl.all_gather, "ncclAllGather");
  find(file, nccl.reduce_scatter, "ncclReduceScatter");
  find(file, nccl.broadcast, "ncclBroadcast");
  find(file, nccl.send, "ncclSend");
  find(file, nccl.recv, "ncclRecv");
  find_newer(file, nccl.comm_register, "ncclCommRegister");
  find_newer(file, nccl.comm_deregister, "ncclCommDeregister");
  return nccl;
}

}  // namespace

std::string NcclLibrary::version_text() const {
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

const NcclLibrary& nccl_library() {
  static const NcclLibrary library = load();
  return library;
}

void nccl_check(ncclResult_t status, const char* call, ncclComm_t comm) {
  if (status == ncclSuccess || status == ncclInProgress) return;
  const NcclLibrary& nccl = nccl_library();
  const std::string last = nccl.get_last_error(comm);
  throw Error(ErrorCode::Comm,
              fmt::format("NCCL: {}: {}{}{}; NCCL_DEBUG=WARN says more", call,
                          nccl.get_error_string(status), last.empty() ? "" : ": ", last));
}

std::string nccl_facts(const ReadVariable& variable) {
  // What chooses algorithm, protocol and way, and how much of the GPU they take.
  constexpr const char* kVariables[] = {
      "NCCL_ALGO",        "NCCL_PROTO",         "NCCL_MIN_CTAS",       "NCCL_MAX_CTAS",
      "NCCL_BUFFSIZE",    "NCCL_NVLS_ENABLE",   "NCCL_P2P_DISABLE",    "NCCL_P2P_LEVEL",
      "NCCL_SHM_DISABLE", "NCCL_NET",           "NCCL_IB_DISABLE",     "NCCL_IB_HCA",
      "NCCL_HOSTID",      "NCCL_SOCKET_IFNAME", "NCCL_CUMEM_ENABLE",   "NCCL_COLLNET_ENABLE",
      "NCCL_CONF_FILE",   "NCCL_TUNER_PLUGIN",  "NCCL_RUNTIME_CONNECT"};
  std::string facts = "NCCL " + nccl_library().version_text() + ";";
  for (const char* name : kVariables) {
    const std::string value = variable(name);
    if (!value.empty()) facts += fmt::format(" {}={}", name, value);
  }
  for (const char* name : {"NCCL_ALGO", "NCCL_PROTO"})
    if (variable(name).empty()) facts += fmt::format(" {} as it chooses", name);
  return facts;
}

}  // namespace ingot
