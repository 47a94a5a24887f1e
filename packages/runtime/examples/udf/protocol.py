"""The protocol of user-defined functions in Python 3.8 or newer, with nothing but the standard library.

Copy it beside your function. Messages are protobuf with a varint length in front; the numbers are the fields of
`Request` and `Response`.
"""

import os
import socketserver
import struct
import sys

INFO, INIT, KEEPALIVE, SNAPSHOT, RESTORE, ERROR = 1, 2, 3, 4, 5, 6
BEGIN, POINT, END = 16, 17, 18
OPTION_TYPES = ["bool", "int", "float", "string", "duration"]


class Agent:
    """A function's side of a conversation. One object per conversation: a task that runs twice has two."""

    wants = "stream"
    provides = "stream"
    #: Types of the values of each option.
    options = {}

    def init(self, options):
        """Takes {name: [value, ...]}; raises to refuse them."""

    def begin(self, batch):
        """A batch begins: {'name', 'group', 'tags'}. Only when it wants batches."""

    def point(self, point):
        """Yields the points that come of one: {'time', 'name', 'group', 'tags', 'fields', ...}."""
        yield point

    def end(self, batch):
        """Yields points that the batch ends with."""
        return iter(())

    def snapshot(self):
        """The whole state as bytes; the answer is handed to `restore` of a later conversation."""
        return b""

    def restore(self, state):
        """Takes what `snapshot` gave."""


def serve(agent_class):
    """Runs agents: over standard input and output, or for every connection to `--socket PATH`."""
    if "--socket" not in sys.argv:
        converse(agent_class(), sys.stdin.buffer, sys.stdout.buffer)
        return
    path = sys.argv[sys.argv.index("--socket") + 1]
    if os.path.exists(path):
        os.remove(path)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            converse(agent_class(), self.rfile, self.wfile)

    with socketserver.ThreadingUnixStreamServer(path, Handler) as server:
        # Whoever starts this waits for the line.
        print("listening on " + path, file=sys.stderr, flush=True)
        server.serve_forever()


def converse(agent, source, sink):
    """Answers requests until the other side ends."""

    def send(kind, body):
        message = encode_bytes(kind, body)
        sink.write(encode_varint(len(message)) + message)
        sink.flush()

    while True:
        length = read_length(source)
        if length is None:
            return
        for kind, body in fields_of(source.read(length)):
            try:
                answer(agent, kind, body, send)
            except Exception as error:  # Whatever it is, the task learns of it.
                send(ERROR, encode_text(1, str(error)))


def answer(agent, kind, body, send):
    if kind == INFO:
        send(INFO, encode_info(agent))
    elif kind == INIT:
        send(INIT, agreed(lambda: agent.init(decode_options(body))))
    elif kind == KEEPALIVE:
        send(KEEPALIVE, body)
    elif kind == SNAPSHOT:
        send(SNAPSHOT, encode_bytes(1, agent.snapshot()))
    elif kind == RESTORE:
        state = dict(fields_of(body)).get(1, b"")
        send(RESTORE, agreed(lambda: agent.restore(state)))
    elif kind == BEGIN:
        agent.begin(decode_batch(body))
        if agent.provides == "batch":
            send(BEGIN, body)
    elif kind == POINT:
        for point in agent.point(decode_point(body)):
            send(POINT, encode_point(point))
    elif kind == END:
        for point in agent.end(decode_batch(body)):
            send(POINT, encode_point(point))
        if agent.provides == "batch":
            send(END, body)


def agreed(act):
    try:
        act()
    except Exception as error:  # The answer says why.
        return encode_text(2, str(error))
    return encode_number(1, 1)


# Messages


def encode_info(agent):
    info = encode_number(1, 1 if agent.wants == "batch" else 0)
    info += encode_number(2, 1 if agent.provides == "batch" else 0)
    for name, types in agent.options.items():
        packed = b"".join(encode_varint(OPTION_TYPES.index(each)) for each in types)
        info += encode_bytes(3, encode_text(1, name) + encode_bytes(2, encode_bytes(1, packed)))
    return info


def decode_options(body):
    options = {}
    for number, option in fields_of(body):
        if number != 1:
            continue
        name, values = "", []
        for part, content in fields_of(option):
            if part == 1:
                name = content.decode()
            elif part == 2:
                for kind, value in fields_of(content):
                    if kind == 2:
                        values.append(value != 0)
                    elif kind == 5:
                        values.append(value.decode())
                    elif kind > 2:
                        values.append(value)
        options[name] = values
    return options


def decode_batch(body):
    batch = {"name": "", "group": "", "tags": {}}
    for number, value in fields_of(body):
        if number in (1, 2):
            batch["name" if number == 1 else "group"] = value.decode()
    return batch


TEXTS = {2: "name", 3: "database", 4: "retention_policy", 5: "group"}


def decode_point(body):
    point = {"time": 0, "dimensions": [], "by_name": False, "tags": {}, "fields": {}}
    point.update({name: "" for name in TEXTS.values()})
    for number, value in fields_of(body):
        if number in TEXTS:
            point[TEXTS[number]] = value.decode()
        elif number == 1:
            point["time"] = value
        elif number == 6:
            point["dimensions"].append(value.decode())
        elif number == 11:
            point["by_name"] = value != 0
        else:
            # An entry of one of the maps; protobuf leaves out what is zero or empty.
            entry = dict(fields_of(value))
            key = entry.get(1, b"").decode()
            if number == 7:
                point["tags"][key] = entry.get(2, b"").decode()
            elif number == 8:
                point["fields"][key] = entry.get(2, 0.0)
            elif number == 9:
                point["fields"][key] = entry.get(2, 0)
            elif number == 10:
                point["fields"][key] = entry.get(2, b"").decode()
            elif number == 12:
                point["fields"][key] = entry.get(2, 0) != 0
    return point


def encode_point(point):
    body = encode_number(1, point["time"])
    for number, name in TEXTS.items():
        body += encode_text(number, point[name])
    for dimension in point["dimensions"]:
        body += encode_text(6, dimension)
    for key, value in point["tags"].items():
        body += encode_bytes(7, encode_text(1, key) + encode_text(2, value))
    for key, value in point["fields"].items():
        name = encode_text(1, key)
        if isinstance(value, bool):
            body += encode_bytes(12, name + encode_number(2, int(value)))
        elif isinstance(value, int):
            body += encode_bytes(9, name + encode_number(2, value))
        elif isinstance(value, float):
            body += encode_bytes(8, name + encode_varint(2 << 3 | 1) + struct.pack("<d", value))
        else:
            body += encode_bytes(10, name + encode_text(2, value))
    return body + (encode_number(11, 1) if point["by_name"] else b"")


# Wire


def read_length(source):
    """The varint in front of a message; None at the end of the input."""
    value, shift = 0, 0
    while True:
        byte = source.read(1)
        if not byte:
            return None
        value |= (byte[0] & 127) << shift
        if byte[0] < 128:
            return value
        shift += 7


def fields_of(message):
    """Fields of a message: varints as signed integers, doubles as floats, everything else as bytes."""
    at = 0
    while at < len(message):
        tag, at = decode_varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == 1:
            yield number, struct.unpack_from("<d", message, at)[0]
            at += 8
        elif kind == 0:
            value, at = decode_varint(message, at)
            yield number, value - (1 << 64) if value >> 63 else value
        elif kind == 2:
            length, at = decode_varint(message, at)
            yield number, message[at : at + length]
            at += length
        else:
            raise ValueError("message is damaged")


def decode_varint(message, at):
    value, shift = 0, 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def encode_varint(value):
    value &= (1 << 64) - 1
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def encode_number(field, value):
    return encode_varint(field << 3) + encode_varint(value)


def encode_bytes(field, value):
    return encode_varint(field << 3 | 2) + encode_varint(len(value)) + value


def encode_text(field, value):
    return encode_bytes(field, value.encode())
