// Pieces of `ingot bench` that live in files of their own.
#pragma once

#include <cstdint>
#include <string>

#include "cli/command.h"
#include "cli/command_line.h"
#include "cli/machine.h"

namespace ingot::cli {

// Every op bench case, or those of one op: time, rates and percent of the roofline.
void bench_ops(const std::string& only, const DeviceOptions& device, const JsonOption& json);

// Wall time since the kernel started this process.
double seconds_since_process_start();

}  // namespace ingot::cli
