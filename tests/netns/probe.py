#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a program in a box tries, and what it gets back.

  probe.py tcp ADDRESS PORT COUNT     connects; prints outcomes and times
  probe.py udp ADDRESS PORT COUNT     datagrams; prints errors that came back
  probe.py ping ADDRESS COUNT         echo requests over a raw socket
  probe.py neighbour ADDRESS COUNT    neighbour discovery, sent to anybody
  probe.py crowd ADDRESS COUNT        solicitations from invented senders
  probe.py flood ADDRESS PORT SECONDS questions for listed.example
  probe.py churn ADDRESS PORT SECONDS connections, closed at once
  probe.py ports ADDRESS PORT COUNT   a datagram from each of many ports
  probe.py vary SERVER ZONE           one name a variant of the question
  probe.py asks FILE                  what a capture says went upstream
  probe.py download ADDRESS PORT SECONDS   reads a slow stream to its end
  probe.py trickle ADDRESS PORT SECONDS    serves one: a line each 0.2 s

Each prints one line "name value …" a fact; the caller judges.
"""
import errno
import os
import select
import socket
import struct
import sys
import time


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def tcp(address, port, count):
    outcomes = {}
    worst = 0.0
    for _ in range(count):
        s = socket.socket(family(address), socket.SOCK_STREAM)
        s.settimeout(3)
        start = time.monotonic()
        try:
            s.connect((address, port))
            result = "connected"
        except ConnectionRefusedError:
            result = "refused"
        except socket.timeout:
            result = "timeout"
        except OSError as e:
            result = errno.errorcode.get(e.errno, str(e))
        worst = max(worst, (time.monotonic() - start) * 1000)
        s.close()
        outcomes[result] = outcomes.get(result, 0) + 1
    print(" ".join(f"{k} {v}" for k, v in sorted(outcomes.items())),
          f"worst_ms {worst:.2f}")


def udp(address, port, count):
    """A socket of its own for each, so that an error belongs to it."""
    errors = 0
    answers = 0
    for i in range(count):
        s = socket.socket(family(address), socket.SOCK_DGRAM)
        s.connect((address, port))
        s.send(b"probe %d" % i)
        s.settimeout(0.02)
        try:
            s.recv(100)
            answers += 1
        except socket.timeout:
            pass
        except OSError:
            errors += 1
        s.close()
    print(f"sent {count} errors {errors} answers {answers}")


def neighbour(address, count):
    """Solicitations and advertisements, as if the address were on the link."""
    s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 255)
    target = socket.inet_pton(socket.AF_INET6, address)
    for i in range(count):
        s.sendto(struct.pack("!BBHI", 135 + i % 2, 0, 0, 0) + target +
                 b"payload" * 8, (address, 0))
    print(f"sent {count}")


def crowd(address, count):
    s = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    to = socket.inet_pton(socket.AF_INET6, address)
    for i in range(count):
        source = socket.inet_pton(socket.AF_INET6, f"fe80::7:{i:x}")
        body = (struct.pack("!BBHI", 135, 0, 0, 0) + to +
                struct.pack("!BBHI", 1, 1, 0x0200, i))
        pseudo = source + to + struct.pack("!II", len(body), 58)
        body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
        s.sendto(struct.pack("!IHBB", 6 << 28, len(body), 58, 255) +
                 source + to + body, (address, 0))
    print(f"sent {count}")


def flood(address, port, seconds):
    """As fast as it goes; answers are not waited for."""
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.connect((address, port))
    question = (struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) +
                b"\x06listed\x07example\0" + struct.pack("!HH", 1, 1))
    sent = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            s.send(question)
            sent += 1
        except OSError:
            pass
    print(f"sent {sent}")


def churn(address, port, seconds):
    made = 0
    tried = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        s = socket.socket(family(address), socket.SOCK_STREAM)
        s.settimeout(0.2)
        tried += 1
        try:
            s.connect((address, port))
            made += 1
        except OSError:
            pass
        s.close()
    print(f"tried {tried} made {made}")


def ports(address, port, count):
    for own in range(1024, 1024 + count):
        s = socket.socket(family(address), socket.SOCK_DGRAM)
        try:
            s.bind(("", own))
            s.sendto(b"probe", (address, port))
        except OSError:
            pass
        s.close()
    print(f"sent {count}")


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def ping(address, count):
    six = ":" in address
    proto = socket.IPPROTO_ICMPV6 if six else socket.IPPROTO_ICMP
    s = socket.socket(family(address), socket.SOCK_RAW, proto)
    errors = answers = 0
    for i in range(count):
        kind = 128 if six else 8
        head = struct.pack("!BBHHH", kind, 0, 0, 77, i)
        body = head + b"payload"
        if not six:
            body = struct.pack("!BBHHH", kind, 0, checksum(body), 77, i) + \
                b"payload"
        try:
            s.sendto(body, (address, 0))
        except OSError:
            errors += 1
            continue
        end = time.monotonic() + 0.02
        while select.select([s], [], [], max(0, end - time.monotonic()))[0]:
            try:
                got = s.recv(2000)
            except OSError:
                errors += 1
                break
            kind_back = got[0] if six else got[20]
            if kind_back == (129 if six else 0):
                answers += 1
                break
            if kind_back == (1 if six else 3):
                errors += 1
                break
    print(f"sent {count} errors {errors} answers {answers}")


# --- questions --------------------------------------------------------------

def wire_name(name, spell=lambda c, i: c):
    out = b""
    i = 0
    for label in name.split("."):
        text = "".join(spell(c, i + k) for k, c in enumerate(label))
        i += len(label)
        out += bytes([len(label)]) + text.encode("latin-1")
    return out + b"\0"


def question(name, ident=None, flags=0x0100, qtype=1, qclass=1, counts=None,
             spell=lambda c, i: c, tail=b"", opt=None):
    if ident is None:
        ident = int.from_bytes(os.urandom(2), "big")
    counts = counts or (1, 0, 0, 1 if opt is not None else 0)
    head = struct.pack("!HH4H", ident, flags, *counts)
    return head + wire_name(name, spell) + struct.pack("!HH", qtype, qclass) \
        + (opt or b"") + tail


def opt(size=1232, version=0, flags=0, options=b"", rcode=0):
    return b"\0" + struct.pack("!HHBBHH", 41, size, rcode, version, flags,
                               len(options)) + options


def option(code, data):
    return struct.pack("!HH", code, len(data)) + data


VALID = {
    "plain": {},
    "upper": {"spell": lambda c, i: c.upper()},
    "mixed": {"spell": lambda c, i: c.upper() if i % 2 else c},
    "id0": {"ident": 0},
    "idffff": {"ident": 0xffff},
    "norecurse": {"flags": 0},
    "checking": {"flags": 0x0110},
    "authentic": {"flags": 0x0120},
    "reserved": {"flags": 0x0140},
    "six": {"qtype": 28},
    "any": {"qtype": 255},
    "edns512": {"opt": opt(512)},
    "edns4096": {"opt": opt(4096)},
    "edns65535": {"opt": opt(65535)},
    "edns0size": {"opt": opt(0)},
    "dnssec": {"opt": opt(flags=0x8000)},
    "optflags": {"opt": opt(flags=0x7fff)},
    "cookie": {"opt": opt(options=option(10, b"ABCDEFGH"))},
    "longcookie": {"opt": opt(options=option(10, b"ABCDEFGH" * 5))},
    "subnet": {"opt": opt(options=option(8, b"\0\1\x18\0\xc6\x33\x64"))},
    "padding": {"opt": opt(options=option(12, b"secret-in-padding" * 5))},
    "nsid": {"opt": opt(options=option(3, b""))},
    "unknown": {"opt": opt(options=option(65001, b"secret" * 10))},
}
INVALID = {
    "trailing": {"tail": b"secret"},
    "twoquestions": {"counts": (2, 0, 0, 0)},
    "noquestion": {"counts": (0, 0, 0, 0)},
    "answers": {"counts": (1, 1, 0, 0)},
    "response": {"flags": 0x8100},
    "opcode": {"flags": 0x2100},
    "chaos": {"qclass": 3},
    "version1": {"opt": opt(version=1)},
    "axfr": {"qtype": 252},
    "txt": {"qtype": 16},
    "null": {"qtype": 10},
    "https": {"qtype": 65},
}


def vary(server, zone):
    """Names are all of one length, so that only the label differs."""
    s = socket.socket(family(server), socket.SOCK_DGRAM)
    s.connect((server, 53))
    s.settimeout(3)
    serial = 0
    for group, variants in (("valid", VALID), ("invalid", INVALID)):
        for what, arguments in variants.items():
            serial += 1
            name = f"{'v' if group == 'valid' else 'x'}{serial:03d}.{zone}"
            replies = 0
            for _ in range(2):  # the second is answered from the cache
                s.send(question(name, **arguments))
                try:
                    s.recv(65535)
                    replies += 1
                except socket.timeout:
                    if what == "response":
                        break
            print(group, what, name, replies)


def packets(path):
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") \
        else ">"
    link = struct.unpack(order + "I", data[20:24])[0]
    skip = {1: 14, 276: 20, 113: 16}[link]
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        yield data[at + 16 + skip:at + 16 + size]
        at += 16 + size


def asks(path):
    """IP header fields but id and checksum, UDP payload but its id."""
    for packet in packets(path):
        if packet[0] >> 4 == 4:
            head = (packet[0] & 15) * 4
            proto, ip = packet[9], (packet[1], packet[8])
        else:
            head, proto, ip = 40, packet[6], (packet[1], packet[7])
        if proto != 17:
            print("other", proto)
            continue
        payload = packet[head + 8:]
        name, at = [], 12
        while payload[at]:
            name.append(payload[at + 1:at + 1 + payload[at]].decode("latin-1"))
            at += payload[at] + 1
        rest = payload[2:12] + payload[at:]
        print("ask", ".".join(name), int.from_bytes(payload[at + 1:at + 3],
              "big"), ip[0], ip[1], rest.hex())


# --- long flows -------------------------------------------------------------

def download(address, port, seconds):
    s = socket.create_connection((address, port), 3)
    s.settimeout(3)
    start = time.monotonic()
    got = 0
    try:
        while True:
            data = s.recv(4096)
            if not data:
                result = "end"
                break
            got += len(data)
            if time.monotonic() - start > seconds + 5:
                result = "endless"
                break
    except OSError as e:
        result = errno.errorcode.get(e.errno, "timeout")
    print(f"{result} octets {got} seconds {time.monotonic() - start:.1f}",
          flush=True)


def trickle(address, port, seconds):
    s = socket.socket(family(address), socket.SOCK_STREAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, port))
    s.listen(64)
    while True:
        peer, _ = s.accept()
        if os.fork() == 0:
            end = time.monotonic() + seconds
            try:
                while time.monotonic() < end:
                    peer.sendall(b"x" * 100)
                    time.sleep(0.2)
            except OSError:
                pass
            peer.close()
            os._exit(0)
        peer.close()
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0] == 0:
                    break
            except ChildProcessError:
                break


def main():
    verb, words = sys.argv[1], sys.argv[2:]
    if verb in ("vary", "asks"):
        globals()[verb](*words)
    elif verb in ("ping", "neighbour", "crowd"):
        globals()[verb](words[0], int(words[1]))
    else:
        globals()[verb](words[0], int(words[1]), int(words[2]))


if __name__ == "__main__":
    main()
