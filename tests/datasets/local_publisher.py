"""A web server on this machine that plays the publishers, with their faults."""

import http.server
import time


class Publisher(http.server.ThreadingHTTPServer):
    """Serves `bodies`; a path under `faults` misbehaves as told. Counts what was asked for."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: dict[str, bytes] = {}
        self.faults: dict[str, str] = {}
        self.asked: list[str] = []
        self.patience = 2.0  # seconds that a stall lasts
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        path, server = self.path, self.server
        server.asked.append(path)
        fault, body = server.faults.get(path), server.bodies.get(path)
        if fault == "loop":
            self.send_response(302)
            self.send_header("Location", server.url + path)
            self.end_headers()
            return
        if fault == "away":
            self.send_response(302)
            self.send_header("Location", "ftp://127.0.0.1/file")
            self.end_headers()
            return
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        if fault != "no length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            if fault == "cut":
                self.wfile.write(body[: len(body) // 2])
            elif fault == "stall":
                self.wfile.write(body[:100])
                self.wfile.flush()
                time.sleep(server.patience)
            elif fault == "drip":
                for byte in body[:200]:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(0.02)
            elif fault == "slow but sound":
                for start in range(0, len(body), 1 + len(body) // 5):
                    self.wfile.write(body[start : start + 1 + len(body) // 5])
                    self.wfile.flush()
                    time.sleep(0.1)
            else:
                self.wfile.write(body)
        except OSError:
            pass  # the client gave up, as it should
