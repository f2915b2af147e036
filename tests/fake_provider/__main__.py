"""``python -m tests.fake_provider``: the services and a language model on this machine, until Ctrl-C, a line a call."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from contextlib import suppress

from tests.fake_provider import KINDS, Call, FakeProvider


def say(call: Call) -> None:
    seconds = call.ended - call.began
    what = f"{len(call.images)} pictures, {len(call.billed)} billed, {call.outcome} {call.trouble}"
    sys.stderr.write(f"{call.service:<12}{seconds:7.3f} s  {what.strip()}\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fake_provider", description=__doc__)
    parser.add_argument("--fail", type=float, default=0.0, metavar="SHARE", help=f"one of: {', '.join(KINDS)}")
    parser.add_argument("--refuse", type=float, default=0.0, metavar="SHARE", help="of the pictures, for good")
    parser.add_argument("--limit", type=float, default=0.0, metavar="N", help="requests a second, each service")
    args = parser.parse_args()
    with FakeProvider(watch=say) as provider:
        provider.trouble(args.fail)
        provider.refuse(args.refuse)
        for service in provider.versions if args.limit else ():
            provider.limit(service, args.limit)
        for name, value in provider.environment.items():
            sys.stdout.write(f"export {name}={shlex.quote(value)}\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):
            while True:
                time.sleep(3600)


if __name__ == "__main__":
    main()
