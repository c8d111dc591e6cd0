#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a client of 160-tcp does: tcp.py WHAT LISTENER [ARG]."""
import socket
import struct
import sys
import time

import dns.flags
import dns.message
import dns.rcode

NAMES = ("listed.example", "unlisted.example", "twelve.example")


def connect(listener, source=None, buffers=None):
    family = socket.AF_INET6 if ":" in listener else socket.AF_INET
    end = socket.socket(family, socket.SOCK_STREAM)
    if buffers:
        for option in socket.SO_RCVBUF, socket.SO_SNDBUF:
            end.setsockopt(socket.SOL_SOCKET, option, buffers)
    if source:
        end.bind((source, 0))
    end.settimeout(5)
    end.connect((listener, 53))
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def frame(name, type="A", id=1):
    query = dns.message.make_query(name, type)
    query.id = id
    wire = query.to_wire()
    return struct.pack("!H", len(wire)) + wire


def exactly(end, count):
    octets = b""
    while len(octets) < count:
        part = end.recv(count - len(octets))
        if not part:
            raise EOFError
        octets += part
    return octets


def read(end):
    (size,) = struct.unpack("!H", exactly(end, 2))
    return dns.message.from_wire(exactly(end, size))


def is_listed(response):
    return any("198.51.100.10" in rrset.to_text()
               for rrset in response.answer)


def split(listener):
    end = connect(listener)
    for octet in frame("listed.example"):
        end.sendall(bytes([octet]))
        time.sleep(0.005)
    assert is_listed(read(end))
    wire = frame("listed.example", id=1) + frame("listed.example", id=2)
    for cut in range(1, len(wire), 3):
        end.sendall(wire[:cut])
        time.sleep(0.005)
        end.sendall(wire[cut:])
        assert {read(end).id for _ in range(2)} == {1, 2}, cut


def pipelined(listener):
    end = connect(listener)
    end.sendall(b"".join(frame(NAMES[i % 3], id=i) for i in range(100)))
    replies = {}
    for _ in range(100):
        response = read(end)
        replies[response.id] = response
    assert sorted(replies) == list(range(100))
    for id, response in replies.items():
        wanted = dns.rcode.NXDOMAIN if id % 3 == 1 else dns.rcode.NOERROR
        assert response.rcode() == wanted, response


def ends(end):
    try:
        return end.recv(1) == b""
    except ConnectionError:
        return True


def garbage(listener):
    for octets in b"\0\0", b"\0\5hello", b"\0\x0b" + b"x" * 30:
        end = connect(listener)
        end.sendall(octets)
        assert ends(end), octets
    end = connect(listener)
    end.sendall(b"\xff\xff" + frame("listed.example", id=3)[2:] +
                b"x" * (65535 - len(frame("listed.example")) + 2))
    response = read(end)
    assert (response.id, response.rcode()) == (3, dns.rcode.FORMERR)
    end.sendall(frame("listed.example"))
    assert is_listed(read(end))


def truncated(listener):
    """By datagram a set is cut and says so; over TCP it is whole."""
    query = dns.message.make_query("texts.example", "TXT", use_edns=False)
    family = socket.AF_INET6 if ":" in listener else socket.AF_INET
    datagram = socket.socket(family, socket.SOCK_DGRAM)
    datagram.settimeout(5)
    datagram.sendto(query.to_wire(), (listener, 53))
    response = dns.message.from_wire(datagram.recv(4096))
    assert response.flags & dns.flags.TC, response
    end = connect(listener)
    end.sendall(frame("texts.example", "TXT"))
    response = read(end)
    assert not response.flags & dns.flags.TC, response
    assert len(response.answer[0]) == 32, response


def hog(listener, seconds):
    """Every connection that it may have: some silent, some that ask and do
    not read; and new ones all the time."""
    until = time.monotonic() + float(seconds)
    kept = []
    while time.monotonic() < until:
        try:
            end = connect(listener, buffers=4096)
            end.setblocking(False)
            if len(kept) % 2:
                end.send(b"".join(frame("n%d.example" % i)
                                  for i in range(100)))
            kept.append(end)
        except OSError:
            pass
        if len(kept) == 40:
            print("full", flush=True)
        kept = kept[-60:]
        time.sleep(0.01)


def latency(listener, count):
    """Prints how many questions were answered, and the longest wait in ms,
    over TCP and UDP in turn."""
    longest, answered = 0, 0
    for i in range(int(count)):
        started = time.monotonic()
        if i % 2:
            end = connect(listener)
            end.sendall(frame("listed.example"))
            good = is_listed(read(end))
        else:
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            end.settimeout(5)
            end.sendto(frame("listed.example")[2:], (listener, 53))
            good = is_listed(dns.message.from_wire(end.recv(4096)))
        end.close()
        answered += good
        longest = max(longest, time.monotonic() - started)
    print(answered, int(longest * 1000))


def silent(listener, source):
    """Nobody answers to that source: not even the handshake."""
    try:
        connect(listener, source)
    except socket.timeout:
        return
    raise AssertionError("connected")


def kept(listener):
    end = connect(listener)
    end.sendall(frame("listed.example"))
    assert is_listed(read(end))
    print("open", flush=True)
    end.settimeout(None)
    end.recv(1)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
