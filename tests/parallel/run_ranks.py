"""Starts a test program as ranks that are processes of this machine.

usage: run_ranks.py mpi|nccl RANKS PROGRAM [ARG…]

Every rank runs all tests of the program in step with the others. mpi: mpirun starts them. nccl: they share the first
GPU; each has a host id of its own, since NCCL refuses two ranks on one GPU of a host, and few blocks, since all must
fit on the GPU at once. Exit status: 0 when all ranks succeed; 77 where there is no MPI or no GPU.
"""

import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 240


def run_mpi(ranks, program, arguments):
    module = os.path.join(os.path.dirname(os.path.dirname(program)), "libingot_mpi.so")
    if not shutil.which("mpirun") or not os.path.exists(module):
        print("no mpirun, or no libingot_mpi.so in this build")
        return SKIPPED
    # Open MPI never gives back some of its memory, and its locks are unknown to the thread sanitizer.
    environment = dict(os.environ)
    for name, option in (("ASAN_OPTIONS", "detect_leaks=0"), ("TSAN_OPTIONS", "ignore_noninstrumented_modules=1")):
        environment[name] = ":".join(filter(None, (os.environ.get(name), option)))
    # Of two that begin at once on a fresh machine one fails to make the folder of sessions that they share.
    with tempfile.TemporaryDirectory() as sessions:
        command = ["mpirun", "--allow-run-as-root", "--mca", "orte_tmpdir_base", sessions, "--oversubscribe",
                   "-n", str(ranks), program, *arguments]
        return subprocess.run(command, env=environment, timeout=SECONDS, check=False).returncode


def run_nccl(ranks, program, arguments):
    if not glob.glob("/dev/nvidia[0-9]*"):
        print("no GPU")
        return SKIPPED
    port = random.randrange(20000, 30000, 128)  # and those after it: one for each world
    processes = []
    for rank in range(ranks):
        settings = {
            "INGOT_RANK": rank, "INGOT_WORLD": ranks, "INGOT_PORT": port, "NCCL_HOSTID": f"host{rank}",
            "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": 1, "NCCL_MAX_CTAS": 2, "CUDA_VISIBLE_DEVICES": 0,
        }
        environment = dict(os.environ, **{name: str(value) for name, value in settings.items()})
        processes.append(subprocess.Popen([program, *arguments], env=environment))
    try:
        codes = [process.wait(timeout=SECONDS) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return max(abs(code) for code in codes)


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("mpi", "nccl"):
        sys.exit(__doc__)
    run = run_mpi if sys.argv[1] == "mpi" else run_nccl
    sys.exit(run(int(sys.argv[2]), sys.argv[3], ["--gtest_brief=1", *sys.argv[4:]]))


if __name__ == "__main__":
    main()
