"""What the environment says of stores."""

from __future__ import annotations

import pytest

from clinker.stores.opening import azure_settings, s3_settings


def test_endpoints_of_stores_that_speak_as_s3_does() -> None:
    assert s3_settings({}) == {}
    assert s3_settings({"AWS_DEFAULT_REGION": "eu-west-1"}) == {"region": "eu-west-1"}
    assert s3_settings({"AWS_ENDPOINT_URL": "http://me:pw@minio:9000/"}) == {
        "scheme": "http",
        "endpoint_override": "minio:9000",
    }
    own = {"AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "minio", "AWS_REGION": "r"}
    assert s3_settings(own) == {"scheme": "https", "endpoint_override": "minio", "region": "r"}


def test_accounts_of_azure() -> None:
    assert azure_settings("acc.dfs.core.windows.net", {}) == {"account_name": "acc"}
    environment = {"AZURE_STORAGE_ACCOUNT": "mine", "AZURE_STORAGE_KEY": "k"}
    assert azure_settings("", environment) == {"account_name": "mine", "account_key": "k"}
    assert azure_settings("other", {"AZURE_STORAGE_SAS_TOKEN": "s"}) == {
        "account_name": "other",
        "sas_token": "s",
    }
    with pytest.raises(OSError, match="no account is named"):
        azure_settings("", {})
