// A libcuda.so.1 as a driver of CUDA 12.4 would answer the runtime, which then refuses it.
#include <cstring>

extern "C" {

int cuInit(unsigned) {
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12040;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 0;
  return 100;  // no device
}
int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int* found) {
  const struct {
    const char* name;
    void* function;
  } known[] = {{"cuInit", reinterpret_cast<void*>(cuInit)},
               {"cuDriverGetVersion", reinterpret_cast<void*>(cuDriverGetVersion)},
               {"cuGetProcAddress", reinterpret_cast<void*>(cuGetProcAddress_v2)}};
  *function = reinterpret_cast<void*>(cuDeviceGetCount);  // whatever else is asked for fails
  for (const auto& [known_name, known_function] : known)
    if (std::strcmp(name, known_name) == 0) *function = known_function;
  if (found != nullptr) *found = 0;
  return 0;
}
}
