"""What a session shows and offers to others: its ports, its files, its secrets."""

from __future__ import annotations

import socket
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.engine.session import Jvm, SessionError, SessionSettings, adopt
from clinker.engine.session.command import argument_file
from clinker.engine.session.conf import runtime_conf, session_conf
from clinker.engine.session.endpoint import check_reachable
from clinker.engine.session.secrets import hide_secrets, shown_address
from clinker.engine.session.session import Session

SUBSTITUTE = "spark.sql.variable.substitute"


class TestVariables:
    """Spark would replace `${env:NAME}` in SQL text, where names of columns stand."""

    def test_are_not_substituted(self, session: Session) -> None:
        text = "'${env:PATH} ${system:java.home} ${spark.app.name}' AS `${env:HOME}`"
        found = session.spark.range(1).selectExpr(text).toArrow().to_pylist()
        assert found == [{"${env:HOME}": "${env:PATH} ${system:java.home} ${spark.app.name}"}]

    def test_whatever_the_user_sets(self, tmp_path: Path) -> None:
        settings = SessionSettings(spark_conf={SUBSTITUTE: "true"})
        assert session_conf(settings, tmp_path)[SUBSTITUTE] == "false"
        assert runtime_conf(settings)[SUBSTITUTE] == "false"

    def test_an_adopted_session_gets_its_own_setting_back(self, session: Session) -> None:
        spark = session.spark
        spark.conf.set(SUBSTITUTE, "true")
        try:
            with adopt(spark):
                assert spark.conf.get(SUBSTITUTE) == "false"
            assert spark.conf.get(SUBSTITUTE) == "true"
        finally:
            spark.conf.set(SUBSTITUTE, "false")


def test_pyspark_prints_nothing_about_sql_that_fails(
    session: Session, capfd: pytest.CaptureFixture[str]
) -> None:
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException):
        session.spark.range(1).selectExpr("`a secret of the data`").toArrow()
    assert capfd.readouterr() == ("", "")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> subprocess.Popen[str]:
    """A process with a session; it prints its JVM's number and the directory of the run."""
    program = """
import sys
from pathlib import Path
from clinker.engine.session import SessionSettings, open_session, start_jvm
conf = {"spark.some.password": "hunter2"}
settings = SessionSettings(threads=1, local_dir=Path(sys.argv[1]), spark_conf=conf)
jvm = start_jvm(settings)
with open_session(settings, jvm) as session:
    print(jvm.process_id, jvm.directory.path, flush=True)
    sys.stdin.read()
"""
    return subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path_factory.mktemp("runs"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs Linux")
def test_what_others_on_the_machine_can_reach(local: subprocess.Popen[str]) -> None:
    with local:
        assert local.stdout
        number, name = local.stdout.readline().split()
        jvm, directory = int(number), Path(name)
        arguments = Path(f"/proc/{jvm}/cmdline").read_text().split("\0")
        assert [Path(arguments[0]).name, *arguments[1:]] == ["java", f"@{directory}/arguments", ""]
        assert _mode(directory) == 0o700
        assert _mode(directory / "arguments") == _mode(directory / "gateway") == 0o600
        assert "hunter2" in (directory / "arguments").read_text()

        offered = _listening(jvm)
        assert len(offered) == 3, "the gateway, Spark's messages and its blocks"
        assert {address for address, _ in offered} == {"127.0.0.1"}
        answers = [_answer_to_a_stranger(port) for _, port in offered]
        assert sorted(answers) == ["", "Unknown challenge", "Unknown challenge"]
        local.communicate()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _listening(process: int) -> list[tuple[str, int]]:
    """The addresses at which a process accepts connections."""
    links = [str(open_.readlink()) for open_ in Path(f"/proc/{process}/fd").iterdir()]
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{process}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in links:
                address, port = local.split(":")
                last = struct.pack("<I", int(address[-8:], 16))
                found.append((socket.inet_ntoa(last), int(port, 16)))
    return found


def _answer_to_a_stranger(port: int) -> str:
    """What Spark says to a message of its own protocol from someone who has no secret."""
    message = struct.pack("!BQI", 3, 1, 5) + b"hello"
    with socket.create_connection(("127.0.0.1", port), timeout=3) as connection:
        connection.sendall(struct.pack("!Q", 8 + len(message)) + message)
        try:
            answer = connection.recv(4096)
        except TimeoutError:  # py4j waits for the rest of a line
            answer = b""
    return (
        "Unknown challenge" if b"Unknown challenge" in answer else answer.decode(errors="replace")
    )


class TestSecrets:
    SETTINGS = SessionSettings(
        remote="sc://me:pass%20word@host:15002/;use_ssl=true;token=to%2Fken;user_id=me",
        spark_conf={
            "spark.hadoop.fs.s3a.access.key": "AKIA",
            "spark.ssl.keyStorePassword": "hunter2",
            "spark.authenticate.secret.needed": "true",
            "spark.app.name": "payroll",
        },
    )

    @pytest.mark.parametrize(
        "text",
        ["to%2Fken", "to/ken", "me:pass%20word", "me:pass word", "AKIA", "hunter2"],
    )
    def test_are_hidden(self, text: str) -> None:
        assert hide_secrets(f"refused: '{text}'", self.SETTINGS) == "refused: '***'"

    def test_the_rest_stays(self) -> None:
        assert hide_secrets("payroll is true at host:15002", self.SETTINGS) == (
            "payroll is true at host:15002"
        )

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            (SETTINGS.remote, "sc://host:15002"),
            ("sc://host/;token=a/b", "sc://host"),
            ("spark://a:7077,b:7077", "spark://a:7077,b:7077"),
            ("k8s://https://me:word@host:443", "k8s://https://host:443"),
            ("local[2]", "local[2]"),
            ("yarn", "yarn"),
        ],
    )
    def test_addresses_are_shown_without_them(self, url: str, shown: str) -> None:
        assert shown_address(url) == shown

    def test_of_a_server_that_does_not_answer(self) -> None:
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            url = f"sc://127.0.0.1:{reserved.getsockname()[1]}/;token=hunter2"
            with pytest.raises(SessionError) as caught:
                check_reachable(url)
        assert "hunter2" not in str(caught.value)

    def test_of_an_address_that_is_none(self) -> None:
        with pytest.raises(SessionError) as caught:
            check_reachable("sc://me:hunter2@host:port/;token=hunter2")
        assert str(caught.value) == "'sc://host:port' is not an address such as sc://host:port"

    def test_in_what_java_says(self, tmp_path: Path) -> None:
        options = {
            "spark.driver.extraJavaOptions": "-XX:MaxHeapSize=hunter2",
            "spark.a.password": "hunter2",
        }
        jvm = Jvm(SessionSettings(local_dir=tmp_path, spark_conf=options))
        with pytest.raises(SessionError, match=r"MaxHeapSize=\*\*\*"):
            jvm.address()
        jvm.kill()


class TestControlCharacters:
    """Java's file of arguments has one in each line."""

    @pytest.mark.parametrize(
        ("argument", "what"),
        [
            ("-Dspark.a.password=x\n-XX:OnError=touch /tmp/x", "spark.a.password"),
            ("-Djava.io.tmpdir=/tmp\r/x", "java.io.tmpdir"),
            ("spark.x=\0", "spark.x"),
            ("-Da\nb=c", "a\\nb"),
            ("/opt/a.jar:/opt\n/b.jar", "a path of the class path"),
            ("-Djava.io.tmpdir=/tmp/\udcff", "java.io.tmpdir"),
        ],
    )
    def test_are_refused(self, argument: str, what: str) -> None:
        with pytest.raises(SessionError) as caught:
            argument_file(["-Xmx1m", argument])
        assert str(caught.value).startswith(f"{what} holds '\\")
        assert "touch" not in str(caught.value)

    def test_in_the_directory_for_temporary_files(self, tmp_path: Path) -> None:
        place = tmp_path / "a\n-XX:OnError=touch b"
        place.mkdir()
        with pytest.raises(SessionError, match=r"java\.io\.tmpdir holds"):
            Jvm(SessionSettings(local_dir=place))
        assert list(place.iterdir()) == []

    def test_a_comma_there(self, tmp_path: Path) -> None:
        place = tmp_path / "a,b"
        place.mkdir()
        with pytest.raises(SessionError, match="Spark takes the comma in"):
            Jvm(SessionSettings(local_dir=place))
        assert list(place.iterdir()) == []
