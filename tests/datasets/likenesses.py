"""Tables in the likeness of public ones: their headers, and rows made up here with levels and shapes like theirs.

A column is written as ``name: cells``, and its cells are

- ``a|b*3|c``, levels, some more often than others;
- ``1..9`` or ``0.0..4.0``, whole numbers or numbers with as many decimals;
- ``#`` and ``#7``, a number for each row, and one of so many digits; ``@``, a text for each row; ``day``, a date.

A ``?`` after the cells leaves one in ten empty.
"""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd

ROWS = 200


@dataclass(frozen=True)
class Likeness:
    """What a table looks like, and what is right to guess: any of some outcomes, values and groups."""

    columns: str
    target: str
    good: tuple[str, ...]
    sensitive: tuple[str, ...]

    def table(self, seed=0):
        rng = np.random.default_rng(seed)
        parted = [part.rsplit(": ", 1) for part in re.split(r";\s+", " ".join(self.columns.split()))]
        columns = [(name, _cells(spec, rng)) for name, spec in parted]
        frame = pd.concat([values.rename(name) for name, values in columns], axis=1)
        assert len(frame.columns) == len(parted)
        return frame


def _cells(spec, rng):
    gaps = spec.endswith("?") and spec != "?" and not spec.endswith("|?")
    values = _whole_cells(spec.removesuffix("?") if gaps else spec, rng)
    return values.mask(rng.random(ROWS) < 0.1) if gaps else values


def _whole_cells(spec, rng):
    if spec.startswith("#"):
        if spec == "#":
            return pd.Series(np.arange(1, ROWS + 1))
        digits = int(spec[1:])
        return pd.Series(rng.integers(10 ** (digits - 1), 10**digits, ROWS))
    if spec == "@":
        return pd.Series([f"{word} {i}" for i, word in enumerate(rng.choice(["Ann", "Bob", "Cy"], ROWS))])
    if spec == "day":
        return pd.Series(pd.Timestamp("2014-01-01") + pd.to_timedelta(rng.integers(0, 700, ROWS), "D")).dt.strftime("%Y-%m-%d")
    if span := re.fullmatch(r"(-?[\d.]+)\.\.(-?[\d.]+)", spec):
        low, high = span.groups()
        if "." not in low:
            return pd.Series(rng.integers(int(low), int(high) + 1, ROWS))
        return pd.Series(rng.uniform(float(low), float(high), ROWS).round(len(low.split(".")[1])))
    levels = [level.partition("*") for level in spec.split("|")]
    weights = np.array([float(times or 1) for _, _, times in levels])
    return pd.Series(rng.choice([level for level, _, _ in levels], ROWS, p=weights / weights.sum()))


# Those that the rules were tried on. The first fourteen are the ones that were uploaded when the old rules failed.
SEEN = {
    "bank marketing": Likeness(
        """age: 18..90; job: blue-collar|management|technician|admin.|services|unknown; marital: married*6|single*3|divorced;
        education: secondary|tertiary|primary|unknown; default: no*60|yes; balance: -500..9000; housing: yes|no; loan: no*5|yes;
        contact: cellular*6|unknown*3|telephone; day: 1..31; month: may|jul|aug|jun|nov|apr|feb; duration: 5..2000;
        campaign: 1..20; pdays: -1..400; previous: 0..7; poutcome: unknown*8|failure|other|success; y: no*8|yes""",
        "y", ("yes",), ("age", "marital"),
    ),
    "diabetes 130 hospitals": Likeness(
        """encounter_id: #8; patient_nbr: #8; race: Caucasian*7|AfricanAmerican*2|?|Hispanic; gender: Female|Male;
        age: [0-10)|[10-20)|[40-50)|[50-60)|[60-70)|[70-80); weight: ?; admission_type_id: 1..8;
        discharge_disposition_id: 1..25; admission_source_id: 1..17; time_in_hospital: 1..14; payer_code: ?*4|MC*3|HM|SP;
        medical_specialty: ?*5|InternalMedicine|Cardiology|Surgery-General; num_lab_procedures: 1..90; num_procedures: 0..6;
        num_medications: 1..60; number_outpatient: 0..5; number_emergency: 0..4; number_inpatient: 0..6;
        diag_1: 428|414|786|410|486|427|491|715; diag_2: 276|428|250|427|401; diag_3: 250|401|276|428; number_diagnoses: 1..9;
        max_glu_serum: None*9|Norm|>200|>300; A1Cresult: None*8|>8|Norm|>7; metformin: No*8|Steady*2|Up|Down;
        glyburide: No*9|Steady; insulin: No|Steady|Up|Down; change: No|Ch; diabetesMed: Yes*3|No; readmitted: NO*5|>30*3|<30""",
        "readmitted", ("NO",), ("race", "gender"),
    ),
    "adult": Likeness(
        """age: 17..90; workclass: Private*7|Self-emp-not-inc|Local-gov|?; fnlwgt: 12285..1484705;
        education: HS-grad*3|Some-college*2|Bachelors*2|Masters|11th; education-num: 1..16;
        marital-status: Married-civ-spouse|Never-married|Divorced; occupation: Prof-specialty|Craft-repair|Sales|?;
        relationship: Husband|Not-in-family|Own-child|Wife; race: White*8|Black|Asian-Pac-Islander|Other; sex: Male*2|Female;
        capital-gain: 0..9; capital-loss: 0..9; hours-per-week: 1..99; native-country: United-States*9|Mexico|?;
        income: <=50K*3|>50K""",
        "income", (">50K",), ("sex", "race"),
    ),
    "stroke": Likeness(
        """id: #5; gender: Female*6|Male*4; age: 1..82; hypertension: 0*9|1; heart_disease: 0*19|1; ever_married: Yes*2|No;
        work_type: Private*3|Self-employed|children|Govt_job; Residence_type: Urban|Rural; avg_glucose_level: 55.00..270.00;
        bmi: 15.0..45.0?; smoking_status: never smoked|Unknown|formerly smoked|smokes; stroke: 0*10|1""",
        "stroke", ("0",), ("gender",),
    ),
    "Titanic": Likeness(
        """PassengerId: #; Survived: 0*6|1*4; Pclass: 1|2|3*2; Name: @; Sex: male*2|female; Age: 1..80?; SibSp: 0..5; Parch: 0..4;
        Ticket: #6; Fare: 4.00..90.00; Cabin: C85|E46|B28|G6?; Embarked: S*7|C*2|Q""",
        "Survived", ("1",), ("Sex",),
    ),
    "compas": Likeness(
        """id: #; name: @; first: Ann|Bob|Cy; last: Doe|Roe; compas_screening_date: day; sex: Male*4|Female; dob: day; age: 18..70;
        age_cat: 25 - 45*3|Greater than 45|Less than 25; race: African-American*5|Caucasian*3|Hispanic|Other;
        juv_fel_count: 0..3; decile_score: 1..10; juv_misd_count: 0..3; juv_other_count: 0..3; priors_count: 0..20;
        days_b_screening_arrest: -5..30; c_jail_in: day; c_jail_out: day; c_case_number: @; c_offense_date: day?;
        c_arrest_date: day?; c_days_from_compas: 0..60; c_charge_degree: F*2|M; c_charge_desc: Battery|arrest case no charge|Theft;
        is_recid: 0|1; r_case_number: @?; r_charge_degree: (M1)|(F3)|(M2)?; r_days_from_arrest: 0..30?; r_offense_date: day?;
        r_charge_desc: Battery|Theft?; r_jail_in: day?; r_jail_out: day?; violent_recid: ; is_violent_recid: 0*9|1;
        vr_case_number: @?; vr_charge_degree: (F3)|(M1)?; vr_offense_date: day?; vr_charge_desc: Battery?;
        type_of_assessment: Risk of Recidivism; decile_score: 1..10; score_text: Low*5|Medium*3|High*2; screening_date: day;
        v_type_of_assessment: Risk of Violence; v_decile_score: 1..10; v_score_text: Low*6|Medium*3|High; v_screening_date: day;
        in_custody: day; out_custody: day; priors_count: 0..20; start: 0..300; end: 0..1100; event: 0*2|1; two_year_recid: 0|1""",
        "two_year_recid", ("0",), ("race", "sex"),
    ),
    "HMDA": Likeness(
        """activity_year: 2020; lei: @; derived_msa-md: 10000..49999; state_code: CA|TX|NY|FL; county_code: 1001..56045;
        census_tract: #8; conforming_loan_limit: C*9|NC; derived_loan_product_type: Conventional:First Lien*8|FHA:First Lien;
        derived_dwelling_category: Single Family (1-4 Units):Site-Built; derived_ethnicity: Not Hispanic or Latino*8|Hispanic or Latino;
        derived_race: White*7|Black or African American|Asian|Race Not Available; derived_sex: Joint|Male|Female;
        action_taken: 1*6|3*2|4|6; purchaser_type: 0|1|3|71; preapproval: 2*20|1; loan_type: 1*8|2|3; loan_purpose: 1|31|32;
        lien_status: 1*9|2; reverse_mortgage: 2; loan_amount: 55000..955000; loan_to_value_ratio: 20.00..98.00?;
        interest_rate: 2.250..5.125?; loan_term: 360*8|180|240; property_value: 95000..1455000; occupancy_type: 1*9|2|3; income: 20..300?;
        debt_to_income_ratio: <20%|20%-<30%|30%-<36%|44|49|>60%; applicant_age: 25-34|35-44|45-54|55-64;
        applicant_race-1: 5*7|3|2|6; applicant_sex: 1*2|2|3; denial_reason-1: 10*8|3|1|4; tract_population: 500..9000""",
        "action_taken", ("1",), ("derived_race", "derived_sex", "derived_ethnicity", "applicant_sex", "applicant_race-1"),
    ),
    "OULAD": Likeness(
        """code_module: AAA|BBB|CCC|DDD|EEE; code_presentation: 2013J|2014J|2013B|2014B; id_student: #6; gender: M|F;
        region: Scotland|Wales|London Region|South Region; highest_education: A Level or Equivalent|Lower Than A Level|HE Qualification;
        imd_band: 0-10%|20-30%|50-60%|90-100%?; age_band: 0-35*7|35-55*3|55<=; num_of_prev_attempts: 0..3;
        studied_credits: 30|60|90|120; disability: N*9|Y; final_result: Pass*4|Withdrawn*3|Fail*2|Distinction""",
        "final_result", ("Pass", "Distinction"), ("gender", "disability"),
    ),
    "communities and crime": Likeness(
        """state: 1..50; county: 1..200?; community: 70..90000?; communityname: @; fold: 1..10; population: 0.00..1.00;
        householdsize: 0.00..1.00; racepctblack: 0.00..1.00; racePctWhite: 0.00..1.00; racePctAsian: 0.00..1.00;
        racePctHisp: 0.00..1.00; agePct12t21: 0.00..1.00; agePct65up: 0.00..1.00; pctUrban: 0.00..1.00; medIncome: 0.00..1.00;
        pctWWage: 0.00..1.00; PctPopUnderPov: 0.00..1.00; PctUnemployed: 0.00..1.00; PctIlleg: 0.00..1.00; NumImmig: 0.00..1.00;
        LemasSwornFT: 0.00..1.00?; PolicBudgPerPop: 0.00..1.00?; ViolentCrimesPerPop: 0.00..1.00""",
        "ViolentCrimesPerPop", ("<",), ("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp"),
    ),
    "speed dating": Likeness(
        """has_null: 0|1; wave: 1..21; gender: female|male; age: 18..45; age_o: 18..45; d_age: 0..20;
        race: European/Caucasian-American*5|Asian/Pacific Islander/Asian-American*3|Latino/Hispanic American;
        race_o: European/Caucasian-American*5|Asian/Pacific Islander/Asian-American*3; samerace: 0*6|1*4;
        importance_same_race: 1..10; importance_same_religion: 1..10; field: law|business|social work|mba; pref_o_attractive: 0..50;
        pref_o_sincere: 0..40; attractive_o: 1..10; sinsere_o: 1..10; funny_o: 1..10; attractive_important: 0..50; attractive: 1..10;
        attractive_partner: 1..10; sports: 1..10; movies: 1..10; interests_correlate: -0.50..0.90; expected_happy_with_sd_people: 1..10;
        expected_num_matches: 0..10; like: 1..10; guess_prob_liked: 1..10; met: 0*9|1; decision: 0|1; decision_o: 0|1; match: 0*5|1""",
        "match", ("1",), ("race", "gender"),
    ),
    "CelebA attributes": Likeness(
        """image_id: @; 5_o_Clock_Shadow: -1*8|1; Arched_Eyebrows: -1*3|1; Attractive: 1|-1; Bags_Under_Eyes: -1*4|1; Bald: -1*40|1;
        Bangs: -1*6|1; Big_Lips: -1*3|1; Black_Hair: -1*3|1; Blond_Hair: -1*6|1; Blurry: -1*19|1; Eyeglasses: -1*14|1; Goatee: -1*15|1;
        Heavy_Makeup: -1*6|1*4; High_Cheekbones: -1|1; Male: -1*6|1*4; Mouth_Slightly_Open: -1|1; Mustache: -1*23|1; No_Beard: 1*5|-1;
        Oval_Face: -1*7|1*3; Pale_Skin: -1*22|1; Smiling: -1|1; Straight_Hair: -1*4|1; Wavy_Hair: -1*2|1; Wearing_Hat: -1*19|1;
        Wearing_Lipstick: -1|1; Young: 1*3|-1""",
        "Attractive", ("1",), ("Male", "Young"),
    ),
    "loan applications": Likeness(
        """Loan_ID: @; Gender: Male*4|Female?; Married: Yes*2|No; Dependents: 0*6|1|2|3+; Education: Graduate*4|Not Graduate;
        Self_Employed: No*6|Yes?; ApplicantIncome: 150..20000; CoapplicantIncome: 0..9000; LoanAmount: 20..500?;
        Loan_Amount_Term: 360*9|180|480; Credit_History: 1*6|0?; Property_Area: Semiurban|Urban|Rural; Loan_Status: Y*2|N""",
        "Loan_Status", ("Y",), ("Gender",),
    ),
    "Dutch census": Likeness(
        """sex: 1|2; age: 4|5|6|7|8|9|10|11|12; household_position: 1122*4|1121*2|1110|1210; household_size: 111|112*3|113|114;
        prev_residence_place: 1*9|2; citizenship: 1*19|2|3; country_birth: 1*9|2|3; edu_level: 0|1|2|3|4|5; economic_status: 111*8|112|120;
        cur_eco_activity: 131|132|133|134|135|136|137|138; Marital_status: 2*3|1|3|4; occupation: 5_4_9|2_1""",
        "occupation", ("2_1",), ("sex",),
    ),
    "credit default in Taiwan": Likeness(
        """ID: #; LIMIT_BAL: 10000..800000; SEX: 2*6|1*4; EDUCATION: 2*5|1*3|3*2; MARRIAGE: 2|1; AGE: 21..70; PAY_0: -2..3; PAY_2: -2..3;
        PAY_3: -2..3; BILL_AMT1: -900..200000; BILL_AMT2: -900..200000; PAY_AMT1: 0..20000; PAY_AMT2: 0..20000;
        default payment next month: 0*4|1""",
        "default payment next month", ("0",), ("SEX",),
    ),
    "German credit": Likeness(
        """checking_status: no checking*4|<0*3|0<=X<200*3|>=200; duration: 4..72; credit_history: existing paid*5|critical/other existing credit*3|delayed previously;
        purpose: radio/tv|new car|used car|education; credit_amount: 250..18424; savings_status: <100*6|no known savings*2|>=1000;
        employment: 1<=X<4|>=7|<1|unemployed; installment_commitment: 1..4; personal_status: male single*5|female div/dep/mar*3|male mar/wid;
        other_parties: none*9|guarantor; residence_since: 1..4; property_magnitude: car|real estate|life insurance; age: 19..75;
        other_payment_plans: none*8|bank; housing: own*7|rent*2|for free; existing_credits: 1..4; job: skilled*6|unskilled resident*2;
        num_dependents: 1*8|2; own_telephone: none*6|yes*4; foreign_worker: yes*25|no; class: good*7|bad*3""",
        "class", ("good",), ("foreign_worker", "age", "personal_status"),
    ),
    "law school": Likeness(
        """decile1b: 1..10; decile3: 1..10; lsat: 11.0..48.0; ugpa: 1.5..4.0; zfygpa: -3.00..3.00; zgpa: -3.00..3.00; fulltime: 1*9|2;
        fam_inc: 1..5; male: 0|1; racetxt: White*9|Black; tier: 1..6; pass_bar: 1*9|0""",
        "pass_bar", ("1",), ("racetxt", "male"),
    ),
}
