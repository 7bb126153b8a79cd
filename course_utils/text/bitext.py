"""Real bitext: read a tab-separated file, and fetch one from the web if the learner asks for it.

Nothing here runs by itself. A download is kept only after its checksum is right.
"""

from __future__ import annotations

import http.client
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from .files import replacing

_CHUNK = 1 << 16  # bytes


def read_bitext(path: str | Path, max_pairs: int | None = None, max_words: int | None = None) -> list[tuple[str, str]]:
    """``(source, target)`` of each line ``source TAB target``, UTF-8; further columns and blank lines are ignored.

    ``max_words`` leaves out pairs with more words, counted between spaces, on either side (a Chinese sentence counts as
    one word); ``max_pairs`` stops after that many pairs. Raises ValueError that names file and line for a missing column
    or side and for bytes that are not UTF-8, and for limits below 1 or a file without any pair.
    """
    for name, limit in (("max_pairs", max_pairs), ("max_words", max_words)):
        if limit is not None and limit < 1:
            raise ValueError(f"{name}={limit} must be at least 1")
    path, found, seen = Path(path), [], 0
    with path.open("rb") as lines:  # bytes end at \n only; text mode would also break lines elsewhere and lose the line of an error
        for number, raw in enumerate(lines, 1):
            if max_pairs is not None and len(found) == max_pairs:
                break
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise ValueError(f"{path}, line {number}: not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8") from error
            if not line.strip():
                continue
            columns = [column.strip() for column in line.split("\t")]
            if len(columns) < 2:
                raise ValueError(f"{path}, line {number}: expected source TAB target, found no tab in {_short(line)}")
            if not columns[0] or not columns[1]:
                raise ValueError(f"{path}, line {number}: the {'target' if columns[0] else 'source'} is empty in {_short(line)}")
            seen += 1
            if max_words is None or max(len(side.split()) for side in columns[:2]) <= max_words:
                found.append((columns[0], columns[1]))
    if not seen:
        raise ValueError(f"{path} contains no pair")
    return found


def _short(line: str) -> str:
    return repr(line if len(line) <= 60 else line[:57] + "...")


@dataclass(frozen=True)
class BitextSource:
    """Where a bitext lies: an https ``url``, the ``sha256`` of what is downloaded, and the ``member`` to take if it is a zip file."""

    url: str
    sha256: str
    member: str | None = None

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme != "https" or not parts.hostname:
            raise ValueError(f"url {self.url!r} must start with https://")
        if not self.name(parts.path):
            raise ValueError(f"url {self.url!r} names no file")
        if not re.fullmatch("[0-9a-f]{64}", self.sha256):
            raise ValueError(f"sha256 must be 64 hexadecimal digits in lower case, got {self.sha256!r}")
        if self.member is not None and (not self.name(self.member) or self.name(self.member) == self.name(parts.path)):
            raise ValueError(f"member {self.member!r} must name a file other than the archive")

    @staticmethod
    def name(path: str) -> str:
        """The last part of a path, safe as a file name in one folder."""
        return re.sub(r'[\\:*?"<>|\x00-\x1f]', "_", PurePosixPath(unquote(path)).name).lstrip(".")


class _HttpsOnly(HTTPRedirectHandler):
    """Follow a redirection only where it stays on https."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        if urlsplit(newurl).scheme != "https":
            raise ValueError(f"{req.full_url} redirects to {newurl}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _open_url(url: str) -> BinaryIO:
    return build_opener(_HttpsOnly).open(Request(url, headers={"User-Agent": "attention-course"}), timeout=30)


def fetch_bitext(source: BitextSource, folder: str | Path, open_url: Callable[[str], BinaryIO] = _open_url,
                 max_bytes: int = 200_000_000) -> Path:
    """Download ``source`` into ``folder`` unless it is there already, and return the path of the text file.

    The checksum is verified before a file gets its name, so a broken download leaves nothing behind; a zip member is taken
    out of the verified archive each time. ``open_url`` returns a binary stream. Raises ValueError for a wrong checksum, a
    missing or damaged zip member, or more than ``max_bytes`` bytes, and ConnectionError when the network fails.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / source.name(urlsplit(source.url).path)
    if not (kept.is_file() and _digest(kept) == source.sha256):
        _download(source, kept, open_url, max_bytes)
    if source.member is None:
        return kept
    target = folder / source.name(source.member)
    try:
        with zipfile.ZipFile(kept) as archive:
            if source.member not in archive.namelist():
                raise ValueError(f"{kept.name} has no member {source.member!r}, only {', '.join(archive.namelist()[:8])}")
            with archive.open(source.member) as stream, replacing(target) as part, part.open("wb") as out:
                for chunk in _chunks(stream, max_bytes, source.member):
                    out.write(chunk)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{kept.name} cannot be unpacked: {error}") from error
    return target


def _download(source: BitextSource, kept: Path, open_url: Callable[[str], BinaryIO], max_bytes: int) -> None:
    seen, size = sha256(), 0
    with replacing(kept) as part, part.open("wb") as out:
        for chunk in _received(source.url, open_url, max_bytes):
            seen.update(chunk)
            out.write(chunk)
            size += len(chunk)
        if seen.hexdigest() != source.sha256:
            raise ValueError(f"{source.url}: the {size} bytes received have the checksum {seen.hexdigest()}, expected {source.sha256}; "
                             "nothing was kept")


def _received(url: str, open_url: Callable[[str], BinaryIO], max_bytes: int) -> Iterator[bytes]:
    """The chunks of a download. Errors of the network become one ConnectionError; errors of the disk are not touched."""
    size = 0
    try:
        with open_url(url) as stream:
            promised = (getattr(stream, "headers", None) or {}).get("Content-Length")
            for chunk in _chunks(stream, max_bytes, url):
                size += len(chunk)
                yield chunk
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(f"could not download {url} ({error}); check the network, or go on without this data") from error
    if promised is not None and promised.isdigit() and size < int(promised):
        raise ConnectionError(f"the download of {url} broke off after {size} of {promised} bytes; try again")


def _digest(path: Path) -> str:
    seen = sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
    return seen.hexdigest()


def _chunks(stream: IO[bytes], max_bytes: int, name: str) -> Iterator[bytes]:
    size = 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if size > max_bytes:
            raise ValueError(f"{name} is larger than {max_bytes} bytes")
        yield chunk
