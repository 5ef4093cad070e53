"""A pattern for `swift test --filter` that names exactly the tests that failed in runs of `swift test --xunit-output`; an empty
line where none did. Ends with 1 where one of the reports is not whole: then that run broke off before its end.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree


def failed(report):
    """The identifier, SUITE/FUNCTION(LABELS), of each test that failed."""
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None:
            yield f"{case.get('classname')}/{case.get('name')}"


if __name__ == "__main__":
    try:
        print("|".join("^" + re.escape(identifier) for report in sys.argv[1:] for identifier in failed(report)))
    except (OSError, ElementTree.ParseError) as error:
        sys.exit(f"no whole report of the tests: {error}")
