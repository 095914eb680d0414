"""Invented data sets: a crossing that hides behind its margins, and a record that is biased."""

import numpy as np
import pandas as pd

# Share of the applicants, mean years of work in plant and office, and how many know somebody there.
_CELLS = {
    ("Black", "Female"): (0.11, 2.1, 2.1, 0.22),
    ("Black", "Male"): (0.24, 6.8, 1.2, 0.42),
    ("White", "Female"): (0.31, 1.6, 5.6, 0.40),
    ("White", "Male"): (0.34, 3.4, 2.5, 0.36),
}


def hiring_table(rows: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Applicants at a factory, all invented, loosely after a case of 1976 (DeGraffenreid v. General Motors).

    Before, Black men were let into the plant, white women into the office, white men into some of both, and Black women
    into neither. Years of work count alike for everybody, and so a model that knows nothing of race or sex takes about
    as many Black as white people and as many women as men, but far fewer Black women.
    """
    rng = np.random.default_rng(seed)
    races, sexes = np.array(list(_CELLS)).T
    share, plant_years, office_years, contacts = np.array(list(_CELLS.values())).T
    cell = rng.choice(len(_CELLS), rows, p=share)
    plant = np.minimum(rng.gamma(2.0, plant_years[cell] / 2), 30).round(1)
    office = np.minimum(rng.gamma(2.0, office_years[cell] / 2), 30).round(1)
    test = np.clip(rng.normal(60, 12, rows), 0, 100).round()
    education = rng.choice(["school", "vocational", "college"], rows, p=[0.4, 0.35, 0.25])
    contact = rng.random(rows) < contacts[cell]
    shift = np.where(rng.random(rows) < 0.55, "any shift", "day shift")
    merit = 0.3 * (plant + office - 6) + 0.05 * (test - 60) + 0.5 * (education == "college")
    hired = rng.random(rows) < 1 / (1 + np.exp(-(merit + 0.8 * contact - 0.35)))
    return pd.DataFrame(
        {
            "plant_years": plant,
            "office_years": office,
            "test_score": test,
            "education": education,
            "contact": np.where(contact, "yes", "no"),
            "shift": shift,
            "race": races[cell],
            "sex": sexes[cell],
            "hired": hired.astype("int8"),
        }
    )


# Of women's good years, the share that the invented ratings miss.
MISSED = 0.4


def ratings_table(rows: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Employees and their yearly ratings, all invented; ``performed`` is the truth and ``rated`` the biased record.

    Women and men do equally well. Everybody who did well is rated so, but for `MISSED` of the women, drawn at random.
    Department, part time and a mentor tell the sexes apart a little, so a model that learns from the ratings passes on
    what they miss.
    """
    rng = np.random.default_rng(seed)
    women = rng.random(rows) < 0.42
    projects = rng.poisson(5.0, rows)
    clients = np.clip(rng.normal(70, 12, rows), 0, 100).round()
    years = np.minimum(rng.gamma(2.0, 3.0, rows), 30).round(1)
    departments = np.array(["sales", "engineering", "support"])
    chances = np.where(women[:, None], (0.2, 0.15, 0.65), (0.3, 0.6, 0.1)).cumsum(axis=1)
    department = departments[(rng.random(rows)[:, None] > chances).sum(axis=1)]
    part_time = rng.random(rows) < np.where(women, 0.6, 0.06)
    mentor = rng.random(rows) < np.where(women, 0.15, 0.55)
    merit = 0.72 * (projects - 5) + 0.128 * (clients - 70) + 0.08 * (years - 6)
    performed = rng.random(rows) < 1 / (1 + np.exp(-(merit + 0.4)))
    missed = women & (rng.random(rows) < MISSED)
    return pd.DataFrame(
        {
            "projects": projects,
            "clients": clients,
            "years": years,
            "department": department,
            "hours": np.where(part_time, "part time", "full time"),
            "mentor": np.where(mentor, "yes", "no"),
            "sex": np.where(women, "Female", "Male"),
            "rated": (performed & ~missed).astype("int8"),
            "performed": performed.astype("int8"),
        }
    )
