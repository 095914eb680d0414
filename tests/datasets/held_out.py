"""Tables that may not shape the guessing rules: chosen by name before the rules were changed, written after.

Whoever changes `commod/datasets/roles.py` for what one of these shows moves it to `likenesses.py` first, and finds a
new one for its place.
"""

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

# To be written when the rules are made.
HELD_OUT = {}
