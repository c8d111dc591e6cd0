#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sandboxes that come and go, for the tests of attach.

  attach.py serve ADDRESS PORT      sends an octet to each connection, each
      tenth of a second
  attach.py many SOCKET SERVER NAME COUNT SECONDS
      runs in the namespace of all those sandboxes, which has 10.9.0.0/16:
      attaches COUNT, then detaches and attaches at random with questions and
      connections under way, then detaches all. Who was detached must get
      nothing any more.

Each prints facts, one a line; the last line of many is "done".
"""
import json
import random
import select
import socket
import sys
import os
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import probe  # noqa: E402

PORT = 7302
AT_ONCE = 24  # the daemon takes 32 connections


def serve(address, port):
    listener = socket.create_server((address, port), backlog=512)
    listener.setblocking(False)
    peers = []
    while True:
        time.sleep(0.1)
        while select.select([listener], [], [], 0)[0]:
            peer, _ = listener.accept()
            peer.setblocking(False)
            peers.append(peer)
        for peer in list(peers):
            try:
                peer.send(b"x")
            except BlockingIOError:
                pass
            except OSError:
                peers.remove(peer)
                peer.close()


def begin(path, line):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    s.connect(path)  # waits for a place in the queue
    s.settimeout(30)
    s.sendall(line.encode() + b"\n")
    return s


def end(s):
    data = b""
    while True:
        more = s.recv(65536)
        if not more:
            break
        data += more
    s.close()
    return json.loads(data.splitlines()[-1])


def command(path, line):
    return end(begin(path, line))


class Guest:
    def __init__(self, number):
        self.name = "guest%d" % number
        self.address = "10.9.%d.%d" % (number // 250 + 1, number % 250 + 1)
        self.there = False
        self.stream = None

    def close(self):
        if self.stream is not None:
            self.stream.close()
        self.stream = None


class World:
    def __init__(self, path, server, name, count):
        self.path, self.server, self.name = path, server, name
        self.guests = [Guest(i) for i in range(count)]
        self.attach_ms, self.detach_ms = [], []
        self.errors, self.leaks = [], []
        self.questions = self.connections = self.cut = 0

    def do(self, line, times):
        begun = time.monotonic()
        answer = command(self.path, line)
        times.append((time.monotonic() - begun) * 1000)
        if answer != {"ok": True}:
            self.errors.append((line, answer))
        return answer == {"ok": True}

    def attach(self, guest):
        guest.there = self.do(
            "attach %s --policy agent --source %s --interface box2" %
            (guest.name, guest.address), self.attach_ms)

    def detach(self, guest):
        stream, guest.stream = guest.stream, None
        if self.do("detach %s" % guest.name, self.detach_ms):
            guest.there = False
        if stream is not None:
            self.must_be_dead(guest, stream)
        self.must_be_unheard(guest)

    def detach_all(self, guests):
        """Many at a time, as when a host is cleared."""
        while guests:
            some, guests = guests[:AT_ONCE], guests[AT_ONCE:]
            for guest in some:
                guest.call = begin(self.path, "detach " + guest.name)
            for guest in some:
                answer = end(guest.call)
                if answer != {"ok": True}:
                    self.errors.append((guest.name, answer))
                stream, guest.stream = guest.stream, None
                if stream is not None:
                    self.must_be_dead(guest, stream)
                self.must_be_unheard(guest)

    def must_be_dead(self, guest, stream):
        """What was on its way is in our socket already; no more may come."""
        try:
            while stream.recv(65536):
                pass
        except OSError:
            pass
        self.late.append((time.monotonic() + 0.5, guest, stream))

    def must_be_unheard(self, guest):
        s = self.question(guest)
        self.late.append((time.monotonic() + 0.5, guest, s))

    def question(self, guest):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind((guest.address, 0))
        s.setblocking(False)
        s.connect((self.server, 53))
        try:
            s.send(probe.question(self.name, ident=random.randrange(65536)))
        except OSError:
            pass
        return s

    def look_back(self, now=None):
        while self.late and (now is None or self.late[0][0] <= now):
            _, guest, s = self.late.pop(0)
            try:
                if s.recv(65536):
                    self.leaks.append(guest.name)
            except OSError:
                self.cut += 1
            s.close()

    def ask(self, guest):
        """The name, then a connection to what it is."""
        self.questions += 1
        s = self.question(guest)
        poll = select.poll()
        poll.register(s, select.POLLIN)
        good = bool(poll.poll(3000))
        reply = s.recv(4096) if good else b""
        s.close()
        if len(reply) < 12 or reply[3] & 15 != 0 or reply[7] == 0:
            self.errors.append(("ask", guest.name, reply[:12].hex()))
            return
        if guest.stream is None:
            self.connect(guest, socket.inet_ntoa(reply[-4:])
                         if reply[-14:-12] == b"\0\x01" else None)

    def connect(self, guest, address):
        if address is None:
            return
        s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        s.bind((guest.address, 0))
        s.settimeout(3)
        try:
            s.connect((address, PORT))
        except OSError as error:
            self.errors.append(("connect", guest.name, str(error)))
            s.close()
            return
        s.setblocking(False)
        guest.stream = s
        self.connections += 1

    def run(self, seconds):
        self.late = []
        for guest in self.guests:
            self.attach(guest)
        first = sorted(self.attach_ms)
        self.attach_ms.clear()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            here = [g for g in self.guests if g.there]
            away = [g for g in self.guests if not g.there]
            what = random.random()
            if away and what < 0.35:
                guest = random.choice(away)
                self.attach(guest)
                self.ask(guest)
            elif here and what < 0.65:
                self.detach(random.choice(here))
            else:
                self.ask(random.choice(here))
            self.look_back(time.monotonic())
        churn = sorted(self.attach_ms)
        self.detach_all([g for g in self.guests if g.there])
        self.look_back()
        self.report(first, churn)

    def report(self, first, churn):
        def at(times, share):
            return times[int((len(times) - 1) * share)]
        print(f"empty {at(first[:100], 0.5):.2f}")
        print(f"median {at(churn, 0.5):.2f}")
        print(f"p99 {at(churn, 0.99):.2f}")
        print(f"detach {at(sorted(self.detach_ms), 0.5):.2f}")
        print(f"attaches {len(first) + len(churn)}")
        print(f"questions {self.questions} connections {self.connections}")
        print(f"silent {self.cut}")
        for what in self.leaks[:5]:
            print("leak", what)
        for what in self.errors[:5]:
            print("error", what)
        print("done", len(self.leaks), len(self.errors))


def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "serve":
        serve(rest[0], int(rest[1]))
    else:
        World(rest[0], rest[1], rest[2], int(rest[3])).run(float(rest[4]))


main()
