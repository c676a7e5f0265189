import json
import subprocess
import urllib.request

import pytest


class Strand:
    """A demo in a child process, which ends when its standard input does."""

    def __init__(self, *words):
        command = ["strand", "demo", "--port", "0", "--json", "--still", "--until-stdin-ends", *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.world = json.loads(self.process.stdout.readline())

    def control(self, method, path, body=None):
        request = urllib.request.Request(
            self.world["control_url"] + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": "Bearer " + self.world["operator_token"],
                "Content-Type": "application/json",
            },
        )
        urllib.request.urlopen(request).close()

    def stop(self):
        self.process.stdin.close()
        self.process.wait(10)


@pytest.fixture(scope="session")
def running_strand():
    strand = Strand("--streams", "120")
    yield strand
    strand.stop()


@pytest.fixture
def strand(running_strand):
    yield running_strand
    running_strand.control("POST", "/reset")
