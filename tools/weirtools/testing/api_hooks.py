"""Hooks that tools/check/api-fuzz gives to Schemathesis: names that exist, and folders that may be written to."""

import itertools
import os
import pathlib

import schemathesis

FOLDER = pathlib.Path(os.environ["WEIR_API_FUZZ_FOLDER"])
ORIGIN = os.environ["WEIR_API_FUZZ_ORIGIN"]
COUNTER = itertools.count()
# The second one has a playlist of numbers from the edges of their types.
NAMES = ("film", "edges")


def every(count):
    """True for one request in so many: the others keep what was made up."""
    return next(COUNTER) % count == 0


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """The assets that there are, unless one is to be deleted: once would be the end of it."""
    if path_parameters and "name" in path_parameters and context.operation.method.lower() != "delete" and not every(3):
        path_parameters["name"] = NAMES[every(2)]
    return path_parameters


@schemathesis.hook
def map_query(context, query):
    """A URL that leads somewhere."""
    if query and isinstance(query.get("url"), str) and query["url"] and every(2):
        query["url"] = ORIGIN + "/cmaf/master.m3u8"
    return query


@schemathesis.hook
def map_body(context, body):
    """Nothing is written, and nothing is read, outside of the folder that goes with the run."""
    if isinstance(body, dict):
        if isinstance(body.get("path"), str):
            body["path"] = str(FOLDER / "files" / str(next(COUNTER)))
        if isinstance(body.get("source"), str) and every(2):
            body["source"] = NAMES[every(4)]
    return body
