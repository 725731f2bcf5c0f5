"""An S3 server on this machine that counts what it is asked.

    python tests/s3_server.py [STUDY]

runs a study (default saez_2022) of the default configuration with its files in a bucket, twice, and prints the calls of each run;
then without a bucket, and compares the bytes.
"""

import re
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from crash_runner import planned_jobs
from workflow_runner import Workflow

# Nobody checks them; without any, boto3 would look for those of the user.
KEYS = {"SNAKEMAKE_STORAGE_S3_ACCESS_KEY": "test", "SNAKEMAKE_STORAGE_S3_SECRET_KEY": "test"}


class S3Server:
    """Moto's server in a thread, on a free port of 127.0.0.1; a context.

    Attributes
    ----------
    calls : collections.Counter
        Requests by kind: the method, ``LIST`` for a listing, ``BUCKET`` for a question for the bucket itself.
    """

    def __enter__(self):
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Silent(WSGIRequestHandler):
            protocol_version = "HTTP/1.1"

            def log(self, *arguments):
                pass

        self.calls, self._app = Counter(), DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._count, threaded=True, request_handler=Silent)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.bucket = f"bucket-{self._server.server_port}"  # what is in a bucket, all servers of a process share
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()

    def _count(self, environ, start_response):
        self.calls[_kind(environ)] += 1
        return self._app(environ, start_response)

    def options(self):
        """Options of Snakemake for this server."""
        return ["--default-storage-prefix", f"s3://{self.bucket}/foldshift", "--storage-s3-endpoint-url", self.address]

    def objects(self):
        """Content of every object below the prefix, by its name."""
        import boto3

        s3 = boto3.resource(
            "s3", endpoint_url=self.address, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        return {
            one.key.removeprefix("foldshift/"): one.get()["Body"].read()
            for one in s3.Bucket(self.bucket).objects.filter(Prefix="foldshift/")
        }


def _kind(environ):
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].strip("/")
    if "/" in path:
        return method
    return "LIST" if method == "GET" else "BUCKET"


def tables(objects, study):
    """Those of some objects that are tables and figures of a study, as `Workflow.tables` gives them."""
    base = f"results/{study}/"
    return {
        name.removeprefix(base): content
        for name, content in sorted(objects.items())
        if re.match(rf"{base}(tables/|figures/|paper_vs_ours\.)", name)
    }


def main(study="saez_2022"):
    """Run twice with a bucket and once without, print calls and whether the bytes are the same."""
    config = {"minutes_per_job": 1, "studies": {study: {}}}
    with tempfile.TemporaryDirectory() as folder, S3Server() as server:
        workflow = Workflow(Path(folder, "bucket"), config)
        for _ in range(2):
            server.calls.clear()
            start = time.monotonic()
            done = workflow("--verbose", *server.options(), env=KEYS, profile="s3", check=True)
            n_jobs, seconds = planned_jobs(done.stdout + done.stderr), time.monotonic() - start
            print(f"{n_jobs} jobs, {seconds:.0f} s, {server.calls.total()} calls: {dict(server.calls)}", flush=True)
        start = time.monotonic()
        local = Workflow(Path(folder, "local"), config)
        local(check=True)
        ours, theirs = tables(server.objects(), study), local.tables()
        same = sum(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())
        print(f"local file system: {time.monotonic() - start:.0f} s")
        print(f"{len(server.objects())} objects; of {len(theirs)} tables and figures {same} have the same bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
