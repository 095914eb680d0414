import numpy as np
import pandas as pd
import pytest

from commod.datasets import TabularEncoder


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
