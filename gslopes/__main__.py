"""``python -m gslopes``: the command line from a checkout, without installation."""

from gslopes.cli import main

if __name__ == "__main__":
    main()
