"""Tables that may not shape the guessing rules: chosen by name before the rules were changed, written after.

Whoever changes `commod/datasets/roles.py` for what one of these shows moves it to `likenesses.py` first, and finds a
new one for its place.
"""

from tests.datasets.likenesses import Likeness

NAMES = (
    "airline satisfaction",
    "insurance fraud",
    "hepatitis",
    "bike buyers",
    "mental health in tech",
    "unemployment benefits",
    "women at work",
    "credit card holders",
    "Berkeley admissions",
    "cirrhosis",
    "maternal health",
    "obesity levels",
    "student depression",
    "bank account fraud",
    "Prosper loans",
    "flu vaccine",
    "ACS employment",
    "traffic stops",
    "employees who leave",
    "nursery applications",
    "death penalty",
    "Covid patients in Mexico",
)

HELD_OUT = {
    "airline satisfaction": Likeness(
        """id: #6; Gender: Male|Female; Customer Type: Loyal Customer*8|disloyal Customer*2; Age: 7..85; Type of Travel:
        Business travel*7|Personal Travel*3; Class: Business|Eco|Eco Plus; Flight Distance: 31..4983; Inflight wifi
        service: 0..5; Departure/Arrival time convenient: 0..5; Ease of Online booking: 0..5; Gate location: 1..5; Food
        and drink: 0..5; Online boarding: 0..5; Seat comfort: 1..5; On-board service: 1..5; Cleanliness: 1..5;
        Departure Delay in Minutes: 0..200; Arrival Delay in Minutes: 0..200?; satisfaction: neutral or
        dissatisfied*6|satisfied*4""",
        "satisfaction",
        ("satisfied",),
        ("Gender",),
    ),
    "insurance fraud": Likeness(
        """months_as_customer: 0..479; age: 19..64; policy_number: #6; policy_bind_date: day; policy_state: OH|IN|IL;
        policy_csl: 250/500|100/300|500/1000; policy_deductable: 500|1000|2000; policy_annual_premium: 433.33..2047.59;
        umbrella_limit: 0*8|5000000|6000000; insured_zip: #6; insured_sex: FEMALE|MALE; insured_education_level:
        JD|High School|Associate|MD|Masters|PhD|College; insured_occupation: craft-repair|sales|tech-support;
        insured_relationship: own-child|husband|wife|unmarried; capital-gains: 0..90000; capital-loss: -90000..0;
        incident_date: day; incident_type: Multi-vehicle Collision|Single Vehicle Collision|Vehicle Theft;
        incident_severity: Minor Damage|Total Loss|Major Damage|Trivial Damage; authorities_contacted:
        Police|Fire|Other|Ambulance; bodily_injuries: 0..2; witnesses: 0..3; police_report_available: ?|NO|YES;
        total_claim_amount: 100..114920; auto_make: Saab|Dodge|Suburu; auto_year: 1995..2015; fraud_reported: N*3|Y""",
        "fraud_reported",
        ("N",),
        ("insured_sex",),
    ),
    "hepatitis": Likeness(
        """AGE: 7..78; SEX: male*9|female; STEROID: no|yes; ANTIVIRALS: no*6|yes; FATIGUE: yes*2|no;
        MALAISE: no*3|yes*2; ANOREXIA: no*4|yes; LIVER_BIG: yes*5|no; LIVER_FIRM: no|yes; SPLEEN_PALPABLE: no*4|yes;
        SPIDERS: no*2|yes; ASCITES: no*7|yes; VARICES: no*8|yes; BILIRUBIN: 0.3..8.0?; ALK_PHOSPHATE: 26..295?;
        SGOT: 14..648; ALBUMIN: 2.1..6.4; PROTIME: 0..100?; HISTOLOGY: no|yes; Class: LIVE*4|DIE""",
        "Class",
        ("LIVE",),
        ("SEX",),
    ),
    "bike buyers": Likeness(
        """ID: #5; Marital Status: Married|Single; Gender: Female|Male; Income: 10000..170000; Children: 0..5;
        Education: Bachelors|Partial College|High School|Graduate Degree; Occupation:
        Professional|Skilled Manual|Clerical|Management|Manual; Home Owner: Yes*7|No*3; Cars: 0..4; Commute Distance:
        0-1 Miles|1-2 Miles|2-5 Miles|5-10 Miles|10+ Miles; Region: Europe|Pacific|North America; Age: 25..89;
        Purchased Bike: No|Yes""",
        "Purchased Bike",
        ("Yes",),
        ("Gender",),
    ),
    "mental health in tech": Likeness(
        """Timestamp: day; Age: 18..65; Gender: Male*7|male*3|Female*3|M|F; Country: United States*6|United
        Kingdom*2|Canada|Germany; state: CA|WA|NY|TN?; self_employed: No*8|Yes?; family_history: No*6|Yes*4; treatment:
        Yes|No; work_interfere: Sometimes|Never|Rarely|Often?; no_employees: 1-5|6-25|26-100|100-500|More than 1000;
        remote_work: No*7|Yes*3; tech_company: Yes*8|No*2; benefits: Yes|Don't know|No; care_options: No|Yes|Not sure;
        wellness_program: No*7|Yes*2|Don't know; seek_help: No|Don't know|Yes; anonymity: Don't know*6|Yes*3|No; leave:
        Don't know|Somewhat easy|Very easy|Somewhat difficult|Very difficult; mental_health_consequence: No|Maybe|Yes;
        coworkers: Some of them|No|Yes; supervisor: Yes|No|Some of them; obs_consequence: No*6|Yes""",
        "treatment",
        ("Yes",),
        ("Gender",),
    ),
    "unemployment benefits": Likeness(
        """stateur: 2.2..18.0; statemb: 84..293; state: 11..95; age: 20..61; tenure: 1..40; joblost:
        slack_work*5|other*3|position_abolished|seasonal_job_ended; nwhite: no*6|yes; school12: no*8|yes*2; sex:
        male*3|female; bluecol: yes*3|no*2; smsa: yes*7|no*3; married: yes*6|no*4; dkids: no|yes; dykids: no*4|yes;
        yrdispl: 1..10; rr: 0.01..0.69; head: yes*7|no*3; ui: yes*2|no""",
        "ui",
        ("yes",),
        ("sex", "nwhite"),
    ),
    "women at work": Likeness(
        """participation: yes*6|no*4; hours: 0..4950; youngkids: 0..3; oldkids: 0..8; age: 30..60; education: 5..17;
        wage: 0.00..25.00; repwage: 0.00..9.98; hhours: 175..5010; hage: 30..60; heducation: 3..17; hwage: 0.41..40.50;
        fincome: 1500..96000; tax: 0.44..0.94; meducation: 0..17; feducation: 0..17; unemp: 3.0..14.0; city: yes*6|no*4;
        experience: 0..45; college: no*7|yes*3; hcollege: no*6|yes*4""",
        "participation",
        ("yes",),
        (),
    ),
    "credit card holders": Likeness(
        """card: yes*8|no*2; reports: 0..14; age: 18.00..83.00; income: 0.21..13.50; share: 0.00..0.91; expenditure:
        0.00..3100.00; owner: no*6|yes*4; selfemp: no*14|yes; dependents: 0..6; months: 0..540; majorcards: 0*2|1*8;
        active: 0..46""",
        "card",
        ("yes",),
        ("age",),
    ),
    "Berkeley admissions": Likeness(
        "Year: 1973; Major: F|C|B|A|D|E|Other; Gender: M*2|F; Admission: Rejected*6|Accepted*4",
        "Admission",
        ("Accepted",),
        ("Gender",),
    ),
    "cirrhosis": Likeness(
        """ID: #; N_Days: 41..4795; Status: C*23|D*16|CL*3; Drug: D-penicillamine|Placebo?; Age: 9598..28650;
        Sex: F*8|M; Ascites: N*12|Y?; Hepatomegaly: Y|N?; Spiders: N*2|Y?; Edema: N*8|S|Y; Bilirubin: 0.3..28.0;
        Cholesterol: 120..1775?; Albumin: 1.96..4.64; Copper: 4..588?; Alk_Phos: 289.0..13862.4?; SGOT: 26.35..457.25?;
        Tryglicerides: 33..598?; Platelets: 62..721?; Prothrombin: 9.0..18.0; Stage: 1..4""",
        "Status",
        ("C",),
        ("Sex",),
    ),
    "maternal health": Likeness(
        """Age: 10..70; SystolicBP: 70..160; DiastolicBP: 49..100; BS: 6.0..19.0; BodyTemp: 98.0..103.0;
        HeartRate: 7..90; RiskLevel: low risk*4|mid risk*3|high risk*3""",
        "RiskLevel",
        ("low risk", "mid risk"),
        ("Age",),
    ),
    "obesity levels": Likeness(
        """Gender: Male|Female; Age: 14.00..61.00; Height: 1.45..1.98; Weight: 39.00..173.00;
        family_history_with_overweight: yes*8|no*2; FAVC: yes*9|no; FCVC: 1..3; NCP: 1..4; CAEC:
        Sometimes*8|Frequently|Always|no; SMOKE: no*48|yes; CH2O: 1..3; SCC: no*21|yes; FAF: 0..3; TUE: 0..2; CALC:
        Sometimes*7|no*3|Frequently; MTRANS: Public_Transportation*7|Automobile*2|Walking; NObeyesdad:
        Normal_Weight|Overweight_Level_I|Overweight_Level_II|Obesity_Type_I|Insufficient_Weight|Obesity_Type_II""",
        "NObeyesdad",
        ("Normal_Weight",),
        ("Gender",),
    ),
    "student depression": Likeness(
        """id: #6; Gender: Male|Female; Age: 18..34; City: Kalyan|Srinagar|Hyderabad|Lucknow; Profession: Student;
        Academic Pressure: 1..5; Work Pressure: 0; CGPA: 5.00..10.00; Study Satisfaction: 1..5; Job Satisfaction: 0;
        Sleep Duration: Less than 5 hours|7-8 hours|5-6 hours|More than 8 hours; Dietary Habits:
        Unhealthy|Moderate|Healthy; Degree: B.Ed|BSc|BCA|Class 12; Have you ever had suicidal thoughts ?: Yes*6|No*4;
        Work/Study Hours: 0..12; Financial Stress: 1..5; Family History of Mental Illness: No|Yes; Depression:
        1*6|0*4""",
        "Depression",
        ("0",),
        ("Gender",),
    ),
    "bank account fraud": Likeness(
        """fraud_bool: 0*60|1; income: 0.1..0.9; name_email_similarity: 0.00..1.00; prev_address_months_count: -1..300;
        current_address_months_count: 0..400; customer_age: 10|20*3|30*3|40*2|50|60; days_since_request: 0.00..70.00;
        intended_balcon_amount: -10.00..110.00; payment_type: AB*4|AA*3|AC*2|AD; zip_count_4w: 1..6500; velocity_6h:
        0.00..16000.00; bank_branch_count_8w: 0..2000; date_of_birth_distinct_emails_4w: 0..35; employment_status:
        CA*7|CB|CF|CC; credit_risk_score: -170..380; email_is_free: 1|0; housing_status: BC*4|BB*3|BA*2|BE;
        phone_home_valid: 0*6|1*4; phone_mobile_valid: 1*9|0; bank_months_count: -1..32; has_other_cards: 0*8|1*2;
        proposed_credit_limit: 200.00..2000.00; foreign_request: 0*40|1; source: INTERNET*99|TELEAPP;
        session_length_in_minutes: 0.00..80.00; device_os: other|linux|windows|macintosh; keep_alive_session: 1*6|0*4;
        device_distinct_emails_8w: 0..2; device_fraud_count: 0; month: 0..7""",
        "fraud_bool",
        ("0",),
        ("customer_age",),
    ),
    "Prosper loans": Likeness(
        """ListingKey: @; ListingNumber: #7; ListingCreationDate: day; CreditGrade: C|D|B|AA?; Term: 36*7|60*3|12;
        LoanStatus: Current*5|Completed*4|Chargedoff|Defaulted; ClosedDate: day?; BorrowerAPR: 0.0100..0.5000;
        BorrowerRate: 0.0000..0.5000; EstimatedReturn: -0.1800..0.2800?; ProsperRating (Alpha): C|B|A|D|E|HR?;
        ProsperScore: 1..11?; ListingCategory (numeric): 0..20; BorrowerState: CA|NY|TX|FL?; Occupation:
        Other|Professional|Teacher|Clerical?; EmploymentStatus: Employed*7|Full-time*3|Self-employed|Not employed;
        IsBorrowerHomeowner: True|False; CurrentlyInGroup: False*9|True; CreditScoreRangeLower: 520..880;
        DelinquenciesLast7Years: 0..50; IncomeRange: $25,000-49,999|$50,000-74,999|$100,000+; IncomeVerifiable:
        True*12|False; StatedMonthlyIncome: 0.00..20000.00; LoanOriginalAmount: 1000..35000; Investors: 1..500""",
        "LoanStatus",
        ("Current", "Completed"),
        (),
    ),
    "flu vaccine": Likeness(
        """respondent_id: #; h1n1_concern: 0..3; h1n1_knowledge: 0..2; behavioral_antiviral_meds: 0*19|1;
        behavioral_face_mask: 0*13|1; doctor_recc_h1n1: 0*4|1?; chronic_med_condition: 0*3|1; health_worker: 0*8|1;
        health_insurance: 1*7|0?; opinion_h1n1_vacc_effective: 1..5; opinion_h1n1_risk: 1..5; age_group: 65+ Years|55 -
        64 Years|45 - 54 Years|18 - 34 Years; education: College Graduate|Some College|12 Years|< 12 Years; race:
        White*8|Black|Hispanic|Other or Multiple; sex: Female*6|Male*4; income_poverty: <= $75,000, Above Poverty|>
        $75,000|Below Poverty?; marital_status: Married|Not Married; rent_or_own: Own*3|Rent; employment_status:
        Employed|Not in Labor Force|Unemployed; census_msa: MSA, Not Principle City|MSA, Principle City|Non-MSA;
        household_adults: 0..3; household_children: 0..3; h1n1_vaccine: 0*4|1""",
        "h1n1_vaccine",
        ("1",),
        ("race", "sex"),
    ),
    "ACS employment": Likeness(
        """AGEP: 0..95; SCHL: 1..24; MAR: 5*4|1*4|3|2; RELP: 0..17; DIS: 2*6|1; ESP: 1..8?; CIT: 1*8|4|5; MIG: 1*9|3;
        MIL: 4*9|2?; ANC: 1..4; NATIVITY: 1*8|2; DEAR: 2*25|1; DEYE: 2*40|1; DREM: 2*15|1; SEX: 1|2; RAC1P:
        1*7|2|6|8|9; ESR: 1*5|6*4|3?""",
        "ESR",
        ("1",),
        ("SEX", "RAC1P"),
    ),
    "traffic stops": Likeness(
        """raw_row_number: #; date: day; location: @; lat: 25.80..36.50; lng: -106.60..-93.50; county_name: Harris
        County|Bexar County|Dallas County; district: A|B|C; precinct: 1..12; region: 1..6; subject_race:
        white*5|hispanic*3|black|asian/pacific islander|unknown; subject_sex: male*2|female; officer_id_hash: @; type:
        vehicular; violation: Speeding|No Insurance|Equipment; citation_issued: FALSE*6|TRUE*4; warning_issued:
        TRUE*6|FALSE*4; outcome: warning*6|citation*4; contraband_found: FALSE|TRUE?; search_conducted: FALSE*40|TRUE;
        search_vehicle: FALSE*50|TRUE; vehicle_color: white|black|silver; vehicle_make: FORD|CHEV|TOYT; vehicle_year:
        1985..2018""",
        "outcome",
        ("warning",),
        ("subject_race", "subject_sex"),
    ),
    "employees who leave": Likeness(
        """Education: Bachelors*7|Masters*2|PHD; JoiningYear: 2012..2018; City: Bangalore*5|Pune*3|New Delhi*2;
        PaymentTier: 3*7|2*2|1; Age: 22..41; Gender: Male*6|Female*4; EverBenched: No*9|Yes; ExperienceInCurrentDomain:
        0..7; LeaveOrNot: 0*2|1""",
        "LeaveOrNot",
        ("0",),
        ("Gender",),
    ),
    "nursery applications": Likeness(
        """parents: usual|pretentious|great_pret; has_nurs: proper|less_proper|improper|critical|very_crit; form:
        complete|completed|incomplete|foster; children: 1|2|3|more; housing: convenient|less_conv|critical; finance:
        convenient|inconv; social: nonprob|slightly_prob|problematic; health: recommended|priority|not_recom; class:
        not_recom*3|priority*3|spec_prior*3|very_recom""",
        "class",
        ("priority", "spec_prior", "very_recom"),
        (),
    ),
    "death penalty": Likeness(
        """death: 0|1; blkdef: 1|0; whtvict: 1*3|0; aggcirc: 1..6; fevict: 0*6|1*4; stranger: 0*6|1*4; multvic: 0*8|1*2;
        multstab: 0*8|1*2; yngvict: 0*9|1""",
        "death",
        ("0",),
        ("blkdef",),
    ),
    "Covid patients in Mexico": Likeness(
        """USMER: 2*2|1; MEDICAL_UNIT: 1..13; SEX: 1|2; PATIENT_TYPE: 1*4|2; DATE_DIED: day; INTUBED: 97*4|2|1|99;
        PNEUMONIA: 2*6|1|99; AGE: 0..100; PREGNANT: 97|2|98|1; DIABETES: 2*7|1|98; COPD: 2*60|1|98; ASTHMA: 2*30|1|98;
        INMSUPR: 2*60|1; HIPERTENSION: 2*6|1; OTHER_DISEASE: 2*40|1; CARDIOVASCULAR: 2*50|1; OBESITY: 2*6|1;
        RENAL_CHRONIC: 2*50|1; TOBACCO: 2*11|1; CLASIFFICATION_FINAL: 1..7; ICU: 97*8|2*2|1""",
        "ICU",
        ("2",),
        ("SEX",),
    ),
}
