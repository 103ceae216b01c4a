// What plain sockets carry between the ranks of a world.
#pragma once

#include "parallel/comm/world.h"

namespace ingot {

// Bytes a second that the slowest rank gets from the one before it while every rank sends to the
// next, each over one TCP connection of its own, for about `seconds`: the limit of what is made of
// such connections. Every rank calls it; the same on every rank. For ranks that are processes and
// met by an address. Throws ErrorCode::Comm naming the rank that was not reached.
double measure_socket_ring(World& world, double seconds);

}  // namespace ingot
