// The host plane over TCP, for callers that have opened the rendezvous port themselves.
#pragma once

#include <memory>

#include "parallel/comm/host_plane.h"
#include "parallel/comm/tcp/socket.h"

namespace ingot::tcp {

// As tcp_host_plane(); on rank 0 with `listener`, which listens at process.rendezvous.
std::unique_ptr<HostPlane> make_host_plane(const Process& process, const Deadlines& deadlines,
                                           Watch& watch, Socket listener);

}  // namespace ingot::tcp
