"""A web site on loopback whose pages a test may change."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site:
    def __init__(self, port):
        self.address = f"127.0.0.1:{port}"
        self.pages = {}

    def put(self, path, *paragraphs):
        """A page of these paragraphs; its address."""
        body = "".join(f"<p>{text}</p>" for text in paragraphs)
        self.pages[path] = f"<html><head><title>Rules</title></head><body><main>{body}</main></body></html>"
        return f"http://{self.address}{path}"


@contextmanager
def serving():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            page = site.pages.get(self.path)
            target = page if page and page.startswith("http") else None
            self.send_response(302 if target else 200 if page else 404)
            if target:
                self.send_header("Location", target)
            body = b"" if target else (page or "").encode()
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site = Site(server.server_address[1])
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
