// Measures plain TCP sockets between the ranks of a world.
#pragma once

#include "parallel/comm/world.h"

namespace ingot {

// Bytes per second that the slowest rank receives from the previous one while every rank sends to
// the next one, over one TCP connection each, for about `seconds`: the limit of transports built on
// such connections. Every rank calls it; the same result on every rank. For ranks that are
// processes with a rendezvous address. Throws ErrorCode::Comm naming a rank that was not reached.
double measure_socket_ring(World& world, double seconds);

}  // namespace ingot
