"""Base of the tests of `ringside mem`."""
import json

import cli_case
from cli_case import DONE


class MemoryCase(cli_case.CliCase):
    def write(self, name, raw):
        (self.folder / name).write_bytes(raw)
        return name

    def json(self, *arguments):
        result = self.ringside("mem", "report", "--format", "json", *arguments)
        self.assertSays(result, DONE)
        return {one["name"]: one for one in json.loads(result.stdout)["allocators"]}
