// The part of `ingot launch` that starts the ranks of one machine, there or behind ssh.
#pragma once

namespace ingot::cli {

// Talks to launch over stdin and stdout (agent_words.h). Returns when the ranks have ended. If
// stdin ends, it ends the ranks: SIGTERM, then SIGKILL.
void run_agent();

}  // namespace ingot::cli
