"""``python -m foldshift``: the command of the same name."""

from foldshift.command.main import main

if __name__ == "__main__":
    main(prog_name="foldshift")
