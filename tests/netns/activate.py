#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plays the service manager: binds the sockets, keeps them, and starts a
program with them again and again.

  activate.py ROUNDS PAUSE ADDRESS… -- COMMAND…

Each address is bound for UDP and for TCP. A round ends PAUSE seconds after
READY=1, by SIGTERM; the last one is left running until SIGTERM comes here.
Prints how many rounds there were, and the longest time that nobody ran.
"""
import os
import signal
import socket
import sys
import time

IP_FREEBIND = 15
IP_PKTINFO = 8


def bind(address, kind):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, kind)
    s.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
    if family == socket.AF_INET:
        s.setsockopt(socket.IPPROTO_IP, IP_PKTINFO, 1)
    else:
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    s.bind((address, 53))
    if kind == socket.SOCK_STREAM:
        s.listen(128)
    return s


def start(sockets, notify, command):
    child = os.fork()
    if child != 0:
        return child
    fds = [os.dup(os.dup(s.fileno())) for s in sockets]
    high = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
    for i, fd in enumerate(high):
        os.dup2(fd, 3 + i, inheritable=True)
    os.closerange(3 + len(high), 300)
    os.environ["LISTEN_FDS"] = str(len(high))
    os.environ["LISTEN_PID"] = str(os.getpid())
    os.environ["LISTEN_FDNAMES"] = ":".join(f"dns{i}" for i in
                                            range(len(high)))
    os.environ["NOTIFY_SOCKET"] = notify
    os.execv(command[0], command)


def main():
    rounds, pause = int(sys.argv[1]), float(sys.argv[2])
    at = sys.argv.index("--")
    sockets = [bind(a, kind) for a in sys.argv[3:at]
               for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM)]
    # One more than is wanted, as an operator's mistake.
    sockets.append(bind("192.0.2.250", socket.SOCK_DGRAM))
    ready = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ready.bind("activate.notify")
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    longest = 0.0
    stopped = time.monotonic()
    for i in range(rounds):
        child = start(sockets, os.path.abspath("activate.notify"),
                      sys.argv[at + 1:])
        while b"READY=1" not in ready.recv(4096):
            pass
        longest = max(longest, time.monotonic() - stopped)
        if i + 1 < rounds:
            time.sleep(pause)
        else:
            print(f"rounds {rounds} longest {longest:.3f}", flush=True)
            while not stop:
                signal.pause()
        stopped = time.monotonic()
        os.kill(child, signal.SIGTERM)
        _, status = os.waitpid(child, 0)
        if status != 0:
            print(f"status {status}", flush=True)
            sys.exit(1)


main()
