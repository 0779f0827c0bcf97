"""A small writer of PDF files: text at places, lines, pictures, forms, annotations, encryption.

Places count in points from the top left corner of an upright A4 page, as a reader sees them.
"""

import hashlib
import zlib
from dataclasses import dataclass, field

WIDTH, HEIGHT = 595, 842
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
_FONTS = {
    "F1": "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    "F2": "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
    "F3": "<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Encoding/WinAnsiEncoding>>",
    "CJK": "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UCS2-H"
    "/DescendantFonts[<</Type/Font"
    "/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)/Supplement 4>>"
    "/DW 1000>>]>>",
}


@dataclass
class Sheet:
    """One page. `rotate` and `crop` are its /Rotate and /CropBox."""

    content: list[str] = field(default_factory=list)
    annotations: list[str] = field(default_factory=list)
    pictures: list[tuple[int, int, bytes]] = field(default_factory=list)
    rotate: int = 0
    crop: tuple[float, float, float, float] | None = None

    def text(self, x, y, text, size=10, font="F1", mode=0, colour="0 0 0", turn=(1, 0, 0, 1)):
        """Text whose baseline begins at (x, y)."""
        matrix = " ".join(str(part) for part in turn)
        self.content.append(
            f"{colour} rg BT /{font} {size} Tf {mode} Tr {matrix} {x} {HEIGHT - y} Tm "
            f"{_string(text, font)} Tj ET"
        )
        return self

    def lines(self, x, y, *texts, pitch=12, **style):
        for index, text in enumerate(texts):
            self.text(x, y + index * pitch, text, **style)
        return self

    def line(self, x1, y1, x2, y2):
        self.content.append(f"0.5 w {x1} {HEIGHT - y1} m {x2} {HEIGHT - y2} l S")
        return self

    def area(self, x1, y1, x2, y2, colour="0 0 0"):
        self.content.append(f"{colour} rg {x1} {HEIGHT - y2} {x2 - x1} {y2 - y1} re f")
        return self

    def grid(self, xs, ys):
        for x in xs:
            self.line(x, ys[0], x, ys[-1])
        for y in ys:
            self.line(xs[0], y, xs[-1], y)
        return self

    def picture(self, width, height, grey, box=(0, 0, WIDTH, HEIGHT)):
        """A grey picture (a byte for each pixel), stretched over the box x1, y1, x2, y2."""
        x1, y1, x2, y2 = box
        self.pictures.append((width, height, grey))
        self.content.append(f"q {x2 - x1} 0 0 {y2 - y1} {x1} {HEIGHT - y2} cm /I{len(self.pictures)} Do Q")
        return self

    def free_text(self, x, y, text, width=200, height=14, subtype="FreeText", flags=4):
        rect = f"{x} {HEIGHT - y - height} {x + width} {HEIGHT - y}"
        self.annotations.append(
            f"<</Type/Annot/Subtype/{subtype}/Rect[{rect}]/F {flags}/Contents{_string(text)}/DA(/F1 10 Tf)>>"
        )
        return self

    def widget(self, x, y, kind, width=150, height=14):
        """A form field: `kind` holds its entries, such as `/FT/Tx/V(value)`."""
        rect = f"{x} {HEIGHT - y - height} {x + width} {HEIGHT - y}"
        name = len(self.annotations)
        self.annotations.append(
            f"<</Type/Annot/Subtype/Widget/Rect[{rect}]/F 4/T(field{name}){kind}/DA(/F1 10 Tf)>>"
        )
        return self


def _string(text, font="F1"):
    if font == "CJK":
        return "<" + text.encode("utf-16-be").hex() + ">"
    if font.startswith("M"):
        return "<" + bytes(text).hex() + ">"
    return "<" + text.encode("cp1252").hex() + ">"


def mapped_font(letters, width=500):
    """A font whose byte 1, 2, … stand for these code points: its page text is what `letters` says."""
    pairs = "".join(
        f"<{i:02x}> <{letter.encode('utf-16-be').hex()}>\n" for i, letter in enumerate(letters, 1)
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def /CMapType 2 def\n"
        "1 begincodespacerange <00> <ff> endcodespacerange\n"
        f"{len(letters)} beginbfchar\n{pairs}endbfchar endcmap end end"
    )
    widths = " ".join([str(width)] * 256)
    return (
        (
            "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 0/LastChar 255"
            f"/Widths[{widths}]/ToUnicode %d 0 R>>"
        ),
        cmap,
    )


def write(
    sheets, *, title=None, language=None, fonts=None, password=None, owner_password="owner", keep_end=True
):
    """The file. With a `password` (also an empty one) it is encrypted; `fonts` adds mapped fonts by name."""
    writer = _Writer()
    catalog, tree = writer.reserve(), writer.reserve()
    font_refs = {name: writer.add(body) for name, body in _FONTS.items()}
    for name, (body, cmap) in (fonts or {}).items():
        font_refs[name] = writer.add(body % writer.stream(cmap.encode()))
    resources = "/Font<<" + "".join(f"/{name} {ref} 0 R" for name, ref in font_refs.items()) + ">>"
    fields = []
    kids = [_page(writer, sheet, tree, resources, fields) for sheet in sheets]
    references = " ".join(f"{kid} 0 R" for kid in kids)
    writer.set(tree, f"<</Type/Pages/Kids[{references}]/Count {len(kids)}>>")
    form = ""
    if fields:
        listed = " ".join(f"{ref} 0 R" for ref in fields)
        form = f"/AcroForm<</Fields[{listed}]/DA(/F1 10 Tf)>>"
    tag = f"/Lang({language})" if language else ""
    writer.set(catalog, f"<</Type/Catalog/Pages {tree} 0 R{tag}{form}>>")
    info = writer.add(f"<</Title{_string(title)}>>") if title else None
    return writer.finish(catalog, info, password, owner_password, keep_end=keep_end)


def _page(writer, sheet, tree, resources, fields):
    content = writer.stream("\n".join(sheet.content).encode("latin-1"))
    images = ""
    for index, (width, height, grey) in enumerate(sheet.pictures, 1):
        entries = f"/Type/XObject/Subtype/Image/Width {width}/Height {height}"
        entries += "/ColorSpace/DeviceGray/BitsPerComponent 8"
        images += f"/I{index} {writer.stream(grey, entries)} 0 R"
    annotations = [writer.add(body) for body in sheet.annotations]
    fields.extend(
        ref for ref, body in zip(annotations, sheet.annotations, strict=True) if "/Subtype/Widget" in body
    )
    listed = " ".join(f"{ref} 0 R" for ref in annotations)
    crop = f"/CropBox[{' '.join(map(str, sheet.crop))}]" if sheet.crop else ""
    return writer.add(
        f"<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 {WIDTH} {HEIGHT}]{crop}/Rotate {sheet.rotate}"
        f"/Contents {content} 0 R/Resources<<{resources}/XObject<<{images}>>>>/Annots[{listed}]>>"
    )


class _Writer:
    def __init__(self):
        self._bodies = []

    def reserve(self):
        self._bodies.append(None)
        return len(self._bodies)

    def add(self, body):
        self._bodies.append((body.encode("latin-1"), None))
        return len(self._bodies)

    def stream(self, data, entries=""):
        packed = zlib.compress(data)
        head = f"<<{entries}/Filter/FlateDecode/Length {len(packed)}>>".encode("latin-1")
        self._bodies.append((head, packed))
        return len(self._bodies)

    def set(self, number, body):
        self._bodies[number - 1] = (body.encode("latin-1"), None)

    def finish(self, catalog, info, password, owner_password, *, keep_end):
        identity = hashlib.md5(b"assay").digest()
        key, trailer = None, ""
        if password is not None:
            key, entry = _encryption(password.encode(), owner_password.encode(), identity)
            trailer = f"/Encrypt {entry}"
        out, offsets = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
        for number, (head, data) in enumerate(self._bodies, 1):
            offsets.append(len(out))
            out += b"%d 0 obj\n" % number + head
            if data is not None:
                out += (
                    b"\nstream\n" + (_rc4(_object_key(key, number), data) if key else data) + b"\nendstream"
                )
            out += b"\nendobj\n"
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1)
        out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
        listed = f"/Info {info} 0 R" if info else ""
        out += (
            f"trailer\n<</Size {len(offsets) + 1}/Root {catalog} 0 R{listed}"
            f"/ID[<{identity.hex()}><{identity.hex()}>]{trailer}>>\n"
        ).encode("latin-1")
        return bytes(out) + (b"startxref\n%d\n%%%%EOF\n" % start if keep_end else b"")


def _encryption(password, owner_password, identity):
    """The standard handler with 40-bit RC4: the key, and the dictionary to write."""
    permissions = -4
    owner_key = hashlib.md5((owner_password + _PADDING)[:32]).digest()[:5]
    owner = _rc4(owner_key, (password + _PADDING)[:32])
    seed = (password + _PADDING)[:32] + owner + (permissions & 0xFFFFFFFF).to_bytes(4, "little") + identity
    key = hashlib.md5(seed).digest()[:5]
    user = _rc4(key, _PADDING)
    return key, f"<</Filter/Standard/V 1/R 2/O<{owner.hex()}>/U<{user.hex()}>/P {permissions}>>"


def _object_key(key, number):
    return hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]


def _rc4(key, data):
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
