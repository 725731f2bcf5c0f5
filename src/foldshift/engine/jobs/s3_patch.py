"""Fewer calls to a bucket than Snakemake's S3 plugin (0.3.6) makes.

The plugin asks anew for the bucket before every write, for everything below a name to learn whether that is a folder, and for an
object each time Snakemake wants its time, its size or whether it is there: some sixteen calls for a file. Calls cost money and
time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlparse

from foldshift.engine.jobs.foreign_names import changed, left_alone

FRESH = 2.0  # seconds for which an answer is taken again, in this process; jobs of other machines take longer to be started alone
PACKAGE, TESTED = "snakemake-storage-plugin-s3", "0.3.6"
# What is replaced or used of the plugin's class, with its parameters.
_PLAIN = ("bucket_exists", "exists", "get_inventory_parent", "is_dir", "mtime", "remove", "s3bucket", "size", "store_object")
USED = dict.fromkeys(_PLAIN, ("self",)) | {
    "cache_key": ("self", "local_suffix"),
    "inventory": ("self", "cache"),
    "_local_suffix_from_key": ("self", "key"),
}
MISSING = ("404", "NoSuchKey", "NotFound", "NoSuchBucket")


class Answers:
    """Cache of a bucket's answers about its objects, each for `fresh` seconds.

    That an object is not there is never kept, as any process may write it.
    """

    def __init__(self, fresh: float = FRESH, clock: Callable[..., Any] = time.monotonic) -> None:
        self._fresh, self._clock = fresh, clock
        self._known: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}

    def ask(self, client: Any, bucket: str, key: str) -> dict[str, Any]:
        """Return the head of an object (``LastModified``, ``ContentLength``); raise botocore's error where there is none."""
        known = self._known.get((bucket, key))
        if known is None or self._clock() - known[0] > self._fresh:
            self.forget(bucket, key)
            head = client.head_object(Bucket=bucket, Key=key)
            known = self._known[bucket, key] = self._clock(), head
        return known[1]

    def forget(self, bucket: str, key: str) -> None:
        """Forget the answer about an object that is written or deleted."""
        self._known.pop((bucket, key), None)


def ask_less(objects: type[Any], mtime: type[Any], prefix: str) -> str | None:
    """Patch the plugin's class of objects so that it makes fewer calls; it then knows no folders, which this workflow never
    makes.

    Where a name of the class has changed, the class is left as it is, and a line says so.
    """
    if reason := changed(objects, USED):
        return left_alone(PACKAGE, TESTED, reason, "It makes some sixteen calls for a file in place of five.")
    answers, buckets = Answers(), set[str]()
    store, remove, there, load = objects.store_object, objects.remove, objects.bucket_exists, objects.exists
    below = urlparse(prefix).path.strip("/")

    def head(self: Any) -> dict[str, Any]:
        return answers.ask(self.provider.s3c.meta.client, self.bucket, self.key)

    def exists(self: Any) -> bool:
        try:
            head(self)
        except Exception as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code")
            return False if code in MISSING else load(self)  # the plugin's own words on what is wrong
        return True

    def bucket_exists(self: Any) -> bool:
        if self.bucket not in buckets and there(self):
            buckets.add(self.bucket)
        return self.bucket in buckets

    def changing(change: Callable[..., Any]) -> Callable[..., Any]:
        def forgetting(self: Any) -> None:
            answers.forget(self.bucket, self.key)
            change(self)
            answers.forget(self.bucket, self.key)

        return forgetting

    async def inventory(self: Any, cache: Any) -> None:
        listed = self.get_inventory_parent()
        if listed not in cache.exists_in_storage:
            cache.exists_in_storage[listed] = True
            for one in self.s3bucket().objects.filter(Prefix=f"{below}/" if below else "") if bucket_exists(self) else ():
                key = self.cache_key(self._local_suffix_from_key(one.key))
                cache.mtime[key] = mtime(storage=one.last_modified.timestamp())
                cache.size[key], cache.exists_in_storage[key] = one.size, True
        if (self.key.startswith(f"{below}/") or not below) and self.cache_key() not in cache.exists_in_storage:
            cache.exists_in_storage[self.cache_key()] = False

    objects.is_dir = lambda self: False
    objects.exists, objects.bucket_exists, objects.inventory = exists, bucket_exists, inventory
    objects.mtime = lambda self: head(self)["LastModified"].timestamp()
    objects.size = lambda self: head(self)["ContentLength"]
    objects.store_object, objects.remove = changing(store), changing(remove)
    return None
