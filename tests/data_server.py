"""A real HTTP server on this machine that gives made-up data sets, and fails in every way that data hosts fail."""

import contextlib
import hashlib
import io
import socket
import ssl
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from xml.sax.saxutils import escape

KEEL_TEXT = """@relation tiny
@attribute length real [0.0, 9.0]
@attribute colour {red, green, blue}
@attribute class {1.0, -1.0}
@inputs length, colour
@outputs class
@data
1.5, red, 1.0
2.5, green, -1.0
3.5, blue, -1.0
4.5, red, 1.0
"""
KEEL_ROWS, KEEL_COLUMNS = 4, 2
CSV_TEXT = "1.5;red;10\n2.5;green;20\n3.5;blue;30\n"
ARFF_TEXT = """@relation tiny
@attribute id numeric
@attribute length numeric
@attribute 'the colour' {red, green}
@attribute class {good, bad}
@data
1, 0.5, red, good
2, 1.5, green, bad
3, ?, red, bad
4, 2.5, green, good
"""


class DataServer:
    """HTTP server on 127.0.0.1 at a free port; use it as a context manager.

    Attributes
    ----------
    requests : list of tuple of str
        Method and path of every request, in order.
    """

    def __init__(self):
        self._answers = {}
        self.requests = []
        self.ended = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server.requests.append((self.command, self.path))
                answers = server._answers.get(self.path, [status(404)])
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                with contextlib.suppress(OSError):  # the client has had enough
                    answer(self, server.ended)

            do_HEAD = do_GET

            def end_headers(self):
                self.send_header("Connection", "close")
                super().end_headers()

            def log_message(self, *args):
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._scheme = "http"
        self._http.block_on_close = False

    def __enter__(self):
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *exception):
        self.ended.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def url(self):
        """Base address, without a slash at the end."""
        return f"{self._scheme}://127.0.0.1:{self._http.server_address[1]}"

    @property
    def hosts(self):
        """Base addresses for `foldshift.datasets.sources.fetch.fetch`."""
        return {"keel": f"{self.url}/keel/dataset/data", "uci": self.url, "openml": f"{self.url}/api/v1/xml"}

    def use_certificate(self, certificate, key):
        """Speak https from now on."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
        self._scheme = "https"

    def serve(self, path, *answers):
        """Give these answers at `path`, one after the other, the last one for ever; bytes stand for a plain file."""
        self._answers[path] = [body(answer) if isinstance(answer, bytes) else answer for answer in answers]

    def serve_keel(self, name, text=KEEL_TEXT, kind="classification", member=None):
        """A KEEL archive."""
        content = zip_of({member or f"{name}.dat": text.encode("latin-1")})
        self.serve(f"/keel/dataset/data/{kind}/{name}.zip", content)

    def serve_uci(self, identifier, slug, members):
        """A UCI archive with these members, dict of name to bytes."""
        self.serve(f"/static/public/{identifier}/{slug}.zip", zip_of(members))

    def serve_openml(self, identifier, arff=ARFF_TEXT, *, target="class", ignore="id", licence="CC0", md5=None, parquet=None):
        """The interface's answers for one data set, and its file."""
        content = arff.encode()
        file = f"/data/v1/download/{identifier}99/tiny.arff"
        fields = {
            "id": identifier,
            "name": "tiny",
            "version": 1,
            "description": "made up",
            "format": "ARFF",
            "licence": licence,
            "url": self.url + file,
            "default_target_attribute": target,
            "ignore_attribute": ignore,
            "md5_checksum": md5 or hashlib.md5(content).hexdigest(),
        }
        if parquet is not None:
            fields["parquet_url"] = f"{self.url}/data/tiny.pq"
            self.serve("/data/tiny.pq", parquet)
        inner = "".join(f"<oml:{key}>{escape(str(value))}</oml:{key}>" for key, value in fields.items() if value)
        self._serve_xml(f"data/{identifier}", "data_set_description", inner)
        self._serve_xml(f"data/features/{identifier}", "data_features", "")
        self._serve_xml(f"data/qualities/{identifier}", "data_qualities", "")
        self.serve(file, content)
        return file

    def _serve_xml(self, path, root, inner):
        text = f'<?xml version="1.0"?><oml:{root} xmlns:oml="http://openml.org/openml">{inner}</oml:{root}>'
        self.serve(f"/api/v1/xml/{path}", body(text.encode(), {"Content-Type": "text/xml"}))


def body(content, headers=None, code=200):
    """Answer with a whole file."""

    def answer(handler, ended):
        handler.send_response(code)
        for name, value in {"Content-Length": len(content), **(headers or {})}.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(content)

    return answer


def status(code, **headers):
    """Answer with a status and a short page; ``Retry_After="1"`` sets Retry-After."""
    page = f"<html><body>{code}</body></html>".encode()
    return body(page, {name.replace("_", "-"): value for name, value in headers.items()}, code)


def html():
    """Answer 200 with a web page instead of a file."""
    return body(b"\n<!DOCTYPE html>\n<html><body>Down for maintenance</body></html>", {"Content-Type": "text/html"})


def truncated(content, sent):
    """Promise the whole file, send the first bytes, close the connection."""

    def answer(handler, ended):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:sent])

    return answer


def cut_off(content, sent, headers=None, chunk=None):
    """Send the first bytes of an answer that does not say its length, in chunks of a size or plain, and close the connection."""
    whole = content
    if chunk is not None:
        parts = [content[start : start + chunk] for start in range(0, len(content), chunk)]
        whole = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
        headers = {**(headers or {}), "Transfer-Encoding": "chunked"}

    def answer(handler, ended):
        handler.send_response(200)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(whole[:sent])

    return answer


def broken_chunk(content):
    """Chunked answer that ends in the middle of a chunk."""

    def answer(handler, ended):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(f"{len(content) + 100:x}\r\n".encode() + content)

    return answer


def chunked(content):
    """Whole file in a chunked answer, without Content-Length."""

    def answer(handler, ended):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for start in range(0, len(content), 100):
            piece = content[start : start + 100]
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        handler.wfile.write(b"0\r\n\r\n")

    return answer


def hang():
    """Take the request and say nothing."""

    def answer(handler, ended):
        ended.wait(60)

    return answer


def drip(content, pause):
    """Send one byte, pause, and so on: no single wait is long."""

    def answer(handler, ended):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        for position in range(len(content)):
            handler.wfile.write(content[position : position + 1])
            if ended.wait(pause):
                return

    return answer


def drip_header(pause):
    """Send the header itself byte by byte, without an end."""

    def answer(handler, ended):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not ended.wait(pause):
            handler.wfile.write(b"x")

    return answer


def endless():
    """A file without Content-Length that does not end; it begins as an archive does."""

    def answer(handler, ended):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(b"PK")
        while not ended.is_set():
            handler.wfile.write(b"1,2,3\n" * 10_000)

    return answer


def moved(address):
    """Send the client elsewhere."""
    return body(b"", {"Location": address}, 302)


def closed_port():
    """Address at which no server listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def zip_of(members):
    """Zip archive of a dict of name to bytes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return packed.getvalue()
