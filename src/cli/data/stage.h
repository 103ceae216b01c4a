// What all stages of `ingot data` share: inputs, processes, progress.
#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/frame/command.h"
#include "cli/frame/command_line.h"
#include "cli/frame/progress_line.h"
#include "cli/remote.h"
#include "ingest/tasks/stage.h"

namespace ingot::cli {

enum class Copies { Refused, Removed };  // what a stage does with copies of an input

struct StageOptions {
  std::vector<std::string> inputs;
  std::string out;
  std::string process;  // "K/N"; empty: from srun's or mpirun's environment
  int threads;
  ReadSettings read;
  RemoteOptions remote;
  JsonOption json;

  StageOptions();
  // `read_settings`: names of the settings of [read] that become options; empty: all.
  void add_to(Command& command, const std::vector<std::string>& read_settings = {});
  // `read`, with how to reach remote files.
  ReadSettings read_settings() const;
  // Throws ErrorCode::Data if a file would be read twice. Copies of a file count as the same file
  // unless the stage removes copies.
  StageInputs stage_inputs(Copies copies = Copies::Refused) const;
  // Prints on stderr which process this is, if there are several.
  StageRun stage_run(StageObserver& observer) const;
};

// Reads "K/N"; if that is empty, the launcher's variables in the environment (process_number()).
// Throws ErrorCode::Usage.
ProcessShare process_share(const std::string& option);

bool is_begun(const std::string& out);  // whether a stage has begun to write to `out`

// Whether this process should check remote inputs before the work. Only one process does, and not
// if the work in `out` has begun.
bool is_first_look(const std::string& out, ProcessShare share);

// Throws ErrorCode::Data if a file would be read twice. If an older program began the work in `out`
// with it, this only prints a warning.
void check_read_once(const std::vector<InputFile>& files, const std::string& out);

// Runs `command`. If there are several processes, an error says which one threw it. `process`: as
// in process_share().
void run_as_process(const std::string& process, const std::function<void()>& command);

// Shows a stage's progress on stderr.
class StageProgress : public StageObserver {
 public:
  void on_tasks(std::string_view step, int64_t done, int64_t of) override;
  void on_documents(int64_t documents, int64_t text_bytes) override;
  void on_tokens(int64_t tokens) override;
  void on_input(int64_t bytes_read, int64_t of) override;
  void on_waiting(std::string_view step, int64_t tasks_of_others) override;

 private:
  void show();

  std::mutex mutex_;
  ProgressLine line_;
  std::string step_;
  int64_t done_ = 0, of_ = 0, documents_ = 0, bytes_ = 0, tokens_ = 0;
  int64_t bytes_read_ = 0, bytes_total_ = -1;
};

// Runs a stage with progress on stderr. If this process is the last to finish, it prints the report
// by `print` and as JSON; else it says that others are still working.
void finish_stage(
    const StageOptions& options,
    const std::function<std::optional<nlohmann::json>(const StageRun& run)>& run_stage,
    const std::function<void(const nlohmann::json& report, const std::string& folder)>& print);

// Prints what a report says about skipped records, a line for each reason, and about files with
// equal content.
void print_what_was_read(const nlohmann::json& report);

}  // namespace ingot::cli
