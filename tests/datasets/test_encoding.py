import numpy as np
import pandas as pd
import pytest

from commod.datasets import TabularEncoder

pytestmark = pytest.mark.quick


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [20, 30, 40, 50],
            "sex": pd.Categorical(["f", "m", "m", "f"]),
            "town": ["a", "b", "c", "a"],
            "same": [7.0, 7.0, 7.0, 7.0],
            "member": [True, False, True, True],
        }
    )


def test_names_values_and_origin(frame):
    encoder = TabularEncoder().fit(frame)
    assert encoder.feature_names_out_ == ["age", "sex=m", "town=a", "town=b", "town=c", "same", "member=True"]
    assert encoder.origin_[2] == ("town", "a")
    encoded = encoder.transform(frame)
    assert encoded[:, 5].tolist() == [0, 0, 0, 0]  # constant: no information, and no division by zero
    varying = np.delete(encoded, 5, axis=1)
    np.testing.assert_allclose(varying.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(varying.std(axis=0), 1)
    raw = encoded * encoder.scale_ + encoder.mean_
    np.testing.assert_allclose(raw[:, 2:5], [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]], atol=1e-12)


def test_unseen_level_is_none_of_the_known(frame):
    encoder = TabularEncoder().fit(frame)
    moved = frame.assign(town=["z", "b", "c", "a"])
    raw = encoder.transform(moved) * encoder.scale_ + encoder.mean_
    np.testing.assert_allclose(raw[0, 2:5], 0, atol=1e-12)


def test_infinity_names_the_column(frame):
    encoder = TabularEncoder().fit(frame)
    with pytest.raises(ValueError, match="infinity in column 'age'"):
        encoder.transform(frame.assign(age=[1, np.inf, 3, 4]))


def test_array_and_other_columns(frame):
    encoder = TabularEncoder().fit(np.arange(6.0).reshape(3, 2))
    assert encoder.feature_names_out_ == ["x0", "x1"]
    with pytest.raises(ValueError, match="feature names"):
        TabularEncoder().fit(frame).transform(frame.rename(columns={"age": "years"}))


def test_gaps_become_the_median_and_a_level_of_their_own(frame):
    gaps = frame.assign(age=[20, np.nan, 40, 60], town=["a", None, "c", "a"])
    encoder = TabularEncoder().fit(gaps)
    assert encoder.feature_names_out_[2:5] == ["town=a", "town=c", "town=missing"]
    assert (encoder.gaps_, encoder.medians_["age"]) == ({"age", "town"}, 40.0)
    raw = encoder.raw(gaps)
    assert raw[:, 0].tolist() == [20, 40, 40, 60]
    assert raw[:, 4].tolist() == [0, 1, 0, 0]
    # Where fit saw none, a missing level is none of the known ones.
    late = TabularEncoder().fit(frame).raw(gaps)
    assert late[1].tolist() == [35.0, 1.0, 0.0, 0.0, 0.0, 7.0, 0.0]
    array = np.array([[1.0, np.nan], [3.0, 4.0]])
    assert TabularEncoder().fit(array).raw(array).tolist() == [[1, 4], [3, 4]]


def test_rare_levels_are_joined():
    table = pd.DataFrame({"c": ["a"] * 5 + ["b"] * 4 + ["c", "d", "e"]})
    encoder = TabularEncoder(max_levels=3).fit(table)
    assert encoder.levels_["c"] == ["a", "b", "other"]
    assert encoder.raw(pd.DataFrame({"c": ["a", "e", "new", None]})).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 1],
        [0, 0, 0],
    ]
    assert len(TabularEncoder().fit(pd.DataFrame({"c": [f"{i}" for i in range(500)]})).origin_) == 100


@pytest.mark.parametrize("zone", [None, "Europe/Paris"])
def test_dates_are_numbers(zone):
    utc = pd.date_range("1970-01-02", periods=4, freq="D", tz="UTC")
    days = pd.DataFrame({"day": utc.tz_convert(zone)})
    encoder = TabularEncoder().fit(days)
    assert encoder.raw(days)[:, 0].tolist() == [1, 2, 3, 4]
    objects = pd.DataFrame({"day": pd.Series([d.date() for d in utc], dtype=object)})
    assert encoder.raw(objects)[:, 0].tolist() == [1, 2, 3, 4]
    assert TabularEncoder().fit(objects).raw(objects)[:, 0].tolist() == [1, 2, 3, 4]
