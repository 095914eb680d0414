"""Quick start: make a trained model fairer, see what it costs, and see why a decision changed.

Run from the repository with ``python -m examples.quick_start``, or from anywhere once the project is installed.
"""

from sklearn.linear_model import LogisticRegression

from commod import Commod, evaluate, load_task

# f predicts who passes the bar exam, and says "passes" of White students about four times as often as of others.
task = load_task("law_school")
train, test = task.split(seed=0)
f = task.base_model(LogisticRegression()).fit(train.X, train.y)

# The group is used here only: g.predict neither needs nor accepts it.
g = Commod(f, lambda_fair=2.0).fit(train.X, train.y, sensitive_features=train.sensitive)

figures = evaluate(task, f, g, test)
print("On people that neither model was trained on, with 95 % intervals:")
for name in ("accuracy", "p_rule", "change_rate"):
    of_f, of_g, low, high = figures.loc[name, ["f", "g", "g_low", "g_high"]]
    print(f"  {name:12} f {of_f:.3f}   g {of_g:.3f} [{low:.3f}, {high:.3f}]")

print("\nTwo concepts carry the change; a high value takes f's decision back:")
print(g.concepts_.round(2).to_string())

# Everything that leads from f's score to g's, for the first person whose decision changed.
changed = test.X[f.predict(test.X) != g.predict(test.X)]
print(f"\n{len(changed)} of {len(test.X)} decisions changed. The first of them:")
print(g.explain_prediction(changed.iloc[[0]])[["ratio", "logit", "logit_after"]].round(3).to_string())
