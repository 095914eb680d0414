"""A made-up table to try an upload with."""

import numpy as np
import pandas as pd

__all__ = ["example_table"]


def example_table(rows: int = 1500, seed: int = 0) -> pd.DataFrame:
    """Applicants for a job, all invented; group B is hired less often at equal experience and test score.

    Columns ``applicant, experience_years, test_score, education, city, interview_language, group, hired, model_score``;
    a few cells are missing, and ``applicant`` is a running number.
    """
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(rows) < 0.35, "B", "A")
    is_b = group == "B"
    experience = np.clip(rng.gamma(2.2, 2.6, rows) - 0.8 * is_b, 0, 25).round(1)
    test = np.clip(rng.normal(62 - 4 * is_b, 12, rows), 0, 100).round()
    education = rng.choice(["school", "college", "university"], rows, p=[0.35, 0.4, 0.25])
    city = np.where(is_b & (rng.random(rows) < 0.6), "South", rng.choice(["North", "South", "East"], rows))
    language = np.where(is_b & (rng.random(rows) < 0.4), "second", "first")
    merit = 0.16 * (experience - 5) + 0.06 * (test - 60) + 0.5 * (education == "university")
    bias = 0.9 * (language == "second") + 0.5 * (city == "South")
    hired = rng.random(rows) < 1 / (1 + np.exp(-(merit - bias - 0.1)))
    score = 1 / (1 + np.exp(-(merit - bias + rng.normal(0, 0.25, rows))))
    frame = pd.DataFrame(
        {
            "applicant": np.arange(1001, 1001 + rows),
            "experience_years": experience,
            "test_score": test,
            "education": education,
            "city": city,
            "interview_language": language,
            "group": group,
            "hired": np.where(hired, "yes", "no"),
            "model_score": score.round(4),
        }
    )
    frame.loc[rng.random(rows) < 0.03, "test_score"] = np.nan
    frame.loc[rng.random(rows) < 0.02, "education"] = None
    return frame
