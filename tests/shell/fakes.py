# SPDX-License-Identifier: BSD-2-Clause
"""The two ends that the resolver talks to: a helper and upstream servers.

Both run in threads and keep a record of what they saw.
"""
import socket
import struct
import threading
import time

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

HELLO, PIN, UNPIN, FLOWS, RECALL, SETTLE = 2, 4, 6, 8, 22, 24
RESET, BOUND = 128, 132
ENFILE = 23


def pack(op, id=0, second=0, lifetime=0, ifindex=0, count=0):
    return struct.pack("<HBBIiI20xIQ16x", 0x776E, 1, op, id, second,
                       lifetime, ifindex, count)


class Request:
    def __init__(self, wire):
        (magic, version, self.op, self.id, self.sandbox, self.lifetime,
         self.family, self.protocol, self.port, address) = struct.unpack(
             "<HBBIIIBBH16s", wire[:36])
        assert len(wire) == 64 and magic == 0x776E and version == 1
        self.seen = time.monotonic()
        family = {4: socket.AF_INET, 6: socket.AF_INET6}.get(self.family)
        self.address = family and socket.inet_ntop(
            family, address[:4] if self.family == 4 else address)


class Helper:
    """mode: ack, nack, silent. delay: of each ack to a pin, in seconds."""

    def __init__(self, sandboxes, bound):
        self.ours, self.theirs = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.sandboxes, self.bound = sandboxes, bound
        self.mode, self.delay = "ack", 0
        self.requests = []
        self.acked = []
        self.ended = threading.Event()
        threading.Thread(target=self.run, daemon=True).start()

    def pins(self, op=PIN):
        return [r for r in self.requests if r.op == op]

    def send(self, wire):
        try:
            self.ours.send(wire)
        except OSError:
            pass

    def run(self):
        while True:
            try:
                wire = self.ours.recv(65)
            except OSError:
                wire = b""
            if not wire:
                self.ended.set()
                return
            self.answer(Request(wire))

    def answer(self, request):
        self.requests.append(request)
        status, count = 0, 0
        if request.op == PIN:
            if self.mode == "silent":
                return
            time.sleep(self.delay)
            status = -ENFILE if self.mode == "nack" else 0
            self.acked.append((request, time.monotonic()))
        if request.op == HELLO:
            count = self.sandboxes
        self.send(pack(request.op + 1, request.id, status, count=count))
        if request.op == HELLO:
            for sandbox, ifindex in self.bound:
                self.send(pack(BOUND, 0, sandbox, ifindex=ifindex))

    def close(self):
        # The thread is inside recv(): close() alone would not wake it.
        self.ours.shutdown(socket.SHUT_RDWR)


def answer_to(query, *texts):
    """A response; texts are records: "NAME TTL IN TYPE DATA"."""
    response = dns.message.make_response(query, recursion_available=True)
    for text in texts:
        name, ttl, rdclass, rdtype, data = text.split(" ", 4)
        response.answer.append(
            dns.rrset.from_text(name, int(ttl), rdclass, rdtype, data))
    return response


class Upstream:
    """script(server, query, tcp) gives a list of datagrams or messages."""

    def __init__(self, address, script, port=53):
        self.script = script
        self.seen = []
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.udp = socket.socket(family, socket.SOCK_DGRAM)
        self.udp.bind((address, port))
        self.tcp = socket.socket(family, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.tcp.bind((address, port))
        self.tcp.listen(8)
        for run in self.serve_udp, self.serve_tcp:
            threading.Thread(target=run, daemon=True).start()

    def names(self):
        return [q.question[0].name.to_text() for q, _, _ in self.seen]

    def replies(self, wire, client, tcp):
        query = dns.message.from_wire(wire)
        self.seen.append((query, client, tcp))
        for reply in self.script(query, tcp):
            yield reply if isinstance(reply, bytes) else \
                reply.to_wire(max_size=65535)

    def serve_udp(self):
        while True:
            wire, client = self.udp.recvfrom(4096)
            for reply in self.replies(wire, client, False):
                self.udp.sendto(reply, client)

    def serve_tcp(self):
        while True:
            stream, client = self.tcp.accept()
            threading.Thread(target=self.serve_stream,
                             args=(stream, client), daemon=True).start()

    def serve_stream(self, stream, client):
        buffered = b""
        while True:
            part = stream.recv(4096)
            if not part:
                return
            buffered += part
            while len(buffered) >= 2:
                (size,) = struct.unpack("!H", buffered[:2])
                if len(buffered) < 2 + size:
                    break
                wire, buffered = buffered[2:2 + size], buffered[2 + size:]
                for reply in self.replies(wire, client, True):
                    framed = struct.pack("!H", len(reply)) + reply
                    # In two segments, split inside the length.
                    stream.sendall(framed[:1])
                    time.sleep(0.01)
                    stream.sendall(framed[1:])
