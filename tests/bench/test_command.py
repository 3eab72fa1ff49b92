"""`pullback bench` from the outside: what it lists, writes, compares and refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.bench import tiny

from pullback.bench.compare import compare
from pullback.bench.errors import BenchError
from pullback.bench.record import CaseRecord, Entry, Record, about, from_json, write
from pullback.bench.session import Options, Session
from pullback.bench.suite import find, shipped, suites_in
from pullback.bench.timing import Times, times
from pullback.cli.app import app

Run = Callable[..., Result]
ABOUT = about(["pullback"], {}, {"threads": 1})


@pytest.fixture(scope="module")
def suites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.write(tmp_path_factory.mktemp("suites"))


@pytest.fixture
def bench(suites: Path) -> Run:
    def run(*args: str) -> Result:
        return CliRunner().invoke(app, ["bench", "--suites", str(suites), *args])

    return run


@pytest.fixture(scope="module")
def ran(suites: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """One run of two kernels, with everything that is written."""
    folder = tmp_path_factory.mktemp("written")
    entries = {"numpy": _entry(1.0), "pullback": _entry(1e-6)}
    write(Record(ABOUT, [CaseRecord("tiny", "right", "S", {}, "", entries)]), folder / "old.json")
    args = [
        "--kernel",
        "right",
        "--kernel",
        "wrong",
        "--peers",
        "numpy",
        "--target",
        "numpy",
        "--json",
        str(folder / "new.json"),
    ]
    args += ["--compare", str(folder / "old.json")]
    return CliRunner().invoke(app, ["bench", "--suites", str(suites), "tiny", *args]), folder / "new.json"


def test_a_wrong_gradient_makes_the_exit_code_1(ran: tuple[Result, Path]) -> None:
    result, _ = ran
    assert result.exit_code == 1
    assert "wrong" in result.stdout and "x[3]: " in result.stdout
    assert "geometric means" in result.stdout and "compile time" in result.stdout


def test_the_record_has_what_a_reader_needs_and_no_paths(ran: tuple[Result, Path], suites: Path) -> None:
    text = ran[1].read_text()
    facts = {"date", "commit", "python", "numpy", "cpu", "cores", "options", "versions"}
    assert facts <= from_json(text).about.keys()
    assert str(suites) not in text and str(Path.home()) not in text
    entry = from_json(text).cases[0].entries["pullback"]
    assert entry.compile_cold is not None and entry.compile_cold > 0
    assert entry.compile_cached is None  # the target keeps none
    assert from_json(text).about["options"]["target"] == "numpy"


def test_a_run_is_compared_with_an_older_one(ran: tuple[Result, Path]) -> None:
    assert "tiny/right[S]" in ran[0].stdout and "slower than allowed" in ran[0].stdout


def test_a_record_on_stdout_stands_alone(bench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pullback.cli.bench._run", lambda *_: (Session(Options(), []), made(a=2.0)))
    result = bench("--json", "-")
    assert result.exit_code == 0
    assert from_json(result.stdout).cases == made(a=2.0).cases
    assert "geometric means" in result.stderr


def test_a_plain_function_that_fails_makes_the_exit_code_1(
    bench: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = made(a=2.0)
    record.cases[0].entries = {"numpy": Entry("raised", "NameError: np"), "pullback": Entry("skipped", "")}
    monkeypatch.setattr("pullback.cli.bench._run", lambda *_: (Session(Options(), []), record))
    result = bench()
    assert result.exit_code == 1
    assert "the plain function of s/a raised: NameError: np" in result.stderr


def test_what_was_found_before_an_interruption_is_kept(suites: Path) -> None:
    def tell(text: str) -> None:
        if text == "tiny/wrong[S]: numpy":
            raise KeyboardInterrupt

    session = Session(Options(slot=0.05), ["hand"], tell)
    right, wrong = session.run(find(suites, ["tiny"], ["right", "wrong"])).cases
    assert session.interrupted
    assert right.entries["hand"].status == "ok" and wrong.entries["hand"].reason == "interrupted"


def test_what_is_not_settled_makes_the_exit_code_1(bench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    record = made(a=2.0, b=2.0)
    record.cases[1].entries["pullback"] = Entry("unverified", "all 2 contenders agree, differences do not")
    monkeypatch.setattr("pullback.cli.bench._run", lambda *_: (Session(Options(), []), record))
    result = bench()
    assert result.exit_code == 1
    assert "all 2 contenders agree" in result.stdout
    assert "verification failed: gradients 1 not settled" in " ".join(result.stdout.split())


def test_kernels_are_listed(bench: Run) -> None:
    result = bench("--list")
    assert result.exit_code == 0
    assert "tiny:" in result.stdout and "in_place" in result.stdout and "n: 4" in result.stdout


@pytest.mark.parametrize(
    "args, reason, way_out",
    [
        (["tinny"], "no suite 'tinny'", "tiny"),
        (["--kernel", "rihgt"], "no kernel 'rihgt'", "right"),
        (["--peers", "jaxx"], "unknown peer 'jaxx'", "jax"),
        (["--size", "XL"], "not one of", "--help"),
        (["--plot", "out.gif"], ".png", ""),
        (["--compare", "nowhere.json"], "cannot read nowhere.json", ""),
        (["--json", "no_such_folder/x.json"], "no folder no_such_folder", "make it"),
        (["--suites", "no_such_folder"], "no suites in no_such_folder", "--suites"),
    ],
)
def test_bad_input_is_one_line(bench: Run, args: list[str], reason: str, way_out: str) -> None:
    result = bench(*args)
    assert result.exit_code == 2 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("pullback: error: ") and reason in line and way_out in line


def test_a_peer_that_is_not_installed(bench: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from pullback.bench.peers import PEERS

    monkeypatch.setattr(PEERS["torch"], "module", "no_such_module")
    result = bench("--peers", "torch")
    assert result.exit_code == 2
    assert "not installed: torch" in result.stderr and "pip install torch" in result.stderr


@pytest.mark.parametrize(
    "text, words",
    [
        ("import nothing_of_this_name\nPRESETS = 1\n", "cannot be imported: ModuleNotFoundError"),
        ("PRESETS = {}\n", "no WRT, no inputs, no `loss`"),
        ("PRESETS = {}\nWRT = ('z',)\ninputs = 0\n\ndef loss(x):\n    return x\n", "['z']"),
    ],
)
def test_a_file_that_is_no_kernel(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "kernel.py").write_text(text)
    with pytest.raises(BenchError, match=r"odd/kernel\.py") as caught:
        find(tmp_path, ["odd"])
    assert words in str(caught.value)


def test_our_own_suites_are_found() -> None:
    assert {"micro", "npbench", "adbench", "language"} <= suites_in(shipped()).keys()
    assert len(find(shipped(), ["npbench"])) >= 25
    assert len(find(shipped(), ["language"])) >= 8


def made(**seconds: float) -> Record:
    cases = [
        CaseRecord("s", name, "S", {}, "", {"numpy": _entry(1.0), "pullback": _entry(ours)})
        for name, ours in seconds.items()
    ]
    return Record(ABOUT, cases)


def _entry(seconds: float) -> Entry:
    return Entry("ok", times=Times(seconds, seconds, seconds, 3, 1))


def test_a_comparison_is_of_the_common_cases() -> None:
    found = compare(made(a=2.0, b=3.0, gone=1.0), made(a=4.0, b=1.5, new=9.0))
    assert found.ratios == {"s/a[S]": (2.0, 4.0), "s/b[S]": (3.0, 1.5)}
    assert found.mean == pytest.approx(1.0) and not found.slower
    assert compare(made(a=1.0), made(a=1.2)).slower
    assert not compare(made(a=1.0), made(a=1.2), tolerance=0.3).slower
    with pytest.raises(BenchError, match="no timed case in common"):
        compare(made(a=1.0), made(b=1.0))


def test_a_record_of_another_kind_is_refused() -> None:
    for text in ("[]", "{}", "no json", '{"schema": 99, "cases": []}'):
        with pytest.raises(BenchError):
            from_json(text, "old.json")


def test_statistics_are_quartiles() -> None:
    found = times([5.0, 1.0, 2.0, 3.0, 4.0], 7)
    assert (found.low, found.median, found.high, found.rounds, found.calls) == (2.0, 3.0, 4.0, 5, 7)


def test_a_plot_is_written(tmp_path: Path) -> None:
    from pullback.bench.plot import draw

    for name in ("out.png", "out.svg"):
        draw(made(a=2.0, b=3.0), tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1000
