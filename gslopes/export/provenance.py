"""Where a picture comes from, written into the file itself: XMP with IPTC's digital source type.

Only exported pictures have it. Those that a classifier is asked about stay free of metadata, which would differ along a
sweep.
"""

from __future__ import annotations

import struct
import zlib
from xml.sax.saxutils import quoteattr

SOURCE_TYPE = "http://cv.iptc.org/newscodes/digitalsourcetype/compositeWithTrainedAlgorithmicMedia"

_XMP = b"http://ns.adobe.com/xap/1.0/\x00"
_PNG = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"XML:com.adobe.xmp\x00\x00\x00\x00\x00"  # an iTXt chunk's head: not compressed, no language
_PACKET = """<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 xmp:CreatorTool={tool} Iptc4xmpExt:DigitalSourceType={source}
 Iptc4xmpExt:AISystemUsed={model} Iptc4xmpExt:AISystemVersionUsed={version}
 Iptc4xmpExt:AIPromptInformation={asked}>
<dc:description><rdf:Alt>
<rdf:li xml:lang="x-default">An edited photo, not a record of how a person looks.</rdf:li>
</rdf:Alt></dc:description>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>"""


def packet(*, tool: str, model: str, version: str, attribute: str, value: float) -> bytes:
    """The XMP packet of an edited picture, UTF-8.

    tool: name and version of the program.  model, version: the editor and the sha256 of its weights.
    attribute, value: what was changed, and to where: what the model was asked for.

    Source: IPTC Photo Metadata Standard 2025.1, Digital Source Type and the properties of AI systems.
    """
    words = {"tool": tool, "source": SOURCE_TYPE, "model": model, "version": version}
    words["asked"] = f"{attribute} {round(value, 4):g}"
    return _PACKET.format(**{key: quoteattr(word) for key, word in words.items()}).encode()


def embed(file: bytes, xmp: bytes) -> bytes:
    """The same JPEG or PNG with an XMP packet; its pixels are the same bytes.

    file: a whole file without XMP.  xmp: at most 65,000 bytes.

    Raises: ValueError if it is neither a JPEG nor a PNG.

    Source: XMP Specification Part 3, Storage in Files, sections 1.1.3 (JPEG) and 1.1.5 (PNG).
    """
    if file.startswith(b"\xff\xd8"):
        at = _after_jfif(file)
        segment = _XMP + xmp
        return file[:at] + b"\xff\xe1" + struct.pack(">H", len(segment) + 2) + segment + file[at:]
    if file.startswith(_PNG):
        at = len(_PNG) + 12 + 13  # after IHDR: length, name, 13 bytes, checksum
        body = b"iTXt" + _KEYWORD + xmp
        chunk = struct.pack(">I", len(body) - 4) + body + struct.pack(">I", zlib.crc32(body))
        return file[:at] + chunk + file[at:]
    raise ValueError("The picture is neither a JPEG nor a PNG.")


def _after_jfif(file: bytes) -> int:
    """Where the first segment ends if it is JFIF's, which must stay the first; else where the segments begin."""
    if file[2:4] == b"\xff\xe0":
        return 4 + int(struct.unpack(">H", file[4:6])[0])
    return 2
