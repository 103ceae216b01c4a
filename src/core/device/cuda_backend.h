// What the rest of the program needs from CUDA, free of CUDA headers. In a build without CUDA every
// function throws (core/cuda/no_cuda.cpp), except cuda_facts(), which returns nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ingot {

class CudaContext;   // core/cuda/cuda_context.h
class RecordedWork;  // core/async/recorded_work.h
class StreamEvent;   // core/async/stream_event.h

// The stream and library handles of one GPU, for Context::cuda. `cache_dir` stores tuning results
// for this GPU (created when needed); empty: nothing is stored. Throws ErrorCode::Missing, in one
// line that says what to do, if there is no such GPU or the driver is too old.
std::shared_ptr<CudaContext> make_cuda_context(int device, const std::string& cache_dir);

// A thread calls this before its first work on a context that another thread created.
void make_current(const CudaContext& context);

// Waits until all work issued so far is done; throws ErrorCode::Device if any of it failed.
void synchronize(CudaContext& context);

// An event after all work issued so far.
std::shared_ptr<StreamEvent> record_event(CudaContext& context);

// Keeps the stream busy for this long with one block: tests order work behind it.
void spin(CudaContext& context, std::chrono::microseconds time);

// Device memory, zeroed. Throws ErrorCode::Memory with the bytes requested and the bytes free.
void* allocate_cuda_memory(int device, int64_t bytes);
void free_cuda_memory(int device, void* data) noexcept;
// Page-locked host memory, zeroed; throws likewise.
void* allocate_pinned_memory(int64_t bytes);
void free_pinned_memory(void* data) noexcept;
int64_t available_cuda_memory(int device);  // bytes free on the GPU now

// Asynchronous copy on the stream; each side is device memory or page-locked host memory.
void copy_bytes(CudaContext& context, void* to, const void* from, int64_t bytes);

std::unique_ptr<RecordedWork> make_cuda_recorded_work(CudaContext& context);

}  // namespace ingot
