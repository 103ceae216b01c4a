// The ranks of a run, as this program was started: threads of this process, or processes of which
// this is one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cli/start/launched.h"
#include "core/error/error.h"
#include "parallel/comm/rank_launcher.h"
#include "plan/resolved_run.h"
#include "train/start/agreement.h"

namespace ingot::cli {

// How this process was started, read once; nothing where it is alone. Throws as launched().
const std::optional<Launched>& this_launch();
// Whether this process speaks for the run: rank 0, or the only one.
bool leads_run();

// The settings of a run that this process has a part in: under a launcher system.ranks is the
// number of its processes. Throws ErrorCode::Usage where the settings say another one.
RunConfig with_world(RunConfig config);

// The run on this machine, for the rank that this process is or for all of them.
ResolvedRun resolve_started(const ValidConfig& config);

// The ranks that this process is: system.ranks threads, or one rank that meets the others of its
// launcher. Binds this process to its cores where it is one of several of its machine, so call it
// before threads are started. A rank that is lost while a body does not return ends the process
// (watchdog.h).
std::unique_ptr<RankLauncher> started_ranks(const ResolvedRun& run);

// Where this process stands, after started_ranks(); for ranks that are processes.
RankPlace place_of(const ResolvedRun& run);

// The other processes of the launcher, which may wait for this one, hear that it failed before it
// met them. Nothing where it is alone.
void tell_other_ranks(const Error& error) noexcept;

// The command that resumes the run in `dir` in the way that this one was started.
std::string command_to_resume(const std::string& dir);

// "rank 1: " before an error: the rank that speaks, which this process is, or of ranks that are
// threads the one that failed; empty where there is one rank.
std::string speaker_of(const Error& error) noexcept;
// Whether `ingot launch`, which started this rank, shows the error: a refusal, of this rank or of
// another one, which launch hears of from that one.
bool is_shown_by_launch(const Error& error) noexcept;

}  // namespace ingot::cli
