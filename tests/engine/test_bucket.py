"""What a bucket said a moment ago is not asked again, and what is written is."""

import asyncio
from types import SimpleNamespace

import pytest

from foldshift.engine.jobs.foreign_names import changed
from foldshift.engine.jobs.s3_patch import FRESH, PACKAGE, TESTED, USED, Answers, ask_less


class Missing(Exception):
    def __init__(self, code="404"):
        self.response = {"Error": {"Code": code}}


class Client:
    """Knows sizes by key; counts questions."""

    def __init__(self, **sizes):
        self.sizes, self.n_asked, self.error = sizes, 0, Missing()

    def head_object(self, Bucket, Key):
        self.n_asked += 1
        if Key not in self.sizes:
            raise self.error
        return {"ContentLength": self.sizes[Key], "LastModified": SimpleNamespace(timestamp=lambda: 5.0)}


def test_an_answer_holds_for_a_while_and_until_it_is_forgotten():
    now, client = [0.0], Client(a=1)
    answers = Answers(clock=lambda: now[0])
    for _ in range(3):
        assert answers.ask(client, "b", "a")["ContentLength"] == 1
    assert client.n_asked == 1
    now[0] = FRESH + 0.1
    answers.ask(client, "b", "a")
    answers.forget("b", "a")
    answers.ask(client, "b", "a")
    assert client.n_asked == 3


def test_what_is_not_there_is_asked_for_every_time():
    client, answers = Client(), Answers()
    for _ in range(2):
        with pytest.raises(Missing):
            answers.ask(client, "b", "a")
    client.sizes["a"] = 1
    assert answers.ask(client, "b", "a") and client.n_asked == 3


def plugin():
    """A class of objects as the plugin has it, changed; and what its own methods were called for."""
    calls = []

    class Object:
        def __init__(self, client, key):
            self.bucket, self.key = "b", key
            self.provider = SimpleNamespace(s3c=SimpleNamespace(meta=SimpleNamespace(client=client)))

        def bucket_exists(self):
            calls.append("bucket")
            return True

        def store_object(self):
            self.provider.s3c.meta.client.sizes[self.key] = 7

        def remove(self):
            del self.provider.s3c.meta.client.sizes[self.key]

        def exists(self):
            raise ValueError("words of the plugin")

        def is_dir(self):
            return True

        mtime = size = is_dir

        async def inventory(self, cache):
            raise NotImplementedError

        def cache_key(self, local_suffix=None):
            return local_suffix or self._local_suffix_from_key(self.key)

        def _local_suffix_from_key(self, key):
            return f"b/{key}"

        def get_inventory_parent(self):
            return self.cache_key("b")

        def s3bucket(self):
            def below(Prefix):
                calls.append("list")
                last = SimpleNamespace(timestamp=lambda: 5.0)
                sizes = self.provider.s3c.meta.client.sizes
                return [SimpleNamespace(key=key, size=sizes[key], last_modified=last) for key in sizes if key.startswith(Prefix)]

            return SimpleNamespace(objects=SimpleNamespace(filter=below))

    assert ask_less(Object, lambda storage: storage, "s3://b/run") is None
    return Object, calls


def test_another_version_of_the_plugin_is_left_as_it_is_and_a_line_says_so():
    class Object:
        def exists(self):
            return "asked"

    line = ask_less(Object, None, "s3://b/run")
    assert "is not changed: Object has no bucket_exists" in line and f"pip install '{PACKAGE}=={TESTED}'" in line
    assert Object().exists() == "asked" and not hasattr(Object, "is_dir")


def test_a_method_that_takes_something_else_is_not_replaced():
    Object, _ = plugin()
    Object.size = lambda self, unit: 0
    line = ask_less(Object, None, "s3://b/run")
    assert "Object.size takes (self, unit) and not (self)" in line and Object.size(None, "MB") == 0


def test_the_plugin_has_what_is_used_of_it():
    installed = pytest.importorskip("snakemake_storage_plugin_s3")
    assert changed(installed.StorageObject, USED) is None


def test_one_question_tells_whether_an_object_is_there_its_size_and_its_time():
    client, (Object, _) = Client(a=1), plugin()
    one = Object(client, "a")
    assert one.exists() and one.size() == 1 and one.mtime() == 5.0 and not one.is_dir()
    assert client.n_asked == 1
    one.store_object()
    assert one.size() == 7
    one.remove()
    assert not one.exists()


def test_errors_but_that_of_a_missing_object_are_left_to_the_plugin():
    client, (Object, _) = Client(), plugin()
    client.error = Missing("403")
    with pytest.raises(ValueError, match="words of the plugin"):
        Object(client, "a").exists()


def test_a_bucket_is_asked_for_once():
    Object, calls = plugin()
    assert all(Object(Client(), key).bucket_exists() for key in "abc")
    assert calls == ["bucket"]


def test_one_listing_tells_what_is_there_and_what_is_not():
    client, (Object, calls) = Client(**{"run/a": 1, "other/a": 2}), plugin()
    cache = SimpleNamespace(exists_in_storage={}, mtime={}, size={})
    for key in ("run/a", "run/c", "run/d", "other/a"):
        asyncio.run(Object(client, key).inventory(cache))
    assert cache.exists_in_storage == {"b": True, "b/run/a": True, "b/run/c": False, "b/run/d": False}
    assert cache.size == {"b/run/a": 1} and cache.mtime == {"b/run/a": 5.0}
    assert calls == ["bucket", "list"] and client.n_asked == 0
