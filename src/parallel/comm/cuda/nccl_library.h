// NCCL's functions, loaded with dlopen on first use, so that the program starts on a machine
// without NCCL and can say what is missing.
#pragma once

#include <nccl.h>

#include <string>

namespace ingot {

// The functions in use, with their types from nccl.h.
struct NcclLibrary {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  // Since 2.19; null in older versions.
  decltype(&ncclCommRegister) comm_register = nullptr;
  decltype(&ncclCommDeregister) comm_deregister = nullptr;
  int version = 0;  // 22809

  std::string version_text() const;  // "2.28.9"
};

// Loads it at the first call. Throws ErrorCode::Missing with what to install if it is missing or
// too old.
const NcclLibrary& nccl_library();

// Throws ErrorCode::Comm with NCCL's message unless the call succeeded or is in progress.
void nccl_check(ncclResult_t status, const char* call, ncclComm_t comm = nullptr);

}  // namespace ingot
