"""Certificates made and repeated from the command line."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engine.cli.evaluate import NoSuchKernel
from engine.cli.usage import UsageError
from evaluators.certify.certificate import Certificate, Comparison, write_page
from evaluators.certify.certify import Refused, certify
from evaluators.certify.page import page
from evaluators.certify.repeat import Claim, holds, repeat
from evaluators.measuring.headline import headline_text, interval_text
from evaluators.tasks.task_file import load_task

CERTIFICATE, PAGE = "certificate.json", "certificate.md"
_WORDS = {True: "holds", False: "DOES NOT HOLD", None: "differs"}


def certify_file(arguments: Namespace, stream: IO[str]) -> bool:
    """Write certificate.json and its page, or print why there are none; whether they were.

    Raises NoSuchKernel, CertificateError, TaskError, BackendMissing, DeviceFault.
    """
    if arguments.file is None or arguments.task is None:
        raise UsageError("certify needs a kernel file and --task, or --verify certificate.json")
    if not arguments.file.is_file():
        raise NoSuchKernel(f"{arguments.file}: no such file; name a .hip file")
    task = load_task(arguments.task)
    try:
        certificate = certify(arguments.file, task, arguments.backend, seconds=arguments.seconds)
    except Refused as refused:
        print(f"REFUSED  {refused}", file=stream)
        return False
    folder: Path = arguments.out or Path()
    certificate.write(folder / CERTIFICATE)
    write_page(folder / PAGE, page(certificate))
    print(
        f"CERTIFIED  {_headline(certificate.comparison)}, right on every shape in "
        f"{certificate.checks[-1].round} rounds",
        file=stream,
    )
    print(f"wrote {folder / CERTIFICATE} and {folder / PAGE}", file=stream)
    return True


def _headline(found: Comparison) -> str:
    fastest = found.fastest
    if fastest is not None:
        return headline_text(fastest, found.speedup)
    return f"{found.speedup:.2f}x the naive seed ({interval_text((found.speedup, *found.ci95))})"


def verify_file(arguments: Namespace, stream: IO[str]) -> bool:
    """Repeat a certificate and print what holds; whether all of it does.

    Raises CertificateError, TaskError, BackendMissing, DeviceFault.
    """
    certificate = Certificate.read(arguments.verify)
    claims = repeat(certificate, load_task(arguments.task or certificate.task))
    for line in _told(claims):
        print(line, file=stream)
    good = holds(claims)
    print("the certificate holds" if good else "the certificate does NOT hold", file=stream)
    return good


def _told(claims: tuple[Claim, ...]) -> Iterator[str]:
    for claim in claims:
        yield f"{_WORDS[claim.holds]:13}  {claim.what}: {claim.then}; now {claim.now}"
