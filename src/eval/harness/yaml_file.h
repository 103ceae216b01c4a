// Reads a task file of lm-evaluation-harness.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ingot {

// The file's mapping. Its keys override those of the file that its `include` names, in the same
// folder. Values without quotes get the types of PyYAML. Throws ErrorCode::Data with file and line
// for invalid YAML,
// and with the name of the function for `!function`, which would run Python.
nlohmann::ordered_json read_task_yaml(const std::string& path);

}  // namespace ingot
