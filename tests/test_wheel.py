"""The wheel, used from an empty folder: the app with its config, data and pages, the commands, and the library alone.

The environments here hold the wheel and links to the packages that its metadata ask for, and to no other: nothing is
fetched, and what the metadata forget is missing. The slow tests install everything with pip.
"""

import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.request
import venv
import zipfile
from contextlib import contextmanager
from importlib.metadata import Distribution, distribution
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
from packaging.metadata import Metadata
from packaging.requirements import Requirement

from commod.cli import main
from commod.dashboard.server.headers import headers
from tests.browsing import ROOT, helpers_of, running, serve
from tests.dependencies import lowest
from tests.waiting import wait_until
from tests.wire import Wire

pytestmark = pytest.mark.posix

# What the library must do without.
APP = ("streamlit", "torch", "altair", "shap", "jinja2", "PIL", "starlette", "vl_convert", "distributed")


def own_files(folder):
    """Files of the checkout, but for what running it leaves behind: caches, and results that were made here."""
    names = [path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [name for name in names if not re.search(r"__pycache__|results/(.*-.*\.parquet|.*\.jsonl)$", name)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "-w", str(folder), str(ROOT)], check=True)
    return next(folder.glob("*.whl"))


def wanted(distribution_, extras, found):
    """Names of all distributions that one needs with some extras, read from the metadata of each."""
    for text in distribution_.requires or []:
        requirement = Requirement(text)
        markers = [{"extra": extra} for extra in ("", *extras)]
        if requirement.marker and not any(requirement.marker.evaluate(marker) for marker in markers):
            continue
        if requirement.name not in found:
            found.add(requirement.name)
            wanted(distribution(requirement.name), requirement.extras, found)
    return found


def install(wheel, folder, extras):
    """An environment with the wheel and what it needs; the folder of its commands."""
    venv.create(folder, with_pip=False)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index"]
    subprocess.run([*pip, str(wheel)], check=True)
    site = next((folder / "lib").glob("python*/site-packages"))
    installed = Distribution.at(next(site.glob("commod_explorer-*.dist-info")))
    for name in wanted(installed, extras, set()):
        needed = distribution(name)
        for top in {file.parts[0] for file in needed.files} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(needed.locate_file(top))
    return folder / "bin"


@pytest.fixture(scope="module")
def library(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("library"), [])


@pytest.fixture(scope="module")
def app(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("app"), ["app"])


@pytest.fixture
def folder(tmp_path):
    """A folder with nothing of ours in it, but what a worker would trip over if it imported from there."""
    for name in ("commod", "numpy", "pandas", "app"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('imported from the folder of the user')")
    return tmp_path


def surroundings(folder):
    """Environment variables of somebody who has just installed it."""
    ours = ("COMMOD_", "PYTHON", "STREAMLIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | {"HOME": str(folder)}


def run(command, folder):
    return subprocess.run(
        [str(part) for part in command], cwd=folder, env=surroundings(folder), capture_output=True, text=True
    )


def run_python(bin_folder, code, folder):
    return run([bin_folder / "python", "-P", "-c", code], folder)


def test_all_that_is_needed_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
        moved = [*own_files("pages"), *own_files("data"), "app.py", ".streamlit/config.toml"]
        assert names == {*own_files("commod"), *(f"commod/explorer/{name}" for name in moved)}
        for name in moved:
            assert archive.read(f"commod/explorer/{name}") == (ROOT / name).read_bytes()


@pytest.mark.slow
def test_a_wheel_built_from_the_source_archive_is_the_same(wheel, tmp_path):
    """What `python -m build` does: the archive, and the wheel from what is in it."""
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path / "dist")]
    subprocess.run([*build, "-t", "sdist"], check=True, cwd=ROOT, capture_output=True)
    (archive,) = (tmp_path / "dist").glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        opened.extractall(tmp_path, filter="data")
    assert {"tests/test_wheel.py", "docs/methods.md", "LICENSE", "CITATION.cff", "PKG-INFO"} <= names
    assert not [name for name in names if re.search(r"(^|/)(\.venv|\.git|shared|__pycache__)/|\.jsonl$", name)]
    unpacked = tmp_path / archive.name.removesuffix(".tar.gz")
    subprocess.run([*build, "-t", "wheel"], check=True, cwd=unpacked, capture_output=True)
    (again,) = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as here, zipfile.ZipFile(again) as there:
        assert {each.filename: each.CRC for each in here.infolist()} == {
            each.filename: each.CRC for each in there.infolist()
        }
    for path in (wheel, again):
        with zipfile.ZipFile(path) as opened:
            (place,) = (name for name in opened.namelist() if name.endswith(".dist-info/METADATA"))
            found = Metadata.from_email(opened.read(place), validate=True)  # what an index refuses is refused here
        assert found.description_content_type == "text/markdown"
        assert found.description == (ROOT / "README.md").read_text()


@pytest.mark.slow  # the workflow installs the wheel for each change
def test_the_library_works_alone_and_says_what_needs_more(library, folder):
    code = f"""
import sys
from importlib.util import find_spec
assert not [name for name in {APP} if find_spec(name)]
import commod
from commod.models.competitors import overview
overview()
assert "fairlearn" not in sys.modules  # which a method imports when it is asked for
from commod.metrics import p_rule
from commod.models.competitors import make_method
from sklearn.linear_model import LogisticRegression
task = commod.load_task("law_school")
train, test = task.split(seed=0)
f = task.base_model(LogisticRegression()).fit(train.X, train.y)
g = commod.Commod(f, lambda_fair=2.0).fit(train.X, train.y, sensitive_features=train.sensitive)
frame = commod.evaluate(task, f, g, test)
assert frame.loc["p_rule", "g"] == p_rule(test.y, g.predict(test.X), sensitive_features=test.sensitive)
make_method("hardt", f, 1.0).fit(train.X, train.y, sensitive_features=train.sensitive)
print(commod.__file__)
def sentence(code):
    try:
        exec(code)
    except ImportError as error:
        print(error)
sentence("import commod.charts")
sentence("from commod.explain.shap_comparison import warm_up; warm_up()")
sentence("from commod.models.competitors import AdvDebias")
sentence("from commod.experiments import compare; compare('german', methods=['frappe'], n_jobs=1)")
sentence("from commod.experiments import run_grid; run_grid([], backend='dask')")
"""
    done = run_python(library, code, folder)
    assert done.returncode == 0, done.stderr
    place, *sentences = done.stdout.splitlines()
    assert Path(place).is_relative_to(library.parent)
    assert sentences == [
        f"{subject}, which is an optional extra: pip install 'commod-explorer[{extra}]'."
        for subject, extra in [
            ("commod.charts needs altair", "app"),
            ("A comparison with SHAP needs shap", "app"),
            ("AdvDebias needs torch", "torch"),
            ("FRAPPE needs torch", "torch"),
            ("The backend dask needs dask", "dask"),
        ]
    ]


@pytest.mark.slow
def test_the_command_gives_the_figures_of_the_checkout(library, folder, capsys):
    done = run([library / "commod", "fit", "law_school", "--json"], folder)
    assert done.returncode == 0, done.stderr
    assert main(["fit", "law_school", "--json"]) == 0
    here, there = json.loads(capsys.readouterr().out), json.loads(done.stdout)
    assert here.pop("fit_seconds") > 0
    assert there.pop("fit_seconds") > 0
    assert here == there


@pytest.mark.slow  # the library says the same sentences above
@pytest.mark.parametrize(
    ("command", "subject", "extra"),
    [
        ("commod fit german --solver adversarial", "solver='adversarial' needs torch", "torch"),
        ("commod-explorer", "COMMOD Explorer needs streamlit", "app"),
    ],
)
def test_a_command_that_needs_more_says_what_to_install(library, folder, command, subject, extra):
    name, *arguments = command.split()
    done = run([library / name, *arguments], folder)
    sentence = f"{name}: {subject}, which is an optional extra: pip install 'commod-explorer[{extra}]'.\n"
    assert (done.returncode, done.stderr) == (2, sentence)


def told(wire):
    """What a browser is told of the app: config, theme and pages."""
    session = next(message.new_session for message in wire.received if message.HasField("new_session"))
    pages = next(message.navigation.app_pages for message in wire.received if message.HasField("navigation"))
    return session.config, session.custom_theme, [(page.page_name, page.url_pathname) for page in pages]


@pytest.mark.slow
def test_the_installed_app_is_the_app(app, folder):
    quick = {"COMMOD_PROCESSES": "1", "COMMOD_WARM_UP": "0"}
    with running([str(app / "commod-explorer")], folder, surroundings(folder) | quick) as (address, server):
        with urllib.request.urlopen(f"{address}/lesson", timeout=20) as answer:
            assert dict(answer.headers).items() >= {name.lower(): value for name, value in headers().items()}.items()
        wire = Wire(address)
        assert wire.read(words="Decisions changed")  # one of the tiles
        config, theme, pages = told(wire)
        assert theme.light.primary_color == "#0060A0"
        assert len(pages) == 1 + len(own_files("pages"))
        # For settings, three behind them, two that train an f of somebody's, one that looks at it.
        wait_until(lambda: len(helpers_of(server.pid)) == 7)
        assert all(helper.status() != psutil.STATUS_ZOMBIE for helper in helpers_of(server.pid))
        wire.close()
        for page, words in [("data", "LSAC"), ("glossary", "P-Rule"), ("paper", "Table 1")]:
            wire_of_page = Wire(address, page=page)
            assert wire_of_page.read()
            assert words in wire_of_page.text
            wire_of_page.close()
        with serve() as checkout:
            other = Wire(checkout)
            assert other.read(words="Decisions changed")
            assert told(other) == (config, theme, pages)
            other.close()


@contextmanager
def fresh(*packages):
    """A new environment into which pip has installed packages with all that they need; the folder of its commands."""
    with TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        commands = Path(folder) / "bin"
        subprocess.run([commands / "pip", "install", "-q", *packages], check=True, cwd=folder)
        yield commands


@pytest.mark.slow
def test_pip_installs_the_app_at_the_versions_of_the_lock(wheel, folder):
    with fresh(f"{wheel}[app]", "-c", ROOT / "requirements.txt") as commands:
        assert run([commands / "pip", "check"], folder).returncode == 0
        fit = run([commands / "commod", "fit", "law_school", "--json"], folder)
        assert json.loads(fit.stdout)["dataset"] == "law_school"
        assert run_python(commands, "import commod; commod.load_task('law_school')", folder).returncode == 0
        with running([str(commands / "commod-explorer")], folder, surroundings(folder)) as (address, _):
            wire = Wire(address)
            assert wire.read(words="Decisions changed")
            wire.close()


@pytest.mark.slow
def test_the_lowest_versions_pass_the_tests(wheel, tmp_path):
    """Tests of the library, of Dask and of the Explore page, with the code of the checkout, which is the wheel's."""
    constraints = tmp_path / "lowest.txt"
    constraints.write_text("\n".join(lowest()))
    tests = "tests/metrics tests/models/test_estimator.py tests/test_cli.py tests/experiments/test_grid.py".split()
    tests.append("tests/dashboard/pages/test_pages.py")
    options = ["-q", "-o", "addopts=", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestRemovedIn10Warning"]
    # A polars of the time of the lowest scikit-learn, which finds no names in frames of a later one.
    tools = ["pytest", "hypothesis", "psutil", "playwright", "websockets", "polars==1.30.0"]
    with fresh(f"{wheel}[app,dask]", *tools, "-c", constraints) as commands:
        pytest_of_theirs = [commands / "python", "-m", "pytest", *options, "-m", "not slow"]
        subprocess.run([*pytest_of_theirs, *tests], check=True, cwd=ROOT)
