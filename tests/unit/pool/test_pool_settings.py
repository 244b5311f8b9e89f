import pytest

from karat.core.errors import KaratError, UsageError
from karat.pool import LocalPool, PoolSettings


def test_a_name_a_dict_or_nothing_are_settings():
    assert PoolSettings.of(None) == PoolSettings()
    assert PoolSettings.of("ray", 4) == PoolSettings(by="ray", jobs=4)
    given = {"by": "ray", "address": "10.0.0.1:6379", "resources": {"embed": {"gpu": 1}}}
    assert PoolSettings.of(given).resources == {"embed": {"gpu": 1}}
    assert isinstance(PoolSettings.of("local", 2).open(), LocalPool)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("rya", "there is no pool 'rya'. Did you mean ray?"),
        ({"adress": "x"}, "a pool has no 'adress'. Did you mean address?"),
        ({"address": "10.0.0.1:6379"}, "an address and resources are for Ray"),
        ({"by": "ray", "address": " "}, "the address of a Ray cluster is empty. Write HOST:PORT"),
        ({"by": "ray", "jobs": 0}, "must be 1 or more, found 0"),
        ({"by": "ray", "resources": {"embedd": {"gpu": 1}}}, "'embedd', which is no work. Did you mean embed?"),
        ({"by": "ray", "resources": {"embed": {"gpu": 0}}}, "gpu of embed must be a number above 0, found 0"),
    ],
)
def test_what_no_pool_can_be_is_one_sentence(given, sentence):
    with pytest.raises(UsageError, match=sentence):
        PoolSettings.of(given)


def test_ray_is_asked_for_by_name(monkeypatch):
    monkeypatch.setattr("karat.pool._ray.find_spec", lambda name: None)
    with pytest.raises(KaratError, match=r"pip install 'karat\[ray\]'"):
        PoolSettings(by="ray").open()
