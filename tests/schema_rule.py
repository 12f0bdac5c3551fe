#!/usr/bin/env python3
"""Checks that the recording's field numbers are the same in the schema and in the code, and that the tests know all.

src/recording/recording.proto is the schema, codec/fields.h its numbers as code. schema_test.cpp writes a recording
that protoc prints as every-record.textproto: each field and each value of an enumeration has to stand there.
"""

import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "src" / "recording"
PACKED = {"FrameKind", "FrameSource", "StackRole", "ThreadState"}  # bits of columns, which have no names


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def read_schema(text: str) -> tuple[dict, dict]:
    """messages["event_field"]["key"] = (1, "bytes"), enums["Unit"]["UNIT_TICKS"] = 0."""
    messages, enums, open_blocks = {}, {}, []
    for token in re.finditer(r"(message|enum)\s+(\w+)\s*{|(?:repeated |optional )?\s*(\w+)\s+(\w+)\s*=\s*(\d+);|"
                             r"(\w+)\s*=\s*(\d+);|(})", re.sub(r"//.*", "", text)):
        kind, name, of_type, field, number, value, value_number, end = token.groups()
        if kind:
            open_blocks.append(name)
            (messages if kind == "message" else enums)[
                "_".join(map(snake, open_blocks)) if kind == "message" else name] = {}
        elif field:
            messages["_".join(map(snake, open_blocks))][field] = (int(number), of_type)
        elif value:
            enums[open_blocks[-1]][value] = int(value_number)
        elif end:
            open_blocks.pop()
    return messages, enums


def read_code(text: str) -> dict:
    return {name: {snake(field): int(number) for field, number in re.findall(r"k(\w+) = (\d+)", body)}
            for name, body in re.findall(r"namespace (\w+) {\s*enum : Tag {(.*?)};", text, re.DOTALL)}


def fields_in(text: str, messages: dict) -> set:
    """("event_field", "key") of each field that stands in a message as protoc prints it."""
    found, inside = set(), ["records"]
    for line in text.splitlines():
        field = re.match(r"\s*(\w+)(: | {$)", line)
        if field:
            found.add((inside[-1], field[1]))
        if line.endswith(" {"):
            own = inside[-1] + "_" + snake(messages[inside[-1]][field[1]][1])
            inside.append(own if own in messages else snake(messages[inside[-1]][field[1]][1]))
        elif line.strip() == "}":
            inside.pop()
    return found


def faults(schema: str, code: str, example: str) -> list[str]:
    messages, enums = read_schema(schema)
    numbers = read_code(code)
    found = []
    for name in sorted(messages.keys() | numbers.keys()):
        there = {field: number for field, (number, _) in messages.get(name, {}).items()}
        here = numbers.get(name, {})
        found += [f"{name}.{field} is {there.get(field)} in recording.proto, {here.get(field)} in fields.h"
                  for field in sorted(there.keys() | here.keys()) if there.get(field) != here.get(field)]
    if found:
        return found
    seen = fields_in(example, messages)
    found += [f"{name}.{field} is not in every-record.textproto"
              for name, fields in messages.items() for field in fields if (name, field) not in seen]
    words = set(re.findall(r"\w+", example))
    # A zero is not printed: it stands in no message.
    found += [f"{value} is not in every-record.textproto" for name, values in enums.items() if name not in PACKED
              for value, number in values.items() if number and value not in words]
    return found


def main() -> None:
    schema, code, example = ((FOLDER / name).read_text() for name in
                             ("recording.proto", "codec/fields.h", "testdata/every-record.textproto"))
    messages, _ = read_schema(schema)
    changed = re.sub(r"vcpu_count +\= 6", "vcpu_count = 12", schema)
    if schema == changed or not faults(changed, code, example) or not faults(schema, code, "warning: 'x'"):
        sys.exit("this check finds nothing any more")
    found = faults(schema, code, example)
    for fault in found:
        print(fault)
    if found:
        sys.exit(1)
    print(f"{len(messages)} messages, {sum(map(len, messages.values()))} fields")


if __name__ == "__main__":
    main()
