// The clock of `ingot bench`.
#pragma once

namespace ingot::cli {

// Wall time since the kernel started this process.
double seconds_since_process_start();

}  // namespace ingot::cli
