"""The tasks that ship with the project, declared as data.

`suited` was chosen on split 0 so that the app's first picture shows a clear gain in fairness, and what it costs. Other
groups of the same people begin with what suits the two, unless that shows next to nothing.
"""

from dataclasses import replace
from typing import Any

from commod.datasets.grouping import Attribute, Grouping
from commod.datasets.task import Feature, TaskSpec


def _by(*attributes: Attribute, **suited: Any) -> Grouping:
    """The grouping by some attributes, "race_sex", "Race × sex", and what suits it otherwise than the two groups."""
    names = [attribute.name for attribute in attributes]
    return Grouping("_".join(names), " × ".join(names).capitalize(), attributes, suited)


_LAW_FEATURES = (
    Feature("lsat", "LSAT score", "number", "points", "Law School Admission Test, 11 to 48.", merit=1),
    Feature("ugpa", "Undergraduate grades", "number", "GPA", "Undergraduate grade point average, 1.5 to 4.", merit=1),
    Feature(
        "zfygpa",
        "First-year grades",
        "number",
        "standardised points",
        "First-year law school grades, standardised by school.",
        merit=1,
    ),
    Feature(
        "zgpa",
        "Cumulative grades",
        "number",
        "standardised points",
        "Cumulative law school grades, standardised by school.",
        merit=1,
    ),
    Feature("fam_inc", "Family income", "number", "fifths of the population", "Fifth by income: 1 lowest, 5 highest."),
    Feature("study", "Study mode", "category", "", "Full-time or part-time study."),
    Feature("sex", "Sex", "category", "", "As recorded by LSAC."),
    Feature("tier", "School cluster", "category", "", "LSAC's cluster of the law school: a code, not a rank."),
)

_LAW_RACE = Attribute("race", "race", {0: "Non-White", 1: "White"})
_LAW_SEX = Attribute("sex", "sex", {"female": "Female", "male": "Male"})

# Two of the six races that the source has are of few rows, 31 and 11: they join its "Other".
_COMPAS_RACE = Attribute(
    "race",
    "recorded_race",
    {
        "African-American": "African-American",
        "Caucasian": "Caucasian",
        "Hispanic": "Hispanic",
        "Other": "Other",
        "Asian": "Other",
        "Native American": "Other",
    },
)
_COMPAS_SEX = Attribute("sex", "sex", {"female": "Female", "male": "Male"})
_COMPAS_AGE = Attribute("age", "age", cuts=(25, 46), bands=("Under 25", "25 to 45", "Over 45"))

_ADULT_RACE = Attribute(
    "race",
    "race",
    {
        "Amer-Indian-Eskimo": "American Indian",
        "Asian-Pac-Islander": "Asian or Pacific",
        "Black": "Black",
        "Other": "Other",
        "White": "White",
    },
)
_ADULT_SEX = Attribute("sex", "sex", {0: "Female", 1: "Male"})

_GERMAN_AGE = Attribute("age", "age_group", {0: "25 or younger", 1: "Older than 25"})
_GERMAN_SEX = Attribute(
    "sex",
    "status_sex",
    {
        "woman, not single": "Woman",
        "man, divorced or separated": "Man",
        "man, single": "Man",
        "man, married or widowed": "Man",
    },
)

_HIRING_RACE = Attribute("race", "race", {0: "Black", 1: "White"})
_HIRING_SEX = Attribute("sex", "sex", {"Female": "Female", "Male": "Male"})

# How one speaks of the people of a group, wherever that is the same for all data sets.
_BY_SEX = {"Female": "female {people}", "Male": "male {people}"}
_BY_RACE = {name: f"{name} {{people}}" for name in ("White", "Non-White", "Black")}

_LAW_SCHOOL = TaskSpec(
    name="law_school",
    title="Law School (balanced)",
    features=_LAW_FEATURES,
    target="pass_bar",
    target_label="passes the bar exam",
    outcomes=("fails the bar", "passes the bar"),
    favourable=1,
    sensitive="race",
    groups=("Non-White", "White"),
    filter="All 2,293 who failed and as many who passed, drawn with a fixed seed (the paper's setting).",
    people="students",
    story="A law school predicts who passes the bar.",
    called=_BY_RACE | _BY_SEX,
    suited={"lambda_fair": 3.0, "lambda_concepts": 0.05, "n_concepts": 2},
    targets={"demographic_parity": (0.7, 15.0), "equalized_odds": (0.55, 10.0)},
    groupings=(_by(_LAW_RACE, _LAW_SEX),),
)

# The declarations by name.
TASKS: dict[str, TaskSpec] = {
    spec.name: spec
    for spec in (
        _LAW_SCHOOL,
        replace(
            _LAW_SCHOOL,
            name="law_school_full",
            title="Law School (full)",
            filter="All 20,798 rows of the cleaned LSAC file; 89 % passed.",
            suited={"lambda_fair": 4.0, "fairness": "equalized_odds", "lambda_concepts": 0.05, "n_concepts": 2},
            targets={},
        ),
        TaskSpec(
            name="compas",
            title="COMPAS",
            features=(
                Feature("age", "Age", "number", "years", "Age at screening."),
                Feature("priors_count", "Prior offences", "number", "count", "Number of prior offences.", merit=-1),
                Feature(
                    "juv_fel_count", "Juvenile felonies", "number", "count", "Number of juvenile felonies.", merit=-1
                ),
                Feature("juv_misd_count", "Juvenile misdemeanours", "number", "count", "Number of them.", merit=-1),
                Feature("juv_other_count", "Other juvenile offences", "number", "count", "Number of them.", merit=-1),
                Feature("sex", "Sex", "category", "", "As recorded by the county."),
                Feature("charge_degree", "Degree of the charge", "category", "", "Felony or misdemeanour."),
                Feature("charge", "Charge", "category", "", "Description; those with under 20 rows are 'other'."),
            ),
            target="two_year_recid",
            target_label="is charged again within two years",
            outcomes=("not charged again", "charged again"),
            favourable=0,
            sensitive="race",
            groups=("Non-Caucasian", "Caucasian"),
            filter=(
                "Screened within 30 days of arrest, recidivism known, no ordinary traffic offence, "
                "COMPAS score present, charge description present."
            ),
            people="defendants",
            story="A court predicts who will be charged again within two years.",
            called={
                "Non-Caucasian": "Non-Caucasian {people}",
                "Caucasian": "Caucasian {people}",
                "African-American": "African-American {people}",
                "Hispanic": "Hispanic {people}",
                "Other": "{people} of other races",
                "Under 25": "{people} under 25",
                "25 to 45": "{people} from 25 to 45",
                "Over 45": "{people} over 45",
                **_BY_SEX,
            },
            suited={"lambda_fair": 4.0, "lambda_concepts": 0.2, "n_concepts": 4},
            targets={"equalized_odds": (0.3, 12.0)},
            groupings=(_by(_COMPAS_RACE), _by(_COMPAS_RACE, _COMPAS_SEX), _by(_COMPAS_AGE, update="affine")),
        ),
        TaskSpec(
            name="adult",
            title="Adult income",
            features=(
                Feature("age", "Age", "number", "years", "Age in years."),
                Feature(
                    "education_num", "Education", "number", "level", "Highest level of education, 1 to 16.", merit=1
                ),
                Feature("capital_gain", "Capital gain", "number", "US$", "Capital gain in the year."),
                Feature("capital_loss", "Capital loss", "number", "US$", "Capital loss in the year."),
                Feature("hours_per_week", "Working time", "number", "h/week", "Usual hours of work a week."),
                Feature("workclass", "Employer", "category", "", "Class of worker; 'unknown' where not recorded."),
                Feature("marital_status", "Marital status", "category", "", "As recorded by the census."),
                Feature("occupation", "Occupation", "category", "", "'unknown' where not recorded."),
                Feature("race", "Race", "category", "", "As recorded by the census."),
                Feature("born_in_us", "Born in the US", "category", "", "Native country, yes / no / unknown."),
            ),
            target="income",
            target_label="earns more than US$ 50,000",
            outcomes=("at most $50,000", "more than $50,000"),
            favourable=1,
            sensitive="sex",
            groups=("Female", "Male"),
            filter="Both parts of the UCI file, all rows; 'relationship' is left out because it names the sex.",
            people="adults",
            story="A model predicts who earns more than $50,000 a year.",
            called={
                "American Indian": "American Indian {people}",
                "Asian or Pacific": "Asian or Pacific {people}",
                "Other": "{people} of other races",
                **_BY_RACE,
                **_BY_SEX,
            },
            suited={"lambda_fair": 4.0, "lambda_concepts": 0.1, "n_concepts": 3},
            may_be_passed_on=True,
            groupings=(_by(_ADULT_RACE, lambda_fair=6.0), _by(_ADULT_RACE, _ADULT_SEX)),
        ),
        TaskSpec(
            name="german",
            title="German credit",
            features=(
                Feature("duration", "Duration", "number", "months", "Duration of the credit."),
                Feature("credit_amount", "Amount", "number", "DM", "Amount of the credit."),
                Feature("installment_rate", "Instalment rate", "number", "step", "Share of income in four steps."),
                Feature("residence_since", "Residence", "number", "step", "Time at this residence in four steps."),
                Feature("existing_credits", "Existing credits", "number", "count", "Credits at this bank."),
                Feature("people_liable", "Dependants", "number", "count", "People to provide for."),
                Feature("checking", "Checking account", "category", "", "Balance of the checking account."),
                Feature("credit_history", "Credit history", "category", "", "Earlier credits."),
                Feature("purpose", "Purpose", "category", "", "What the credit is for."),
                Feature("savings", "Savings", "category", "", "Savings account and bonds."),
                Feature("employment", "Employment", "category", "", "Time in the present job."),
                Feature("status_sex", "Status and sex", "category", "", "Marital status and sex, one code."),
                Feature("other_debtors", "Other debtors", "category", "", "Co-applicant or guarantor."),
                Feature("property", "Property", "category", "", "Most valuable property."),
                Feature("other_plans", "Other instalments", "category", "", "At a bank or in stores."),
                Feature("housing", "Housing", "category", "", "Rented, owned, for free."),
                Feature("job", "Job", "category", "", "Qualification."),
                Feature("telephone", "Telephone", "category", "", "Registered under the applicant's name."),
                Feature("foreign_worker", "Foreign worker", "category", "", "Yes or no."),
            ),
            target="credit",
            target_label="repays the credit",
            outcomes=("bad risk", "good risk"),
            favourable=1,
            sensitive="age_group",
            groups=("25 or younger", "Older than 25"),
            filter="All 1,000 rows; age is left out of the features because the groups are made from it.",
            people="applicants",
            story="A bank predicts who repays.",
            called={
                "25 or younger": "{people} up to 25",
                "Older than 25": "{people} over 25",
                "Woman": "female {people}",
                "Man": "male {people}",
            },
            # 300 test rows: no setting gains more than noise, and the page says so.
            suited={"lambda_fair": 5.0, "lambda_concepts": 0.1, "n_concepts": 3},
            may_be_passed_on=True,
            groupings=(_by(_GERMAN_AGE, _GERMAN_SEX),),
        ),
        TaskSpec(
            name="hiring",
            title="Hiring (invented)",
            features=(
                Feature("plant_years", "Work in a plant", "number", "years", "Years of work in a plant.", merit=1),
                Feature("office_years", "Work in an office", "number", "years", "Years of office work.", merit=1),
                Feature("test_score", "Test score", "number", "points", "Test at the application, 0 to 100.", merit=1),
                Feature("education", "Education", "category", "", "School, vocational training or college."),
                Feature("contact", "Knows an employee", "category", "", "Whether somebody there recommends them."),
                Feature("shift", "Shift", "category", "", "When they can work."),
            ),
            target="hired",
            target_label="is hired",
            outcomes=("not hired", "hired"),
            favourable=1,
            sensitive="race",
            groups=("Black", "White"),
            filter="All 4,000 made-up rows: fair by race, fair by sex, unfair to Black women.",
            people="applicants",
            story="An invented company hires by score.",
            opens="race_sex",
            called=_BY_RACE | _BY_SEX,
            suited={"lambda_fair": 3.0, "lambda_concepts": 0.05, "n_concepts": 2},
            may_be_passed_on=True,
            groupings=(_by(_HIRING_SEX), _by(_HIRING_RACE, _HIRING_SEX, lambda_fair=5.0, update="affine")),
        ),
        TaskSpec(
            name="ratings",
            title="Ratings (invented)",
            features=(
                Feature("projects", "Projects", "number", "count", "Projects finished in the year.", merit=1),
                Feature("clients", "Clients' marks", "number", "points", "Mean mark by clients, 0 to 100.", merit=1),
                Feature("years", "Experience", "number", "years", "Years in the firm.", merit=1),
                Feature("department", "Department", "category", "", "Sales, engineering or support."),
                Feature("hours", "Hours", "category", "", "Full time or part time."),
                Feature("mentor", "Mentor", "category", "", "Whether a senior colleague looks after them."),
            ),
            target="rated",
            target_label="is rated well",
            outcomes=("not rated well", "rated well"),
            favourable=1,
            sensitive="sex",
            groups=("Female", "Male"),
            filter="All 4,000 made-up rows: the ratings miss 40 % of women's good years, and the truth is known.",
            people="employees",
            story="An invented company promotes by predicted rating.",
            called=_BY_SEX,
            suited={"lambda_fair": 3.0, "lambda_concepts": 0.05, "n_concepts": 2, "update": "affine"},
            truth="performed",
            may_be_passed_on=True,
        ),
    )
}
