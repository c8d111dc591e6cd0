#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A box that notices everything, for the tests of reload and restart.

  reload.py ask SERVER NAME RATE SECONDS    questions at a rate, each of which
      must be answered within 5 s, well
  reload.py connect ADDRESS PORT SECONDS    connects all the time
  reload.py read ADDRESS PORT               reads until it is cut, says when

Each prints one line at its end; times are seconds of the wall clock.
"""
import os
import select
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe  # noqa: E402


def ask(server, name, rate, seconds):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.connect((server, 53))
    total = int(rate * seconds)
    sent, waiting = 0, {}
    good = bad = errors = 0
    slowest = 0.0
    start = time.monotonic()
    while sent < total or waiting:
        now = time.monotonic()
        while sent < total and now >= start + sent / rate:
            try:
                s.send(probe.question(name, ident=sent % 65536))
            except OSError:
                errors += 1
            waiting[sent % 65536] = now
            sent += 1
        until = start + sent / rate if sent < total else now + 0.1
        if select.select([s], [], [], max(0, until - now))[0]:
            try:
                reply = s.recv(2000)
            except OSError:
                errors += 1
                continue
            then = waiting.pop(int.from_bytes(reply[:2], "big"), None)
            if then is None:
                errors += 1
                continue
            slowest = max(slowest, time.monotonic() - then)
            if reply[3] & 15 == 0 and reply[7] > 0:
                good += 1
            else:
                bad += 1
        if sent >= total and waiting and \
                time.monotonic() - max(waiting.values()) > 5:
            break
    print(f"asked {total} good {good} bad {bad} lost {len(waiting)} "
          f"errors {errors} slowest {slowest:.3f}")


def connect(address, port, seconds):
    good = bad = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        s.settimeout(3)
        try:
            s.connect((address, port))
            good += 1
        except OSError:
            bad += 1
        s.close()
        time.sleep(0.02)
    print(f"connected {good} refused {bad}")


def read(address, port):
    s = socket.create_connection((address, port), 3)
    s.settimeout(3)
    got = 0
    how = "end"
    last = time.time()
    try:
        while True:
            data = s.recv(4096)
            if not data:
                break
            got += len(data)
            last = time.time()
    except OSError as e:
        how = type(e).__name__
    print(f"{how} octets {got} last {last:.3f}")


if __name__ == "__main__":
    what, where, *rest = sys.argv[1:]
    if what == "ask":
        ask(where, rest[0], float(rest[1]), float(rest[2]))
    elif what == "connect":
        connect(where, int(rest[0]), float(rest[1]))
    else:
        read(where, int(rest[0]))
