#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Octets that go out, for 230-upload.

  upload.py sink PORT FILE           takes all; FILE has a line for each pair
                                     of addresses: FROM TO OCTETS
  upload.py push ADDRESS PORT OCTETS [FILE OCTETS]
                                     sends; then, once FILE is there, the rest.
                                     Prints "whole" when all has arrived, else
                                     what happened.
"""
import os
import selectors
import socket
import sys
import time


def write(path, totals):
    with open(path + ".new", "w") as out:
        for (peer, local), octets in sorted(totals.items()):
            print(peer, local, octets, file=out)
    os.rename(path + ".new", path)


def plain(address):
    return address.removeprefix("::ffff:")


def sink(port, path):
    listener = socket.create_server(("::", port), family=socket.AF_INET6,
                                    dualstack_ipv6=True)
    ready = selectors.DefaultSelector()
    ready.register(listener, selectors.EVENT_READ)
    totals, counts = {}, {}
    write(path, totals)
    while True:
        for key, _ in ready.select(0.2):
            end = key.fileobj
            if end is listener:
                end, _ = listener.accept()
                ready.register(end, selectors.EVENT_READ)
                counts[end] = 0
                continue
            try:
                octets = len(end.recv(65536))
            except OSError:
                octets = 0
            if octets == 0:
                ready.unregister(end)
                try:
                    end.sendall(b"%d\n" % counts.pop(end))
                except OSError:
                    pass
                end.close()
                continue
            pair = (plain(end.getpeername()[0]), plain(end.getsockname()[0]))
            totals[pair] = totals.get(pair, 0) + octets
            counts[end] += octets
        write(path, totals)


def send(end, octets):
    while octets > 0:
        octets -= end.send(b"x" * min(octets, 1000))


def push(address, port, octets, path=None, more=0):
    try:
        end = socket.create_connection((address, port), 10)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        send(end, octets)
        if path is not None:
            print("waiting", flush=True)
            while not os.path.exists(path):
                time.sleep(0.05)
            send(end, int(more))
        end.shutdown(socket.SHUT_WR)
        arrived = int(end.makefile().readline() or 0)
        print("whole" if arrived == octets + int(more) else "cut", flush=True)
    except OSError as error:
        print(type(error).__name__, flush=True)


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "sink":
        sink(int(rest[0]), rest[1])
    else:
        push(rest[0], int(rest[1]), int(rest[2]), *rest[3:])
