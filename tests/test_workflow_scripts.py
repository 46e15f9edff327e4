"""What the scripts of the workflows do with a stranger's request and a stranger's data.

They are taken out of the workflows and run, with a stand-in for `gh` that answers from a list.
Nothing here has run on GitHub.
"""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.script_runner import Runner
from tests.workflow_files import FOLDER, script, workflow

BASE, HEAD, OTHER = "b" * 40, "a" * 40, "c" * 40


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """A folder to run scripts in."""
    for tool in ("bash", "jq", "unzip"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    return Runner(tmp_path)


class TestRequest:
    """Who may start a comparison, and of which commit."""

    SCRIPT = script("benchmark-pr-request-Check the person")

    def _ask(self, runner: Runner, permission: str = "write", **env: str) -> Any:
        runner.answers = [
            ("collaborators/somebody/permission", {"permission": permission}),
            ("pulls/12 ", {"state": "open", "head": {"sha": HEAD}}),
        ]
        usual = {"PERSON": "somebody", "NUMBER": "12", "LABELLED": "", "COMMENT": ""}
        return runner.run(self.SCRIPT, **(usual | env))

    def test_a_label_is_for_the_commit_that_was_labelled(self, runner: Runner) -> None:
        done = self._ask(runner, LABELLED=HEAD)
        assert done.returncode == 0, done.stdout + done.stderr
        assert runner.output == {"number": "12", "head": HEAD}

    @pytest.mark.parametrize("ending", ["", "\n", "  \r\n"])
    def test_a_comment_is_for_the_commit_that_it_names(self, runner: Runner, ending: str) -> None:
        assert self._ask(runner, COMMENT=f"/benchmark {HEAD}{ending}").returncode == 0
        assert runner.output == {"number": "12", "head": HEAD}

    @pytest.mark.parametrize("permission", ["read", "none", "triage", ""])
    def test_who_may_not_write_may_not_start_it(self, runner: Runner, permission: str) -> None:
        done = self._ask(runner, permission, COMMENT=f"/benchmark {HEAD}")
        assert done.returncode == 1
        assert "may not write" in done.stdout
        assert runner.output == {}

    @pytest.mark.parametrize("env", [{"LABELLED": OTHER}, {"COMMENT": f"/benchmark {OTHER}"}])
    def test_a_commit_that_has_been_replaced_is_not_run(
        self, runner: Runner, env: dict[str, str]
    ) -> None:
        done = self._ask(runner, **env)
        assert done.returncode == 1
        assert "is not the head of an open pull request" in done.stdout
        assert runner.output == {}

    @pytest.mark.parametrize(
        "comment",
        [
            "/benchmark ",
            "/benchmark aaaaaaa",
            f"/benchmark {HEAD} $(touch hacked)",
            f"/benchmark {HEAD}\n; touch hacked",
            "/benchmark `touch hacked`",
            f"/benchmark {HEAD}0",
        ],
    )
    def test_any_other_comment_is_refused(self, runner: Runner, comment: str) -> None:
        done = self._ask(runner, COMMENT=comment)
        assert done.returncode == 1
        assert "the full hash" in done.stdout
        assert list(runner.folder.iterdir()) == []


class TestArtifact:
    """The one file of a run that ran a stranger's code."""

    SCRIPT = script("benchmark-comment-render-Fetch the comparison")

    def _fetch(
        self, runner: Runner, files: Mapping[str, bytes], most: int = 1000, **listed: Any
    ) -> Any:
        archive = runner.folder.parent / "archive.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
            for name, content in files.items():
                written.writestr(name, content)
        artifact = {"id": 7, "expired": False, "size_in_bytes": archive.stat().st_size} | listed
        artifacts = listed.pop("artifacts", [artifact])
        runner.answers = [
            ("artifacts.name=comparison", {"artifacts": artifacts}),
            ("artifacts/7/zip", str(archive)),
        ]
        return runner.run(self.SCRIPT, RUN="5", MOST_BYTES=str(most))

    def test_one_small_file_of_the_right_name_is_taken(self, runner: Runner) -> None:
        done = self._fetch(runner, {"comparison.json": b"{}"})
        assert done.returncode == 0, done.stdout + done.stderr
        assert (runner.folder / "out" / "comparison.json").read_bytes() == b"{}"
        assert runner.output == {"found": "true"}

    @pytest.mark.parametrize("artifacts", [[], [{"id": 7, "expired": True, "size_in_bytes": 9}]])
    def test_a_run_without_one_is_no_error(self, runner: Runner, artifacts: list[Any]) -> None:
        assert self._fetch(runner, {}, artifacts=artifacts).returncode == 0
        assert runner.output == {}

    @pytest.mark.parametrize(
        "files",
        [
            {"comparison.json": b"{}", "Makefile": b"all:"},
            {"Makefile": b"all:"},
            {"../comparison.json": b"{}"},
            {"/tmp/comparison.json": b"{}"},  # noqa: S108
            {"comparison.json\nx": b"{}"},
            {"*": b"{}"},
            {},
        ],
        ids=["two", "another", "above", "absolute", "line", "pattern", "none"],
    )
    def test_any_other_file_is_refused(self, runner: Runner, files: dict[str, bytes]) -> None:
        assert self._fetch(runner, files).returncode != 0
        assert runner.output == {}
        assert not (runner.folder / "out").exists()

    def test_a_large_archive_is_not_even_fetched(self, runner: Runner) -> None:
        done = self._fetch(runner, {"comparison.json": b"{}"}, size_in_bytes=1001)
        assert done.returncode == 1
        assert all("zip" not in " ".join(call) for call in runner.calls)

    def test_an_archive_that_grows_is_cut_and_refused(self, runner: Runner) -> None:
        done = self._fetch(runner, {"comparison.json": b" " * 1_000_000}, most=2000)
        assert done.returncode == 1
        assert "more than 2000 bytes" in done.stdout
        assert (runner.folder / "out" / "comparison.json").stat().st_size <= 2000
        assert runner.output == {}

    def test_two_artifacts_of_the_name_are_refused(self, runner: Runner) -> None:
        one = {"id": 7, "expired": False, "size_in_bytes": 9}
        assert self._fetch(runner, {"comparison.json": b"{}"}, artifacts=[one, one]).returncode == 1


class TestPullRequest:
    """Which pull request a comparison may be posted on."""

    SCRIPT = script("benchmark-comment-render-Check that the compared commit")

    def _check(self, runner: Runner, document: Any, commits: tuple[str, ...], **env: str) -> Any:
        (runner.folder / "out").mkdir(exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document)
        (runner.folder / "out" / "comparison.json").write_text(text, encoding="utf-8")
        runner.answers = [("pulls/12/commits", [{"sha": commit} for commit in commits])]
        usual = {"EVENT": "issue_comment", "TITLE": "benchmark of #12", "LABELLED": BASE}
        return runner.run(self.SCRIPT, **(usual | env))

    def test_a_commit_of_it_is_taken(self, runner: Runner) -> None:
        done = self._check(runner, {"head": {"commit": HEAD}}, (OTHER, HEAD))
        assert done.returncode == 0, done.stdout + done.stderr
        assert runner.output == {"number": "12"}

    def test_a_commit_of_another_pull_request_is_refused(self, runner: Runner) -> None:
        done = self._check(runner, {"head": {"commit": HEAD}}, (OTHER,))
        assert done.returncode == 1
        assert f"{HEAD} is no commit of #12" in done.stdout
        assert runner.output == {}

    def test_a_label_is_for_one_commit(self, runner: Runner) -> None:
        document = {"head": {"commit": HEAD}}
        event = {"EVENT": "pull_request"}
        assert self._check(runner, document, (HEAD,), LABELLED=OTHER, **event).returncode == 1
        assert self._check(runner, document, (HEAD,), LABELLED=HEAD, **event).returncode == 0

    @pytest.mark.parametrize(
        "document",
        [
            "{",
            "[]",
            {"head": {"commit": f"{HEAD}\n{OTHER}"}},
            {"head": {"commit": ".*"}},
            {"head": {"commit": "$(touch hacked)"}},
            {"head": {}},
        ],
    )
    def test_a_document_that_names_no_commit_is_refused(
        self, runner: Runner, document: Any
    ) -> None:
        assert self._check(runner, document, (HEAD,)).returncode != 0
        assert runner.output == {}
        assert [path.name for path in runner.folder.iterdir()] == ["out"]

    @pytest.mark.parametrize("title", ["", "benchmark of #12; x", "benchmark of #", "another"])
    def test_a_title_that_is_not_ours_is_refused(self, runner: Runner, title: str) -> None:
        document = {"head": {"commit": HEAD}}
        assert self._check(runner, document, (HEAD,), TITLE=title).returncode == 1

    def test_the_title_is_the_one_that_the_other_workflow_gives(self) -> None:
        given = workflow(FOLDER / "benchmark-pr.yml")["run-name"]
        assert re.sub(r"\$\{\{.*?\}\}", "12", given) == "benchmark of #12"


class TestComment:
    """The comment is posted once, and then replaced."""

    SCRIPT = script("benchmark-comment-post-Post it")
    MARK = "<!-- decider benchmark -->"

    def _post(self, runner: Runner, comments: list[dict[str, Any]]) -> Any:
        source = runner.folder.parent / "artifact"
        source.mkdir()
        (source / "comment.md").write_text("@nobody $(touch hacked)\n", encoding="utf-8")
        runner.answers = [
            ("^run download", str(source)),
            ("--method", {}),
            ("issues/12/comments", comments),
        ]
        done = runner.run(self.SCRIPT, RUN="5", NUMBER="12")
        assert done.returncode == 0, done.stderr
        assert runner.posted == f"{self.MARK}\n@nobody $(touch hacked)\n"
        return runner.calls[-1]

    def test_the_first_one_is_new(self, runner: Runner) -> None:
        call = self._post(runner, [])
        assert "POST" in call
        assert call[-1] == "repos/owner/decider/issues/12/comments"

    def test_a_later_one_takes_the_place_of_ours_and_of_nobody_elses(self, runner: Runner) -> None:
        stranger = {"id": 1, "user": {"login": "stranger"}, "body": f"{self.MARK}\nmine"}
        unmarked = {"id": 2, "user": {"login": "github-actions[bot]"}, "body": "other"}
        ours = {"id": 3, "user": {"login": "github-actions[bot]"}, "body": f"{self.MARK}\nold"}
        call = self._post(runner, [stranger, unmarked, ours])
        assert "PATCH" in call
        assert call[-1] == "repos/owner/decider/issues/comments/3"

    def test_it_fits_with_its_mark(self) -> None:
        from decider.perf.report.comment import MOST_BYTES

        assert MOST_BYTES + len(self.MARK) + 1 <= 65_536
