"""Filters that turn text into other text: what hides a command on its way into a shell."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import replace

from evalward.safety.call import ProgramCall
from evalward.safety.words import Flow, literal, names

_DECODERS = names("gunzip zcat bzcat bunzip2 xzcat zstdcat uudecode rev")


def decoded(call: ProgramCall, flow: Flow) -> Flow:
    """Return ``flow`` as a filter changes it: decoded where that is easy, else marked as disguised."""
    text = flow.text
    decoder = _decoder(call)
    if text is not None and decoder is not None:
        plain = decoder(text)
        return replace(flow, content=None if plain is None else literal(plain), disguised=True)
    changes = call.program in _DECODERS or decoder is not None or _is_decoding(call)
    return replace(flow, content=None, local=flow.local and not changes, disguised=flow.disguised or changes)


def _is_decoding(call: ProgramCall) -> bool:
    if call.program in ("openssl", "tr", "sed", "awk"):
        return call.program != "openssl" or any(word.text in ("-d", "-D") for word in call.args)
    return call.program in ("gzip", "bzip2", "xz", "zstd", "base64", "base32", "xxd") and call.options("").has(
        "d", "D", "decompress", "decode", "r", "uncompress"
    )


def _decoder(call: ProgramCall) -> Callable[[str], str | None] | None:
    if call.program == "rev":
        return lambda text: "\n".join(line[::-1] for line in text.split("\n"))
    if call.program in ("base64", "base32") and _is_decoding(call):
        return _from_base64 if call.program == "base64" else _from_base32
    if call.program == "xxd" and _is_decoding(call):
        return _from_hex
    if call.program == "tr" and len(call.args) == 2:
        return lambda text: _translated(text, call.args[0].text, call.args[1].text)
    return None


def _from_base64(text: str) -> str | None:
    return _bytes_text(lambda: base64.b64decode("".join(text.split()), validate=False))


def _from_base32(text: str) -> str | None:
    return _bytes_text(lambda: base64.b32decode("".join(text.split())))


def _from_hex(text: str) -> str | None:
    return _bytes_text(lambda: bytes.fromhex("".join(re.findall(r"[0-9a-fA-F]{2}", text))))


def _bytes_text(decode: Callable[[], bytes]) -> str | None:
    try:
        return decode().decode("utf-8", errors="replace")
    except (ValueError, binascii.Error):
        return None


def _translated(text: str, old: str, new: str) -> str | None:
    source, target = _character_set(old), _character_set(new)
    if not source or not target:
        return None
    target = target.ljust(len(source), target[-1])
    return text.translate(str.maketrans(source, target[: len(source)]))


def _character_set(text: str) -> str:
    return re.sub(r"(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), text)
