"""multipart/form-data by hand, so that it can also be wrong."""

BOUNDARY = "the-limit"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
END = f"--{BOUNDARY}--\r\n".encode()


def form(*parts, boundary=BOUNDARY):
    """A complete body of these parts."""
    return b"".join(opened + b"\r\n" for opened in parts) + f"--{boundary}--\r\n".encode()


def part(data, name=b"file", file_name=b"terms.pdf", *, boundary=BOUNDARY):
    """One part, without the line end after it. `file_name` is put between its quotes as it is."""
    given = b"" if file_name is None else b'; filename="%s"' % file_name
    head = b'--%s\r\nContent-Disposition: form-data; name="%s"%s' % (boundary.encode(), name, given)
    return head + b"\r\nContent-Type: application/octet-stream\r\n\r\n" + data
