"""A server that misbehaves on request. usage: http_server.py FOLDER; prints its port, serves until killed.

GET /BEHAVIOUR/NAME answers with FOLDER/NAME; BEHAVIOUR is
  plain         as it should be: ranges, ETag, Content-Length
  drop-K        the connection ends after K bytes of each answer
  norange-K     ranges are not known, and the first answer ends after K bytes
  nolength      no length, no ETag, no ranges: the end of the connection is the end of the file
  busy-N-S      the first N requests are answered with status S and Retry-After: 0
  stall-K       the first answer stops after K bytes and nothing more comes
  changed-K     the first answer ends after K bytes; then the file is another one (upper case)
  redirect      302 to /plain/NAME
  loop          302 to itself
Requests with a token are answered with 403 unless it is «secret»; hub addresses need it for /private/.
GET /requests.txt tells how many requests came before it. A small Hugging Face hub and a small S3 serve the
same files: /datasets/OWNER/NAME/resolve/REVISION/PATH, /api/datasets/…/tree/…, /bucket/…, and of models without
«datasets/» and under /api/models/, where /revision/ tells the commit. Models of owner «gated» need the token for their
files, those of «flaky» come 3000 bytes at a time. The hub's lists of owner «outside» have a file above the dataset,
those of «elsewhere» go on at another host.
"""

import collections
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

FOLDER = sys.argv[1]
PAGE = 2  # files that the hub lists at a time
lock = threading.Lock()
requests = collections.Counter()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        # A revision may hold slashes, which its address has encoded.
        parts = [urllib.parse.unquote(part) for part in url.path.strip("/").split("/")]
        path = "/".join(parts)
        with lock:
            earlier = requests[self.path]
            requests[self.path] += 1
            requests["all"] += 1
        if path == "requests.txt":
            return self.answer(200, str(requests["all"] - 1).encode())
        token = self.headers.get("Authorization")
        if token not in (None, "Bearer secret"):
            return self.answer(403, b"wrong token")
        if path.startswith(("api/datasets/", "api/models/")):
            return self.hub_list(parts, url)
        if len(parts) > 4 and parts[2] == "resolve":  # of a model
            if parts[0] == "gated" and token is None:
                return self.answer(401, b"token needed")
            if parts[3] not in ("main", self.commit()):
                return self.answer(404, b"no such revision")
            behaviour = "drop-3000" if parts[0] == "flaky" else "redirect"
            return self.behave(behaviour, "/".join(parts[4:]), earlier)
        if path.startswith("datasets/"):
            owner, revision, rest = parts[1], parts[4], "/".join(parts[5:])
            if owner == "private" and token is None:
                return self.answer(401, b"token needed")
            return self.behave("redirect" if revision == "main" else "plain", rest, earlier)
        if path.startswith("bucket"):
            return self.s3(path, url)
        behaviour, _, name = path.partition("/")
        return self.behave(behaviour, name, earlier)

    def behave(self, behaviour, name, earlier):
        kind, *numbers = behaviour.split("-")
        numbers = [int(number) for number in numbers]
        if kind == "redirect":
            return self.answer(302, b"moved", {"Location": "/plain/" + urllib.parse.quote(name)})
        if kind == "loop":
            return self.answer(302, b"moved", {"Location": self.path})
        if kind == "busy" and earlier < numbers[0]:
            return self.answer(numbers[1], b"busy", {"Retry-After": "0"})
        try:
            with open(os.path.join(FOLDER, name), "rb") as file:
                body = file.read()
        except OSError:
            return self.answer(404, b"no such file")
        if kind == "changed" and earlier > 0:
            body = body.upper()
        headers = {"ETag": '"%s"' % hashlib.md5(body).hexdigest(), "Accept-Ranges": "bytes"}
        if kind == "nolength":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True
            return None
        status, first, total = 200, 0, len(body)
        wanted = self.headers.get("Range", "")
        if wanted and kind != "norange":
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            first = int(first)
            end = min(int(last) + 1, total) if last else total
            if first >= total:
                return self.answer(416, b"", {"Content-Range": f"bytes */{total}"})
            status, body = 206, body[first:end]
            headers["Content-Range"] = f"bytes {first}-{end - 1}/{total}"
        cut = None
        if kind == "drop" or (kind in ("norange", "changed", "stall") and earlier == 0):
            cut = numbers[0]
        return self.answer(status, body, headers, cut, stall=kind == "stall")

    def answer(self, status, body, headers=None, cut=None, stall=False):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[:cut])
        if cut is not None and cut < len(body):
            self.wfile.flush()
            if stall:
                time.sleep(60)
            self.close_connection = True

    def names(self, below):
        for folder, _, names in os.walk(os.path.join(FOLDER, below)):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), FOLDER)

    def commit(self):
        """Another one for other files."""
        contents = hashlib.sha1()
        for name in sorted(self.names("")):
            with open(os.path.join(FOLDER, name), "rb") as file:
                contents.update(name.encode() + hashlib.sha1(file.read()).digest())
        return contents.hexdigest()

    def hub_list(self, parts, url):
        if parts[2] == "private" and self.headers.get("Authorization") is None:
            return self.answer(401, b"token needed")
        if parts[4] == "revision":
            if parts[5] not in ("main", self.commit()):
                return self.answer(404, b"no such revision")
            return self.answer(200, json.dumps({"id": "/".join(parts[2:4]), "sha": self.commit()}).encode())
        names = sorted(self.names("/".join(parts[6:])))
        if not names:
            return self.answer(404, b"no such folder")
        first = int(urllib.parse.parse_qs(url.query).get("cursor", ["0"])[0])
        entries = [{"type": "directory", "path": "somewhere"}]
        for name in names[first : first + PAGE]:
            entries.append({"type": "file", "path": name, "size": os.path.getsize(os.path.join(FOLDER, name))})
        headers = {}
        if parts[2] == "outside":
            entries.append({"type": "file", "path": "data/../../x.jsonl", "size": 1})
        if parts[2] == "elsewhere":
            headers["Link"] = '<http://elsewhere.invalid/api>; rel="next"'
        elif first + PAGE < len(names):
            host = self.headers["Host"]
            headers["Link"] = f'<http://{host}{url.path}?recursive=true&cursor={first + PAGE}>; rel="next"'
        return self.answer(200, json.dumps(entries).encode(), headers)

    def s3(self, path, url):
        query = urllib.parse.parse_qs(url.query)
        if "list-type" not in query:
            return self.behave("plain", path.partition("/")[2], 0)
        prefix = query.get("prefix", [""])[0]
        entries = "".join(
            f"<Contents><Key>{name}</Key><Size>{os.path.getsize(os.path.join(FOLDER, name))}</Size></Contents>"
            for name in sorted(self.names("")) if name.startswith(prefix))
        body = ("<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"
                f"<Name>bucket</Name><Prefix>{prefix}</Prefix><KeyCount>{entries.count('<Key>')}</KeyCount>"
                f"<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>")
        return self.answer(200, body.encode(), {"Content-Type": "application/xml"})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):  # clients that leave are what the tests are about
        pass


server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
