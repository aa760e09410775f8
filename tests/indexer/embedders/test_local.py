from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tests.fakes.worker
from indexer.embedders import local, local_process
from indexer.embedders.local import MAX_CHARACTERS, LocalEmbedder, admissible
from indexer.embedders.retry import embed_documents
from schemas.problems import Outage, Refusal, TextRejected
from schemas.settings import Settings

TEXTS = tuple(f"Сообщение номер {number} о переезде сервера" for number in range(12))


@pytest.fixture(scope="module")
def model() -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(1)
    yield embedder
    embedder.close()


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[LocalEmbedder]:
    embedder = LocalEmbedder(2, (sys.executable, "-P", str(tests.fakes.worker.__file__), str(tmp_path)))
    yield embedder
    embedder.close()


def test_a_paraphrase_is_nearer_than_an_unrelated_sentence(model: LocalEmbedder) -> None:
    documents = model.documents(
        [
            "Решили хранить граф сущностей отдельно от векторов",
            "Бабушка испекла пирог с вишней",
            "We moved the database to another machine",
        ]
    )
    about_graph, about_move = (
        model.query("где лежит граф сущностей"),
        model.query("куда переехала база данных"),
    )
    assert int(np.argmax(documents @ about_graph)) == 0
    assert int(np.argmax(documents @ about_move)) == 2
    # multilingual-e5 puts even unrelated texts near .75: the order and a gap count, not the height.
    assert documents[0] @ about_graph > documents[1] @ about_graph + 0.03


def test_a_document_and_a_query_of_the_same_text_differ(model: LocalEmbedder) -> None:
    cosine = float(model.documents([TEXTS[0]])[0] @ model.query(TEXTS[0]))
    assert 0.8 < cosine < 0.999


def test_the_code_point_that_aborts_the_engine_is_expanded_before_it(model: LocalEmbedder) -> None:
    model.warm()
    before = model.pids
    assert np.isfinite(model.documents(["\ufdfa" * 1000, TEXTS[0]])).all()
    assert model.pids == before


@pytest.mark.parametrize("text", ["\ufdfa" * 1000, "a\x00b", "\ud800x\udfff", "ﬁ" * 9000, "", "㎯" * 4000])
def test_what_the_engine_sees_is_normal_encodable_and_bounded(text: str) -> None:
    seen = admissible(text)
    assert len(seen) <= MAX_CHARACTERS
    assert "\x00" not in seen
    assert unicodedata.is_normalized("NFKC", seen.encode().decode())


def test_a_worker_killed_between_batches_is_replaced(model: LocalEmbedder) -> None:
    model.warm()
    rows = model.documents(TEXTS[:3])
    os.kill(model.pids[0], signal.SIGKILL)
    assert np.array_equal(model.documents(TEXTS[:3]), rows)


def test_a_worker_killed_in_the_middle_of_a_batch_is_replaced_and_the_batch_retried(
    model: LocalEmbedder,
) -> None:
    model.warm()
    (pid,) = model.pids
    before = _cpu_ticks(pid)
    long = ["Длинный разговор о погоде и серверах. " * 20] * 3  # more than half a second of work
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(model.documents, long)
        while not answer.done() and _cpu_ticks(pid) < before + 5:
            threading.Event().wait(0.01)
        assert not answer.done()
        os.kill(pid, signal.SIGKILL)
        rows = answer.result(timeout=60)
    assert rows.shape == (3, 384)
    assert model.pids != (pid,)


def test_a_worker_that_aborts_once_costs_nothing(fake: LocalEmbedder) -> None:
    assert fake.documents([*TEXTS, "once"]).shape == (13, 384)


def test_a_batch_that_kills_two_workers_is_rejected_and_the_embedder_lives_on(fake: LocalEmbedder) -> None:
    with pytest.raises(TextRejected, match="13 texts"):
        fake.documents([*TEXTS, "poison"])
    assert fake.documents(TEXTS).shape == (12, 384)


def test_only_the_poisonous_text_is_rejected(fake: LocalEmbedder) -> None:
    texts = [*TEXTS[:5], "poison", *TEXTS[5:]]
    embedded = embed_documents(fake, texts)
    assert set(embedded.rejected) == {5}
    assert embedded.accepted == tuple(index for index in range(13) if index != 5)
    assert np.array_equal(embedded.vectors, fake.documents(TEXTS))


def test_a_batch_of_poison_alone_is_a_refusal(fake: LocalEmbedder) -> None:
    with pytest.raises(Refusal, match="all 2"):
        embed_documents(fake, ["poison", "poison too"])


def test_as_many_batches_are_in_flight_as_there_are_workers(fake: LocalEmbedder) -> None:
    wanted = fake.documents(TEXTS)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(fake.documents, [TEXTS] * 30))
    assert all(np.array_equal(answer, wanted) for answer in answers)
    assert 1 <= len(fake.pids) <= 2


def test_no_worker_runs_before_it_is_needed_and_none_after_closing(fake: LocalEmbedder) -> None:
    assert not list(fake.pids)
    fake.warm()
    pid = fake.pids[0]
    fake.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(Outage, match="closed"):
        fake.query("после закрытия")


def test_a_worker_that_does_not_start_is_an_outage() -> None:
    with pytest.raises(Outage, match="did not start"):
        LocalEmbedder(1, (sys.executable, "-c", "raise SystemExit(3)")).query("вопрос")


def test_a_worker_that_hangs_is_killed_and_its_batch_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_process, "_START_SECONDS", 0.2)
    monkeypatch.setattr(local_process, "_TEXT_SECONDS", 0.0)
    script = tmp_path / "hanging.py"
    script.write_text(
        "import struct, sys, time\n"
        "sys.stdout.buffer.write(struct.pack('<II', 384, 0))\n"
        "sys.stdout.buffer.flush()\n"
        "sys.stdin.buffer.read()\n"
        "time.sleep(60)\n",
        "utf-8",
    )
    embedder = LocalEmbedder(1, (sys.executable, "-I", "-S", str(script)))
    with pytest.raises(TextRejected):
        embedder.query("вопрос")
    assert embedder.pids == ()


def test_ctrl_c_reaches_the_parent_alone(model: LocalEmbedder) -> None:
    model.warm()
    (pid,) = model.pids
    assert os.getpgid(pid) != os.getpgid(0)
    os.kill(pid, signal.SIGINT)
    model.query("ещё жив")
    assert model.pids == (pid,)


def test_a_worker_ends_when_its_parent_is_killed() -> None:
    program = (
        "import os, signal\n"
        "from indexer.embedders.local import LocalEmbedder\n"
        "embedder = LocalEmbedder(1)\n"
        "embedder.warm()\n"
        "print(embedder.pids[0], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    pid = int(done.stdout)
    for _ in range(500):
        if not _running(pid):
            break
        threading.Event().wait(0.01)
    assert not _running(pid)


def test_a_processor_without_avx2_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu sse4_2 avx fma\n", "utf-8")
    sentence = local.unavailable(Settings(), {}, cpuinfo)
    assert sentence is not None
    assert "avx2" in sentence
    assert "fma" not in sentence
    cpuinfo.write_text("processor\t: 0\nflags\t\t: fpu avx2 fma\n", "utf-8")
    assert local.unavailable(Settings(), {}, cpuinfo) is None


def _running(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _cpu_ticks(pid: int) -> int:
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
