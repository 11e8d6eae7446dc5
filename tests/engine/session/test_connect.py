"""Sessions on a Spark Connect server, and on sessions that are the user's own."""

from __future__ import annotations

import subprocess
import sys

SERVER = """
import socket
from clinker.engine.session import SessionError, SessionSettings, adopt, open_session

with socket.socket() as reserved:
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
server = SessionSettings(
    threads=1,
    spark_conf={
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.port": str(port),
    },
)
url = f"sc://localhost:{port}"
with open_session(server) as serving:
    serving.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        adopt(serving.spark)
    except SessionError as problem:
        print(problem)
    serving.spark.conf.set("spark.sql.session.timeZone", "UTC")
    with adopt(serving.spark) as own:
        print(own.spark.range(2).count(), own.facts.engine)
    print(serving.spark.range(2).count(), "still open")
    settings = SessionSettings(
        remote=url + "/;user_id=me", batch_size=11, spark_conf={"spark.executor.x": "1"}
    )
    with open_session(settings) as session:
        print(session.facts.engine, session.facts.master == url, session.facts.java)
        spark = session.spark
        print(spark.conf.get("spark.sql.session.timeZone"))
        print(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
        print(spark.range(5).mapInArrow(lambda batches: batches, "id bigint").toArrow().num_rows)
        print(adopt(spark).facts.engine)
        session.interrupt()
try:
    open_session(settings)
except SessionError as problem:
    print("refused:", str(problem).startswith("no Spark server answers at"))
"""


def test_a_connect_server() -> None:
    done = subprocess.run([sys.executable, "-c", SERVER], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "this Spark session has spark.sql.session.timeZone = Asia/Tokyo, and results would depend "
        "on it: set spark.conf.set('spark.sql.session.timeZone', 'UTC')",
        "2 spark",
        "2 still open",
        "spark-connect True None",
        "UTC",
        "11",
        "5",
        "spark-connect",
        "refused: True",
    ]
