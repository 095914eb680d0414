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
        return pd.Series((np.datetime64("2014-01-01") + rng.integers(0, 700, ROWS)).astype(str))
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
        """age: 18..90; job: blue-collar|management|technician|admin.|services|unknown; marital:
        married*6|single*3|divorced; education: secondary|tertiary|primary|unknown; default: no*60|yes; balance:
        -500..9000; housing: yes|no; loan: no*5|yes; contact: cellular*6|unknown*3|telephone; day: 1..31; month:
        may|jul|aug|jun|nov|apr|feb; duration: 5..2000; campaign: 1..20; pdays: -1..400; previous: 0..7; poutcome:
        unknown*8|failure|other|success; y: no*8|yes""",
        "y",
        ("yes",),
        ("age", "marital"),
    ),
    "diabetes 130 hospitals": Likeness(
        """encounter_id: #8; patient_nbr: #8; race: Caucasian*7|AfricanAmerican*2|?|Hispanic; gender: Female|Male; age:
        [0-10)|[10-20)|[40-50)|[50-60)|[60-70)|[70-80); weight: ?; admission_type_id: 1..8;
        discharge_disposition_id: 1..25; admission_source_id: 1..17; time_in_hospital: 1..14; payer_code:
        ?*4|MC*3|HM|SP; medical_specialty: ?*5|InternalMedicine|Cardiology|Surgery-General; num_lab_procedures:
        1..90; num_procedures: 0..6; num_medications: 1..60; number_outpatient: 0..5; number_emergency: 0..4;
        number_inpatient: 0..6; diag_1: 428|414|786|410|486|427|491|715; diag_2: 276|428|250|427|401; diag_3:
        250|401|276|428; number_diagnoses: 1..9; max_glu_serum: None*9|Norm|>200|>300; A1Cresult: None*8|>8|Norm|>7;
        metformin: No*8|Steady*2|Up|Down; glyburide: No*9|Steady; insulin: No|Steady|Up|Down; change: No|Ch;
        diabetesMed: Yes*3|No; readmitted: NO*5|>30*3|<30""",
        "readmitted",
        ("NO",),
        ("race", "gender"),
    ),
    "adult": Likeness(
        """age: 17..90; workclass: Private*7|Self-emp-not-inc|Local-gov|?; fnlwgt: 12285..1484705; education:
        HS-grad*3|Some-college*2|Bachelors*2|Masters|11th; education-num: 1..16; marital-status:
        Married-civ-spouse|Never-married|Divorced; occupation: Prof-specialty|Craft-repair|Sales|?; relationship:
        Husband|Not-in-family|Own-child|Wife; race: White*8|Black|Asian-Pac-Islander|Other; sex: Male*2|Female;
        capital-gain: 0..9; capital-loss: 0..9; hours-per-week: 1..99; native-country: United-States*9|Mexico|?;
        income: <=50K*3|>50K""",
        "income",
        (">50K",),
        ("sex", "race"),
    ),
    "stroke": Likeness(
        """id: #5; gender: Female*6|Male*4; age: 1..82; hypertension: 0*9|1; heart_disease: 0*19|1; ever_married:
        Yes*2|No; work_type: Private*3|Self-employed|children|Govt_job; Residence_type: Urban|Rural;
        avg_glucose_level: 55.00..270.00; bmi: 15.0..45.0?; smoking_status: never smoked|Unknown|formerly
        smoked|smokes; stroke: 0*10|1""",
        "stroke",
        ("0",),
        ("gender",),
    ),
    "Titanic": Likeness(
        """PassengerId: #; Survived: 0*6|1*4; Pclass: 1|2|3*2; Name: @; Sex: male*2|female; Age: 1..80?; SibSp: 0..5;
        Parch: 0..4; Ticket: #6; Fare: 4.00..90.00; Cabin: C85|E46|B28|G6?; Embarked: S*7|C*2|Q""",
        "Survived",
        ("1",),
        ("Sex",),
    ),
    "compas": Likeness(
        """id: #; name: @; first: Ann|Bob|Cy; last: Doe|Roe; compas_screening_date: day; sex: Male*4|Female; dob: day;
        age: 18..70; age_cat: 25 - 45*3|Greater than 45|Less than 25; race:
        African-American*5|Caucasian*3|Hispanic|Other; juv_fel_count: 0..3; decile_score: 1..10; juv_misd_count:
        0..3; juv_other_count: 0..3; priors_count: 0..20; days_b_screening_arrest: -5..30; c_jail_in: day;
        c_jail_out: day; c_case_number: @; c_offense_date: day?; c_arrest_date: day?; c_days_from_compas: 0..60;
        c_charge_degree: F*2|M; c_charge_desc: Battery|arrest case no charge|Theft; is_recid: 0|1; r_case_number:
        @?; r_charge_degree: (M1)|(F3)|(M2)?; r_days_from_arrest: 0..30?; r_offense_date: day?; r_charge_desc:
        Battery|Theft?; r_jail_in: day?; r_jail_out: day?; violent_recid: ; is_violent_recid: 0*9|1; vr_case_number:
        @?; vr_charge_degree: (F3)|(M1)?; vr_offense_date: day?; vr_charge_desc: Battery?; type_of_assessment: Risk
        of Recidivism; decile_score: 1..10; score_text: Low*5|Medium*3|High*2; screening_date: day;
        v_type_of_assessment: Risk of Violence; v_decile_score: 1..10; v_score_text: Low*6|Medium*3|High;
        v_screening_date: day; in_custody: day; out_custody: day; priors_count: 0..20; start: 0..300; end: 0..1100;
        event: 0*2|1; two_year_recid: 0|1""",
        "two_year_recid",
        ("0",),
        ("race", "sex"),
    ),
    "HMDA": Likeness(
        """activity_year: 2020; lei: @; derived_msa-md: 10000..49999; state_code: CA|TX|NY|FL; county_code:
        1001..56045; census_tract: #8; conforming_loan_limit: C*9|NC; derived_loan_product_type: Conventional:First
        Lien*8|FHA:First Lien; derived_dwelling_category: Single Family (1-4 Units):Site-Built; derived_ethnicity:
        Not Hispanic or Latino*8|Hispanic or Latino; derived_race: White*7|Black or African American|Asian|Race Not
        Available; derived_sex: Joint|Male|Female; action_taken: 1*6|3*2|4|6; purchaser_type: 0|1|3|71; preapproval:
        2*20|1; loan_type: 1*8|2|3; loan_purpose: 1|31|32; lien_status: 1*9|2; reverse_mortgage: 2; loan_amount:
        55000..955000; loan_to_value_ratio: 20.00..98.00?; interest_rate: 2.250..5.125?; loan_term: 360*8|180|240;
        property_value: 95000..1455000; occupancy_type: 1*9|2|3; income: 20..300?; debt_to_income_ratio:
        <20%|20%-<30%|30%-<36%|44|49|>60%; applicant_age: 25-34|35-44|45-54|55-64; applicant_race-1: 5*7|3|2|6;
        applicant_sex: 1*2|2|3; denial_reason-1: 10*8|3|1|4; tract_population: 500..9000""",
        "action_taken",
        ("1",),
        ("derived_race", "derived_sex", "derived_ethnicity", "applicant_sex", "applicant_race-1"),
    ),
    "OULAD": Likeness(
        """code_module: AAA|BBB|CCC|DDD|EEE; code_presentation: 2013J|2014J|2013B|2014B; id_student: #6; gender: M|F;
        region: Scotland|Wales|London Region|South Region; highest_education: A Level or Equivalent|Lower Than A
        Level|HE Qualification; imd_band: 0-10%|20-30%|50-60%|90-100%?; age_band: 0-35*7|35-55*3|55<=;
        num_of_prev_attempts: 0..3; studied_credits: 30|60|90|120; disability: N*9|Y; final_result:
        Pass*4|Withdrawn*3|Fail*2|Distinction""",
        "final_result",
        ("Pass", "Distinction"),
        ("gender", "disability"),
    ),
    "communities and crime": Likeness(
        """state: 1..50; county: 1..200?; community: 70..90000?; communityname: @; fold: 1..10; population: 0.00..1.00;
        householdsize: 0.00..1.00; racepctblack: 0.00..1.00; racePctWhite: 0.00..1.00; racePctAsian: 0.00..1.00;
        racePctHisp: 0.00..1.00; agePct12t21: 0.00..1.00; agePct65up: 0.00..1.00; pctUrban: 0.00..1.00; medIncome:
        0.00..1.00; pctWWage: 0.00..1.00; PctPopUnderPov: 0.00..1.00; PctUnemployed: 0.00..1.00; PctIlleg:
        0.00..1.00; NumImmig: 0.00..1.00; LemasSwornFT: 0.00..1.00?; PolicBudgPerPop: 0.00..1.00?;
        ViolentCrimesPerPop: 0.00..1.00""",
        "ViolentCrimesPerPop",
        ("<",),
        ("racepctblack", "racePctWhite", "racePctAsian", "racePctHisp"),
    ),
    "speed dating": Likeness(
        """has_null: 0|1; wave: 1..21; gender: female|male; age: 18..45; age_o: 18..45; d_age: 0..20; race:
        European/Caucasian-American*5|Asian/Pacific Islander/Asian-American*3|Latino/Hispanic American; race_o:
        European/Caucasian-American*5|Asian/Pacific Islander/Asian-American*3; samerace: 0*6|1*4;
        importance_same_race: 1..10; importance_same_religion: 1..10; field: law|business|social work|mba;
        pref_o_attractive: 0..50; pref_o_sincere: 0..40; attractive_o: 1..10; sinsere_o: 1..10; funny_o: 1..10;
        attractive_important: 0..50; attractive: 1..10; attractive_partner: 1..10; sports: 1..10; movies: 1..10;
        interests_correlate: -0.50..0.90; expected_happy_with_sd_people: 1..10; expected_num_matches: 0..10; like:
        1..10; guess_prob_liked: 1..10; met: 0*9|1; decision: 0|1; decision_o: 0|1; match: 0*5|1""",
        "match",
        ("1",),
        ("race", "gender"),
    ),
    "CelebA attributes": Likeness(
        """image_id: @; 5_o_Clock_Shadow: -1*8|1; Arched_Eyebrows: -1*3|1; Attractive: 1|-1; Bags_Under_Eyes: -1*4|1;
        Bald: -1*40|1; Bangs: -1*6|1; Big_Lips: -1*3|1; Black_Hair: -1*3|1; Blond_Hair: -1*6|1; Blurry: -1*19|1;
        Eyeglasses: -1*14|1; Goatee: -1*15|1; Heavy_Makeup: -1*6|1*4; High_Cheekbones: -1|1; Male: -1*6|1*4;
        Mouth_Slightly_Open: -1|1; Mustache: -1*23|1; No_Beard: 1*5|-1; Oval_Face: -1*7|1*3; Pale_Skin: -1*22|1;
        Smiling: -1|1; Straight_Hair: -1*4|1; Wavy_Hair: -1*2|1; Wearing_Hat: -1*19|1; Wearing_Lipstick: -1|1;
        Young: 1*3|-1""",
        "Attractive",
        ("1",),
        ("Male", "Young"),
    ),
    "loan applications": Likeness(
        """Loan_ID: @; Gender: Male*4|Female?; Married: Yes*2|No; Dependents: 0*6|1|2|3+; Education: Graduate*4|Not
        Graduate; Self_Employed: No*6|Yes?; ApplicantIncome: 150..20000; CoapplicantIncome: 0..9000; LoanAmount:
        20..500?; Loan_Amount_Term: 360*9|180|480; Credit_History: 1*6|0?; Property_Area: Semiurban|Urban|Rural;
        Loan_Status: Y*2|N""",
        "Loan_Status",
        ("Y",),
        ("Gender",),
    ),
    "Dutch census": Likeness(
        """sex: 1|2; age: 4|5|6|7|8|9|10|11|12; household_position: 1122*4|1121*2|1110|1210; household_size:
        111|112*3|113|114; prev_residence_place: 1*9|2; citizenship: 1*19|2|3; country_birth: 1*9|2|3; edu_level:
        0|1|2|3|4|5; economic_status: 111*8|112|120; cur_eco_activity: 131|132|133|134|135|136|137|138;
        Marital_status: 2*3|1|3|4; occupation: 5_4_9|2_1""",
        "occupation",
        ("2_1",),
        ("sex",),
    ),
    "credit default in Taiwan": Likeness(
        """ID: #; LIMIT_BAL: 10000..800000; SEX: 2*6|1*4; EDUCATION: 2*5|1*3|3*2; MARRIAGE: 2|1; AGE: 21..70; PAY_0:
        -2..3; PAY_2: -2..3; PAY_3: -2..3; BILL_AMT1: -900..200000; BILL_AMT2: -900..200000; PAY_AMT1: 0..20000;
        PAY_AMT2: 0..20000; default payment next month: 0*4|1""",
        "default payment next month",
        ("0",),
        ("SEX",),
    ),
    "German credit": Likeness(
        """checking_status: no checking*4|<0*3|0<=X<200*3|>=200; duration: 4..72; credit_history: existing
        paid*5|critical/other existing credit*3|delayed previously; purpose: radio/tv|new car|used car|education;
        credit_amount: 250..18424; savings_status: <100*6|no known savings*2|>=1000; employment:
        1<=X<4|>=7|<1|unemployed; installment_commitment: 1..4; personal_status: male single*5|female
        div/dep/mar*3|male mar/wid; other_parties: none*9|guarantor; residence_since: 1..4; property_magnitude:
        car|real estate|life insurance; age: 19..75; other_payment_plans: none*8|bank; housing: own*7|rent*2|for
        free; existing_credits: 1..4; job: skilled*6|unskilled resident*2; num_dependents: 1*8|2; own_telephone:
        none*6|yes*4; foreign_worker: yes*25|no; class: good*7|bad*3""",
        "class",
        ("good",),
        ("foreign_worker", "age", "personal_status"),
    ),
    "law school": Likeness(
        """decile1b: 1..10; decile3: 1..10; lsat: 11.0..48.0; ugpa: 1.5..4.0; zfygpa: -3.00..3.00; zgpa: -3.00..3.00;
        fulltime: 1*9|2; fam_inc: 1..5; male: 0|1; racetxt: White*9|Black; tier: 1..6; pass_bar: 1*9|0""",
        "pass_bar",
        ("1",),
        ("racetxt", "male"),
    ),
}

# Those that were written before the last change of the rules, which were changed for what some of them showed.
SEEN |= {
    "student performance": Likeness(
        """school: GP*8|MS; sex: F|M; age: 15..22; address: U*3|R; famsize: GT3*2|LE3; Pstatus: T*8|A; Medu: 0..4;
        Fedu: 0..4; Mjob: other|services|at_home|teacher|health; Fjob: other|services|teacher; reason:
        course|home|reputation|other; guardian: mother*3|father|other; traveltime: 1..4; studytime: 1..4; failures:
        0..3; schoolsup: no*7|yes; famsup: yes|no; paid: no|yes; activities: yes|no; nursery: yes*4|no; higher:
        yes*19|no; internet: yes*5|no; romantic: no*2|yes; famrel: 1..5; freetime: 1..5; goout: 1..5; Dalc: 1..5;
        Walc: 1..5; health: 1..5; absences: 0..30; G1: 3..19; G2: 0..19; G3: 0..20""",
        "G3",
        ("≥",),
        ("sex",),
    ),
    "heart disease": Likeness(
        """age: 29..77; sex: 1*2|0; cp: 0..3; trestbps: 94..200; chol: 126..564; fbs: 0*6|1; restecg: 0..2; thalach:
        71..202; exang: 0*2|1; oldpeak: 0.0..6.2; slope: 0..2; ca: 0..4; thal: 0..3; target: 1|0""",
        "target",
        ("0",),
        ("sex",),
    ),
    "heart failure": Likeness(
        """age: 40..95; anaemia: 0|1; creatinine_phosphokinase: 23..7861; diabetes: 0|1; ejection_fraction: 14..80;
        high_blood_pressure: 0*2|1; platelets: 25100.0..850000.0; serum_creatinine: 0.5..9.4; serum_sodium:
        113..148; sex: 1*2|0; smoking: 0*2|1; time: 4..285; DEATH_EVENT: 0*2|1""",
        "DEATH_EVENT",
        ("0",),
        ("sex",),
    ),
    "HELOC": Likeness(
        """RiskPerformance: Bad|Good; ExternalRiskEstimate: 40..94; MSinceOldestTradeOpen: 2..800;
        MSinceMostRecentTradeOpen: 0..40; AverageMInFile: 4..380; NumSatisfactoryTrades: 0..79;
        NumTrades60Ever2DerogPubRec: 0..5; PercentTradesNeverDelq: 50..100; MSinceMostRecentDelq: -9..80;
        MaxDelq2PublicRecLast12M: 0..9; NumTotalTrades: 0..100; NetFractionRevolvingBurden: 0..130""",
        "RiskPerformance",
        ("Good",),
        (),
    ),
    "ACS income": Likeness(
        """AGEP: 17..94; COW: 1..8; SCHL: 1..24; MAR: 1..5; OCCP: 10..9760; POBP: 1..554; RELP: 0..17; WKHP: 1..99;
        SEX: 1|2; RAC1P: 1..9; PINCP: 110..200000""",
        "PINCP",
        ("≥",),
        ("SEX", "RAC1P"),
    ),
    "MEPS": Likeness(
        """REGION: 1..4; AGE: 1..85; RACE: Non-White*6|White*4; SEX: 1|2; MARRY: 1..10; FTSTU: -1|1|2|3; ACTDTY: 1..4;
        HONRDC: 1..4; RTHLTH: 1..5; MNHLTH: 1..5; HIBPDX: 1|2*2; CHDDX: 1|2*9; ANGIDX: 1|2*9; STRKDX: 1|2*9; DIABDX:
        1|2*7; ASTHDX: 1|2*7; PCS42: -9..70; K6SUM42: -9..24; PHQ242: -1..6; EMPST: 1..4; POVCAT: 1..5; INSCOV:
        1..3; UTILIZATION: 0*5|1""",
        "UTILIZATION",
        ("1",),
        ("RACE", "SEX"),
    ),
    "Ricci": Likeness(
        """Position: Captain*4|Lieutenant*6; Oral: 40.00..95.00; Written: 40..95; Race: W*6|H*2|B*2; Combine:
        45.00..93.00; Class: 0|1""",
        "Class",
        ("1",),
        ("Race",),
    ),
    "census (KDD)": Likeness(
        """age: 0..90; class_of_worker: Not in universe*5|Private*4|Local government; industry_code: 0..51;
        occupation_code: 0..46; education: High school graduate|Children|Bachelors degree; wage_per_hour: 0..2000;
        enrolled_in_edu_inst: Not in universe*9|High school; marital_status: Never married|Married-civilian spouse
        present; race: White*8|Black|Asian; hispanic_origin: All other*9|Mexican; sex: Female|Male;
        member_of_labor_union: Not in universe*9|No|Yes; capital_gains: 0..999; tax_filer_status: Nonfiler|Joint
        both under 65|Single; instance_weight: 37.87..18656.30; citizenship: Native- Born in the United
        States*9|Foreign born; veterans_benefits: 0..2; weeks_worked_in_year: 0..52; year: 94|95; income: -
        50000.*12|50000+.""",
        "income",
        ("50000+.",),
        ("race", "sex", "hispanic_origin"),
    ),
    "telco churn": Likeness(
        """customerID: @; gender: Male|Female; SeniorCitizen: 0*5|1; Partner: Yes|No; Dependents: No*2|Yes; tenure:
        0..72; PhoneService: Yes*9|No; MultipleLines: No|Yes|No phone service; InternetService: Fiber optic|DSL|No;
        OnlineSecurity: No|Yes|No internet service; TechSupport: No|Yes|No internet service; Contract:
        Month-to-month*2|One year|Two year; PaperlessBilling: Yes|No; PaymentMethod: Electronic check|Mailed
        check|Credit card (automatic); MonthlyCharges: 18.25..118.75; TotalCharges: 18.80..8684.80?; Churn: No*3|Yes""",
        "Churn",
        ("No",),
        ("gender", "SeniorCitizen"),
    ),
    "attrition": Likeness(
        """Age: 18..60; Attrition: No*5|Yes; BusinessTravel: Travel_Rarely*7|Travel_Frequently*2|Non-Travel; DailyRate:
        102..1499; Department: Sales|Research & Development*2; DistanceFromHome: 1..29; Education: 1..5;
        EducationField: Life Sciences|Medical|Marketing; EmployeeCount: 1; EmployeeNumber: #;
        EnvironmentSatisfaction: 1..4; Gender: Male*6|Female*4; HourlyRate: 30..100; JobInvolvement: 1..4; JobLevel:
        1..5; JobRole: Sales Executive|Research Scientist|Manager; JobSatisfaction: 1..4; MaritalStatus:
        Married|Single|Divorced; MonthlyIncome: 1009..19999; NumCompaniesWorked: 0..9; Over18: Y; OverTime:
        No*2|Yes; PercentSalaryHike: 11..25; PerformanceRating: 3*5|4; StandardHours: 80; StockOptionLevel: 0..3;
        TotalWorkingYears: 0..40; WorkLifeBalance: 1..4; YearsAtCompany: 0..40; YearsSinceLastPromotion: 0..15""",
        "Attrition",
        ("No",),
        ("Gender",),
    ),
    "hotel bookings": Likeness(
        """hotel: City Hotel*2|Resort Hotel; is_canceled: 0*6|1*4; lead_time: 0..400; arrival_date_year:
        2015|2016|2017; arrival_date_month: July|August|May|October; stays_in_week_nights: 0..10; adults: 1..4;
        children: 0..3; meal: BB*7|HB|SC; country: PRT*4|GBR|FRA|ESP; market_segment: Online TA|Offline
        TA/TO|Direct; is_repeated_guest: 0*30|1; previous_cancellations: 0..3; reserved_room_type: A|D|E;
        deposit_type: No Deposit*8|Non Refund; customer_type: Transient*3|Contract; adr: 0.00..250.00;
        total_of_special_requests: 0..5; reservation_status: Check-Out*6|Canceled*3|No-Show;
        reservation_status_date: day""",
        "is_canceled",
        ("0",),
        (),
    ),
    "breast cancer": Likeness(
        """id: #7; diagnosis: B*6|M*4; radius_mean: 6.98..28.11; texture_mean: 9.71..39.28; perimeter_mean:
        43.79..188.50; area_mean: 143.50..2501.00; smoothness_mean: 0.0526..0.1634; radius_se: 0.1115..2.8730;
        concavity_worst: 0.0000..1.2520; fractal_dimension_worst: 0.0550..0.2075""",
        "diagnosis",
        ("B",),
        (),
    ),
    "Pima diabetes": Likeness(
        """Pregnancies: 0..17; Glucose: 44..199; BloodPressure: 24..122; SkinThickness: 0..99; Insulin: 0..846; BMI:
        18.2..67.1; DiabetesPedigreeFunction: 0.078..2.420; Age: 21..81; Outcome: 0*2|1""",
        "Outcome",
        ("0",),
        ("Age",),
    ),
    "Lending Club": Likeness(
        """id: #8; loan_amnt: 500..35000; term: 36 months*3|60 months; int_rate: 5.32..28.99; installment:
        16.08..1445.46; grade: A|B|C|D|E; sub_grade: A1|B3|C2|D5; emp_title: @?; emp_length: 10+ years|< 1 year|2
        years; home_ownership: MORTGAGE|RENT|OWN; annual_inc: 4000..250000; verification_status: Verified|Not
        Verified|Source Verified; issue_d: Dec-2011|Jan-2012|Mar-2013; loan_status: Fully Paid*8|Charged Off*2;
        purpose: debt_consolidation*5|credit_card|house; zip_code: 860xx|309xx|606xx; addr_state: CA|NY|TX|FL; dti:
        0.00..39.99; delinq_2yrs: 0..6; earliest_cr_line: Jan-1985|Apr-1999; inq_last_6mths: 0..8; open_acc: 0..50;
        pub_rec: 0..5; revol_bal: 0..100000; total_acc: 2..90; application_type: INDIVIDUAL*30|JOINT""",
        "loan_status",
        ("Fully Paid",),
        (),
    ),
    "insurance": Likeness(
        """age: 18..64; sex: male|female; bmi: 15.96..53.13; children: 0..5; smoker: no*4|yes; region:
        southeast|southwest|northwest|northeast; charges: 1121.87..63770.42""",
        "charges",
        ("<",),
        ("sex",),
    ),
    "stop and frisk": Likeness(
        """year: 2011; pct: 1..123; ser_num: 1..30000; datestop: day; timestop: 0..2359; inout: O*4|I; trhsloc:
        P*7|H*2|T; perobs: 1..60; crimsusp: FELONY|MISD|CPW|ROBBERY; perstop: 1..30; typeofid: P*5|V*4|R; explnstp:
        Y*30|N; othpers: N*3|Y; arstmade: N*15|Y; sumissue: N*15|Y; frisked: Y|N; searched: N*10|Y; contrabn:
        N*50|Y; pistol: N*90|Y; pf_hands: N*5|Y; cs_furtv: N|Y; sex: M*13|F; race: B*5|Q*2|W|P; age: 12..70;
        ht_feet: 5*8|6|4; weight: 100..260; city: BROOKLYN|QUEENS|BRONX|MANHATTAN|STATEN IS""",
        "frisked",
        ("N",),
        ("race", "sex"),
    ),
    "Give Me Some Credit": Likeness(
        """SeriousDlqin2yrs: 0*14|1; RevolvingUtilizationOfUnsecuredLines: 0.0000..1.2000; age: 21..90;
        NumberOfTime30-59DaysPastDueNotWorse: 0..5; DebtRatio: 0.0000..2.0000; MonthlyIncome: 0..25000?;
        NumberOfOpenCreditLinesAndLoans: 0..30; NumberOfTimes90DaysLate: 0..4; NumberRealEstateLoansOrLines: 0..6;
        NumberOfDependents: 0..6?""",
        "SeriousDlqin2yrs",
        ("0",),
        ("age",),
    ),
    "cardiovascular disease": Likeness(
        """id: #; age: 10798..23713; gender: 1*6|2*4; height: 140..200; weight: 45.0..130.0; ap_hi: 90..180; ap_lo:
        60..110; cholesterol: 1..3; gluc: 1..3; smoke: 0*9|1; alco: 0*19|1; active: 1*4|0; cardio: 0|1""",
        "cardio",
        ("0",),
        ("gender",),
    ),
    "promotion": Likeness(
        """employee_id: #5; department: Sales & Marketing*3|Operations*2|Technology; region:
        region_2|region_22|region_7; education: Bachelor's*7|Master's & above*3?; gender: m*7|f*3;
        recruitment_channel: other|sourcing|referred; no_of_trainings: 1..6; age: 20..60; previous_year_rating:
        1..5?; length_of_service: 1..30; KPIs_met >80%: 0*2|1; awards_won?: 0*40|1; avg_training_score: 39..99;
        is_promoted: 0*9|1""",
        "is_promoted",
        ("1",),
        ("gender",),
    ),
    "dropout": Likeness(
        """Marital status: 1*9|2|4; Application mode: 1|17|39|43; Application order: 0..9; Course: 9070|9147|9238|9500;
        Daytime/evening attendance: 1*9|0; Previous qualification: 1*8|39|19; Previous qualification (grade):
        95.0..190.0; Nacionality: 1*30|41|26; Admission grade: 95.0..190.0; Displaced: 1|0; Educational special
        needs: 0*60|1; Debtor: 0*8|1; Tuition fees up to date: 1*8|0; Gender: 0*6|1*4; Scholarship holder: 0*3|1;
        Age at enrollment: 17..60; International: 0*40|1; Curricular units 1st sem (grade): 0.0..18.0; Unemployment
        rate: 7.6|9.4|10.8|12.4; GDP: -4.06|0.32|1.74|3.51; Target: Graduate*5|Dropout*3|Enrolled*2""",
        "Target",
        ("Graduate",),
        ("Gender",),
    ),
    "graduate admission": Likeness(
        """Serial No.: #; GRE Score: 290..340; TOEFL Score: 92..120; University Rating: 1..5; SOP: 1.0..5.0; LOR:
        1.0..5.0; CGPA: 6.80..9.92; Research: 1|0; Chance of Admit: 0.34..0.97""",
        "Chance of Admit",
        ("≥",),
        (),
    ),
    "home credit": Likeness(
        """SK_ID_CURR: #6; TARGET: 0*11|1; NAME_CONTRACT_TYPE: Cash loans*9|Revolving loans; CODE_GENDER: F*2|M;
        FLAG_OWN_CAR: N*2|Y; FLAG_OWN_REALTY: Y*2|N; CNT_CHILDREN: 0..4; AMT_INCOME_TOTAL: 25650..450000;
        AMT_CREDIT: 45000..2700000; NAME_INCOME_TYPE: Working|Pensioner|State servant; NAME_FAMILY_STATUS:
        Married|Single / not married; DAYS_BIRTH: -25000..-7700; DAYS_EMPLOYED: -17000..0; OCCUPATION_TYPE:
        Laborers|Sales staff|Core staff?; EXT_SOURCE_2: 0.000..0.850; REG_CITY_NOT_WORK_CITY: 0*3|1;
        FLAG_DOCUMENT_3: 1*2|0; AMT_REQ_CREDIT_BUREAU_YEAR: 0..9?""",
        "TARGET",
        ("0",),
        ("CODE_GENDER",),
    ),
    "recidivism in Georgia": Likeness(
        """ID: #; Gender: M*9|F; Race: BLACK|WHITE; Age_at_Release: 18-22|23-27|28-32|33-37|48 or older;
        Residence_PUMA: 1..25; Gang_Affiliated: false*4|true?; Supervision_Risk_Score_First: 1..10?;
        Supervision_Level_First: Standard|High|Specialized?; Education_Level: High School Diploma|Less than HS
        diploma; Dependents: 0|1|2|3 or more; Prison_Offense: Drug|Property|Violent/Non-Sex|Other?; Prison_Years:
        Less than 1 year|1-2 years|More than 3 years; Prior_Arrest_Episodes_Felony: 0|1|2|10 or more;
        Prior_Conviction_Episodes_Viol: false*2|true; Condition_MH_SA: true*2|false; Delinquency_Reports: 0|1|4 or
        more; Percent_Days_Employed: 0.00..1.00?; Jobs_Per_Year: 0.00..6.00?; Employment_Exempt: false*6|true;
        Recidivism_Within_3years: true*6|false*4""",
        "Recidivism_Within_3years",
        ("false", "False"),
        ("Race", "Gender"),
    ),
}

# The same once more.
SEEN |= {
    "mammographic masses": Likeness(
        """BI-RADS: 4*5|5*4|3?; Age: 18..96?; Shape: 1..4?; Margin: 1..5?; Density: 1..4?; Severity: 0|1""",
        "Severity",
        ("0",),
        ("Age",),
    ),
    "liver patients": Likeness(
        """Age: 4..90; Gender: Male*3|Female; Total_Bilirubin: 0.4..20.0; Direct_Bilirubin: 0.1..9.0;
        Alkaline_Phosphotase: 63..900; Alamine_Aminotransferase: 10..400; Total_Protiens: 2.7..9.6; Albumin:
        0.9..5.5; Albumin_and_Globulin_Ratio: 0.30..2.80?; Dataset: 1*5|2*2""",
        "Dataset",
        ("2",),
        ("Gender",),
    ),
    "German credit risk": Likeness(
        """Unnamed: 0: #; Age: 19..75; Sex: male*7|female*3; Job: 0..3; Housing: own*7|rent*2|free; Saving accounts:
        little*6|moderate|rich?; Checking account: little|moderate|rich?; Credit amount: 250..18424; Duration:
        4..72; Purpose: car|radio/TV|education; Risk: good*7|bad*3""",
        "Risk",
        ("good",),
        ("Sex",),
    ),
    "campus placement": Likeness(
        """sl_no: #; gender: M*6|F*4; ssc_p: 40.89..89.40; ssc_b: Central|Others; hsc_p: 37.00..97.70; hsc_b:
        Others|Central; hsc_s: Commerce|Science|Arts; degree_p: 50.00..91.00; degree_t:
        Comm&Mgmt*6|Sci&Tech*3|Others; workex: No*2|Yes; etest_p: 50.00..98.00; specialisation: Mkt&Fin|Mkt&HR;
        mba_p: 51.21..77.89; status: Placed*7|Not Placed*3; salary: 200000..940000?""",
        "status",
        ("Placed",),
        ("gender",),
    ),
    "credit card approval": Likeness(
        """Gender: 1*7|0*3; Age: 13.75..76.75; Debt: 0.000..28.000; Married: 1*3|0; BankCustomer: 1*3|0; Industry:
        Energy|Materials|Industrials; Ethnicity: White*6|Black*2|Asian|Latino; YearsEmployed: 0.00..28.50;
        PriorDefault: 1|0; Employed: 0|1; CreditScore: 0..67; DriversLicense: 0|1; Citizen: ByBirth*9|ByOtherMeans;
        ZipCode: 0..2000; Income: 0..100000; Approved: 0|1""",
        "Approved",
        ("1",),
        ("Ethnicity", "Gender"),
    ),
    "bank churners": Likeness(
        """CLIENTNUM: #9; Attrition_Flag: Existing Customer*5|Attrited Customer; Customer_Age: 26..73; Gender: F|M;
        Dependent_count: 0..5; Education_Level: Graduate|High School|Unknown|Uneducated; Marital_Status:
        Married|Single|Unknown; Income_Category: Less than $40K|$40K - $60K|$120K +|Unknown; Card_Category:
        Blue*9|Silver; Months_on_book: 13..56; Total_Relationship_Count: 1..6; Months_Inactive_12_mon: 0..6;
        Credit_Limit: 1438.3..34516.0; Total_Trans_Amt: 510..18484; Avg_Utilization_Ratio: 0.000..0.999""",
        "Attrition_Flag",
        ("Existing Customer",),
        ("Gender",),
    ),
    "bank customers": Likeness(
        """RowNumber: #; CustomerId: #8; Surname: @; CreditScore: 350..850; Geography: France*2|Germany|Spain; Gender:
        Male|Female; Age: 18..92; Tenure: 0..10; Balance: 0.00..250000.00; NumOfProducts: 1..4; HasCrCard: 1*7|0*3;
        IsActiveMember: 1|0; EstimatedSalary: 11.58..199992.48; Exited: 0*4|1""",
        "Exited",
        ("0",),
        ("Gender",),
    ),
    "cross-sell": Likeness(
        """id: #; Gender: Male|Female; Age: 20..85; Driving_License: 1*99|0; Region_Code: 0..52; Previously_Insured:
        0|1; Vehicle_Age: 1-2 Year*5|< 1 Year*4|> 2 Years; Vehicle_Damage: Yes|No; Annual_Premium: 2630..90000;
        Policy_Sales_Channel: 1..163; Vintage: 10..299; Response: 0*7|1""",
        "Response",
        ("1",),
        ("Gender",),
    ),
    "appointments": Likeness(
        """PatientId: #14; AppointmentID: #7; Gender: F*2|M; ScheduledDay: day; AppointmentDay: day; Age: 0..100;
        Neighbourhood: JARDIM CAMBURI|MARIA ORTIZ|CENTRO; Scholarship: 0*9|1; Hipertension: 0*4|1; Diabetes: 0*12|1;
        Alcoholism: 0*30|1; Handcap: 0*40|1; SMS_received: 0*2|1; No-show: No*4|Yes""",
        "No-show",
        ("No",),
        ("Gender",),
    ),
    "small business loans": Likeness(
        """LoanNr_ChkDgt: #10; Name: @; City: LOS ANGELES|HOUSTON|CHICAGO; State: CA|TX|NY; Zip: 1001..99999; Bank:
        BANK OF AMERICA|WELLS FARGO; NAICS: 0..928120; ApprovalDate: 28-Feb-97|7-Mar-06|30-Apr-04; ApprovalFY:
        1989..2014; Term: 0..300; NoEmp: 0..90; NewExist: 1*7|2*3; CreateJob: 0..20; RetainedJob: 0..40;
        FranchiseCode: 0|1; UrbanRural: 0|1|2; RevLineCr: N*5|Y*3|0; LowDoc: N*9|Y; DisbursementGross:
        $60,000.00|$40,000.00|$287,000.00; MIS_Status: P I F*5|CHGOFF; ChgOffPrinGr: $0.00*5|$208,959.00; GrAppv:
        $60,000.00|$40,000.00|$287,000.00|$35,000.00; SBA_Appv:
        $48,000.00|$32,000.00|$215,250.00|$28,000.00|$12,750.00|$17,500.00""",
        "MIS_Status",
        ("P I F",),
        (),
    ),
    "diabetes indicators": Likeness(
        """Diabetes_binary: 0*6|1; HighBP: 0|1; HighChol: 0|1; CholCheck: 1*25|0; BMI: 12..60; Smoker: 0|1; Stroke:
        0*24|1; HeartDiseaseorAttack: 0*9|1; PhysActivity: 1*3|0; Fruits: 1|0; HvyAlcoholConsump: 0*19|1;
        AnyHealthcare: 1*19|0; NoDocbcCost: 0*11|1; GenHlth: 1..5; MentHlth: 0..30; PhysHlth: 0..30; DiffWalk:
        0*5|1; Sex: 0|1; Age: 1..13; Education: 1..6; Income: 1..8""",
        "Diabetes_binary",
        ("0",),
        ("Sex",),
    ),
    "kidney disease": Likeness(
        """id: #; age: 2..90?; bp: 50..110?; sg: 1.005|1.010|1.015|1.020|1.025; al: 0..5?; su: 0..5?; rbc:
        normal*4|abnormal?; pc: normal*3|abnormal?; bgr: 22..490?; bu: 1.5..391.0?; sc: 0.4..15.0?; hemo:
        3.1..17.8?; htn: yes*4|no*6; dm: no*6|yes*4; cad: no*9|yes; appet: good*4|poor; pe: no*4|yes; ane: no*6|yes;
        classification: ckd*6|notckd*4""",
        "classification",
        ("notckd",),
        ("age",),
    ),
    "job applications": Likeness(
        """Applicant ID: #6; Date applied: day; Gender: W|M|D; Nationality: German*7|Turkish|Polish; Degree:
        MSc|BSc|PhD; Years of experience: 0..30; Test result: 20..100; Referred: no*5|yes; Interviewer: A|B|C|D;
        Shortlisted: no*3|yes""",
        "Shortlisted",
        ("yes",),
        ("Gender", "Nationality"),
    ),
    "university admissions": Likeness(
        """Year: 2019|2020|2021; Faculty: A|B|C|D|E|F; Gender: Men|Women; Home region: 1..9; Entry points: 40..160;
        Decision: Rejected*6|Admitted*4""",
        "Decision",
        ("Admitted",),
        ("Gender",),
    ),
}

# Those that showed on 18 November 2026 how often a guess about a new file is wrong.
SEEN |= {
    "thyroid": Likeness(
        """age: 1..94; sex: F*2|M?; on thyroxine: f*8|t; query on thyroxine: f*50|t; sick: f*25|t; pregnant: f*60|t;
        thyroid surgery: f*60|t; goitre: f*90|t; tumor: f*40|t; TSH: 0.00..20.00?; T3: 0.0..10.0?; TT4: 2..430?;
        FTI: 2..395?; referral source: other|SVI|SVHC; Class: negative*15|sick""",
        "Class",
        ("negative",),
        ("sex",),
    ),
    "Framingham": Likeness(
        """male: 0|1; age: 32..70; education: 1..4?; currentSmoker: 0|1; cigsPerDay: 0..60?; BPMeds: 0*30|1?;
        prevalentStroke: 0*90|1; prevalentHyp: 0*2|1; diabetes: 0*30|1; totChol: 107..600?; sysBP: 83.5..295.0;
        diaBP: 48.0..142.5; BMI: 15.54..56.80; heartRate: 44..143; glucose: 40..394?; TenYearCHD: 0*6|1""",
        "TenYearCHD",
        ("0",),
        ("male",),
    ),
    "vehicle loans": Likeness(
        """UniqueID: #6; disbursed_amount: 13320..990572; asset_cost: 37000..1628992; ltv: 10.03..95.00; branch_id:
        1..261; supplier_id: 10524..24803; manufacturer_id: 45|48|51|86; Date.of.Birth: day; Employment.Type: Self
        employed|Salaried?; DisbursalDate: day; State_ID: 1..22; Aadhar_flag: 1*5|0; PERFORM_CNS.SCORE: 0..890;
        PRI.NO.OF.ACCTS: 0..50; PRI.OVERDUE.ACCTS: 0..5; NO.OF_INQUIRIES: 0..6; loan_default: 0*4|1""",
        "loan_default",
        ("0",),
        (),
    ),
    "payments": Likeness(
        """step: 1..743; type: CASH_OUT|PAYMENT|TRANSFER|DEBIT; amount: 1.00..90000.00; nameOrig: @; oldbalanceOrg:
        0.00..90000.00; newbalanceOrig: 0.00..90000.00; nameDest: @; oldbalanceDest: 0.00..90000.00; isFraud:
        0*30|1; isFlaggedFraud: 0*90|1""",
        "isFraud",
        ("0",),
        (),
    ),
    "school behaviour": Likeness(
        """gender: M*6|F*4; NationalITy: KW|Jordan|Palestine|Iraq; PlaceofBirth: KuwaIT|Jordan|Iraq; StageID:
        lowerlevel|MiddleSchool|HighSchool; GradeID: G-02|G-07|G-08; SectionID: A|B|C; Topic: IT|Math|Arabic;
        Semester: F|S; Relation: Father|Mum; raisedhands: 0..100; VisITedResources: 0..99; AnnouncementsView: 0..98;
        Discussion: 1..99; ParentAnsweringSurvey: Yes|No; ParentschoolSatisfaction: Good|Bad; StudentAbsenceDays:
        Under-7|Above-7; Class: M*4|H*3|L*3""",
        "Class",
        ("H",),
        ("gender",),
    ),
    "autism screening": Likeness(
        """A1_Score: 0|1; A2_Score: 0|1; A3_Score: 0|1; A9_Score: 0|1; A10_Score: 0|1; age: 17..64?; gender: f|m;
        ethnicity: White-European*3|Asian*2|Middle Eastern|?; jundice: no*9|yes; austim: no*7|yes; contry_of_res:
        United States|New Zealand|India; used_app_before: no*60|yes; result: 0..10; age_desc: 18 and more; relation:
        Self*6|Parent|Relative|?; Class/ASD: NO*3|YES""",
        "Class/ASD",
        ("NO",),
        ("gender", "ethnicity"),
    ),
    "bail hearings": Likeness(
        """case_id: #7; hearing_date: day; court: A|B|C; defendant_age: 18..70; defendant_gender: male*8|female*2;
        charge_degree: misdemeanor|felony; prior_convictions: 0..12; prior_failure_to_appear: 0*4|1; has_counsel:
        yes*3|no; bail_granted: yes*6|no*4""",
        "bail_granted",
        ("yes",),
        ("defendant_gender",),
    ),
    "intensive care": Likeness(
        """subject_id: #5; hadm_id: #6; admittime: day; admission_type: EMERGENCY*8|ELECTIVE|URGENT; insurance:
        Medicare*5|Private*3|Medicaid; marital_status: MARRIED|SINGLE|WIDOWED?; ethnicity: WHITE*7|BLACK/AFRICAN
        AMERICAN|UNKNOWN/NOT SPECIFIED; gender: M|F; age: 16..89; heartrate_max: 60..180; sysbp_min: 40..140;
        creatinine_max: 0.1..10.0; lactate_max: 0.5..15.0?; sofa: 0..20; los_icu: 0.10..30.00; hospital_expire_flag:
        0*9|1""",
        "hospital_expire_flag",
        ("0",),
        ("ethnicity", "gender"),
    ),
    "staff turnover": Likeness(
        """satisfaction_level: 0.09..1.00; last_evaluation: 0.36..1.00; number_project: 2..7; average_montly_hours:
        96..310; time_spend_company: 2..10; Work_accident: 0*6|1; left: 0*3|1; promotion_last_5years: 0*40|1; sales:
        sales|technical|support|IT; salary: low|medium|high""",
        "left",
        ("0",),
        (),
    ),
    "visa applications": Likeness(
        """case_id: @; continent: Asia*6|Europe*2|North America*2|Africa; education_of_employee:
        Bachelor's|Master's|High School|Doctorate; has_job_experience: Y*6|N*4; requires_job_training: N*9|Y;
        no_of_employees: 15..9000; yr_of_estab: 1850..2016; region_of_employment: South|West|Midwest;
        prevailing_wage: 100.00..200000.00; unit_of_wage: Year*9|Hour; full_time_position: Y*9|N; case_status:
        Certified*2|Denied""",
        "case_status",
        ("Certified",),
        (),
    ),
}

# Real files on which the guesses were wrong, or on which a denial was called the better outcome.
SEEN |= {
    "Toronto arrests": Likeness(
        """released: Yes*5|No; colour: White*3|Black; year: 1997..2002; age: 12..66; sex: Male*10|Female; employed:
        Yes*4|No; citizen: Yes*6|No; checks: 0..6""",
        "released",
        ("Yes",),
        ("colour", "sex"),
    ),
    "resume audit": Likeness(
        """job_ad_id: 1..400; job_city: Chicago|Boston; job_industry: manufacturing|business_and_personal_service|other;
        job_type: secretary|sales_rep|supervisor; job_fed_contractor: 0*8|1?; job_equal_opp_employer: 0*7|1*3;
        job_ownership: unknown|nonprofit|private|public; job_req_any: 1*8|0*2; received_callback: 0*11|1; firstname:
        Allison|Kristen|Lakisha|Latonya|Jamal|Brad; race: white|black; gender: f*3|m; years_college: 0..4;
        college_degree: 1*7|0*3; honors: 0*19|1; worked_during_school: 1|0; years_experience: 1..26; computer_skills:
        1*8|0*2; special_skills: 0*7|1*3; volunteer: 0*6|1*4; military: 0*9|1; employment_holes: 0|1;
        has_email_address: 0|1; resume_quality: low|high""",
        "received_callback",
        ("1",),
        ("race", "gender"),
    ),
    "law school, raw": Likeness(
        """ID: #5; decile1b: 1..10; decile3: 1..10; college: 1..6?; sex: 1|2; race: 7*8|3|1|5; cluster: 1..6; lsat:
        11.0..48.0; ugpa: 1.5..4.0; zfygpa: -3.00..3.00; DOB_yr: 40..70; grad: Y*9|X|O; zgpa: -3.00..3.00; bar1:
        P*9|F; bar1_yr: 92..94; bar2: a*9|P|F; bar2_yr: 92..95?; fulltime: 1*9|2; fam_inc: 1..5; age: -70..-40; gender:
        male|female; parttime: 0*9|1; male: 0|1; race1: white*8|black|hisp|asian; tier: 1..6;
        index6040: 200.0..1000.0""",
        "bar1",
        ("P",),
        ("sex", "race", "gender", "male", "race1"),
    ),
    "Boston mortgages": Likeness(
        """deny: no*7|yes; pirat: 0.10..1.00; hirat: 0.10..0.60; lvrat: 0.20..1.50; chist: 1..6; mhist: 1..4; phist:
        no*12|yes; unemp: 1.8..10.6; selfemp: no*8|yes; insurance: no*48|yes; condomin: no*3|yes; afam: no*6|yes;
        single: no*3|yes*2; hschool: yes*60|no""",
        "deny",
        ("no",),
        ("afam", "single"),
    ),
    "attrition with a damaged cell": Likeness(
        """Age: 18..60; Attrition: No*160|Yes*32|Y\ufffds; BusinessTravel:
        Travel_Rarely*7|Travel_Frequently*2|Non-Travel; DailyRate: 102..1499;
        Department: Sales*3|Research & Development*6|Human Resources; DistanceFromHome: 1..29;
        Education: 1..5; EmployeeCount: 1; Gender: Male*6|Female*4; JobSatisfaction: 1..4; MaritalStatus:
        Married|Single|Divorced; MonthlyIncome: 1009..19999; OverTime: No*7|Yes*3; PerformanceRating: 3*5|4;
        TotalWorkingYears: 0..40; YearsAtCompany: 0..20""",
        "Attrition",
        ("No",),
        ("Gender",),
    ),
    "compas, scores": Likeness(
        """Person_ID: #5; AssessmentID: #5; Agency_Text: PRETRIAL*6|Probation*4; Sex_Code_Text: Male*4|Female;
        Ethnic_Code_Text: African-American*5|Caucasian*4|Hispanic; ScaleSet: Risk and Prescreen; AssessmentReason:
        Intake; Language: English*99|Spanish; LegalStatus: Pretrial*6|Post Sentence*4; MaritalStatus:
        Single*7|Married|Divorced; RecSupervisionLevel: 1..4; RawScore: -3.00..3.00; DecileScore: 1..10; ScoreText:
        Low*6|Medium*3|High; is_recid: 0*2|1""",
        "is_recid",
        ("0",),
        ("Sex_Code_Text", "Ethnic_Code_Text"),
    ),
    "benefit decisions": Likeness(
        """case: #6; age: 18..80; origin: domestic*6|EU*2|other*2; household: 1..6; rent: 300..1500; months_waited:
        0..24; decision: granted*6|refused*4""",
        "decision",
        ("granted",),
        ("origin",),
    ),
    "children at risk": Likeness(
        """child_no: #6; age: 0..17; ethnicity: White*6|Black*2|Asian|Mixed; referrals: 0..8; household_size: 2..8;
        score: 1..20; removed_from_home: 0*9|1""",
        "removed_from_home",
        ("0",),
        ("ethnicity",),
    ),
    "births": Likeness(
        """rownames: #; fage: 15..60?; mage: 14..47; mature: younger mom*5|mature mom; weeks: 24..44; premie: full
        term*8|premie; visits: 0..30; gained: 0..90?; weight: 1.50..11.00; lowbirthweight: not low*9|low; sex:
        male|female; habit: nonsmoker*8|smoker; marital: married*6|not married*4; whitemom: white*7|not white*3""",
        "lowbirthweight",
        ("not low",),
        ("sex", "whitemom"),
    ),
    "Canadian election study": Likeness(
        """rownames: #; id: #4; province: ON|QC|BC|AB; population: 600000..9400000; weight: 500.00..9000.00; gender:
        Female|Male; abortion: No*4|Yes; importance: somewhat|not|very|notvery; education: HS|college|bachelors; urban:
        urban*3|rural""",
        "abortion",
        ("No", "Yes"),
        ("gender",),
    ),
}
