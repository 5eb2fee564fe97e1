"""TLS contexts from Kafka's settings: stores that do not open, contradictions, ciphers and versions."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path

import pytest

from kafkapy.backends.live.client_settings import SettingError
from kafkapy.backends.live.tls import openssl_cipher, tls_context
from kafkapy.backends.live.tls_stores import Settings
from tests.certificates import Authority, make_key_store, make_trust_store

SECRET = "streng-geheim"
AUTHORITY = Authority("one")
ANN, BEN = AUTHORITY.sign("ann"), AUTHORITY.sign("ben")


def context(**values: str | Path) -> ssl.SSLContext:
    return tls_context(Settings({name.replace("_", "."): str(value) for name, value in values.items()}, "c"))


def refused(**values: str | Path) -> str:
    with pytest.raises(SettingError) as caught:
        context(**values)
    assert SECRET not in str(caught.value)
    return str(caught.value).removeprefix("c: ")


def pem(path: Path, text: str) -> dict[str, str | Path]:
    path.write_text(text)
    return {"ssl_keystore_type": "PEM", "ssl_keystore_location": path}


def test_by_default_the_system_is_trusted_and_names_are_checked() -> None:
    made = context()
    assert made.check_hostname
    assert made.verify_mode == ssl.CERT_REQUIRED
    assert (made.minimum_version, made.maximum_version) == (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)


def test_an_empty_algorithm_turns_only_the_check_of_names_off() -> None:
    made = context(ssl_endpoint_identification_algorithm="")
    assert not made.check_hostname
    assert made.verify_mode == ssl.CERT_REQUIRED


def test_a_trust_store_is_all_that_is_trusted(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(b"Caf\xe9 ca\n" + AUTHORITY.pem.encode())
    made = context(ssl_truststore_type="PEM", ssl_truststore_location=path)
    assert [dict(name[0] for name in each["subject"]) for each in made.get_ca_certs()] == [{"commonName": "one"}]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"ssl_endpoint_identification_algorithm": "ldaps"}, "ssl.endpoint.identification.algorithm: ldaps is neither"),
        ({"ssl_protocol": "SSLv3"}, "ssl.protocol: SSLv3 is not one of TLS, "),
        ({"ssl_enabled_protocols": "TLSv1.2,SSLv3"}, "ssl.enabled.protocols: SSLv3 is not supported"),
        ({"ssl_truststore_type": "BKS"}, "ssl.truststore.type: BKS is not one of JKS, PKCS12, PEM"),
        ({"ssl_truststore_password": SECRET}, "ssl.truststore.password: it needs ssl.truststore.location"),
        ({"ssl_truststore_certificates": SECRET}, "ssl.truststore.certificates: it needs ssl.truststore.type=PEM"),
        ({"ssl_keystore_location": "/k"}, "ssl.keystore.location: it needs ssl.keystore.password"),
        ({"ssl_keystore_key": SECRET}, "ssl.keystore.key: it and ssl.keystore.certificate.chain need each other"),
        ({"ssl_truststore_location": "/nowhere/ca"}, "ssl.truststore.location: /nowhere/ca: No such file or directory"),
        (
            {"ssl_truststore_type": "PEM", "ssl_truststore_certificates": SECRET},
            "ssl.truststore.certificates: it holds no certificate to trust",
        ),
        (
            {"ssl_keystore_type": "PEM", "ssl_keystore_location": "/k", "ssl_keystore_password": SECRET},
            "ssl.keystore.password: a PEM file has no store password; the key's is ssl.key.password",
        ),
        ({"ssl_cipher_suites": "TLS_NONE_WITH_NONE"}, "ssl.cipher.suites: OpenSSL has no NONE-NONE"),
        (
            {"ssl_cipher_suites": "TLS_AES_128_GCM_SHA256"},
            "ssl.cipher.suites: either all of TLS 1.3's suites or none can be used",
        ),
    ],
)
def test_what_is_wrong_is_told_by_its_setting(values: dict[str, str], reason: str) -> None:
    assert refused(**values).startswith(reason)


def test_passwords_that_do_not_fit(tmp_path: Path) -> None:
    trust = make_trust_store(tmp_path / "trust", "JKS", [AUTHORITY.pem], "right-one")
    told = refused(ssl_truststore_location=trust, ssl_truststore_password=SECRET)
    assert told == f"ssl.truststore.password: {trust}: the password is wrong, or the file is damaged"
    own = make_key_store(tmp_path / "own", "JKS", ANN, "right-one", "right-two")
    told = refused(ssl_keystore_location=own, ssl_keystore_password="right-one", ssl_key_password=SECRET)
    assert told == f"ssl.key.password: {own}: the key's password is wrong"
    no_key = refused(ssl_keystore_location=trust, ssl_keystore_password="right-one")
    assert no_key == f"ssl.keystore.location: {trust}: it holds no private key"


def test_pem_keys_that_do_not_open(tmp_path: Path) -> None:
    path = tmp_path / "own.pem"
    sealed = pem(path, ANN.key_pem("right-one") + ANN.chain_pem())
    assert refused(**sealed) == f"ssl.keystore.location: {path}: it needs ssl.key.password"
    wrong = f"ssl.keystore.location: {path}: no private key can be read; is ssl.key.password right?"
    assert refused(**sealed, ssl_key_password=SECRET) == wrong
    without = pem(tmp_path / "without.pem", ANN.chain_pem())
    assert refused(**without).endswith("without.pem: no private key can be read")
    mixed = pem(tmp_path / "mixed.pem", BEN.key_pem() + ANN.chain_pem())
    assert refused(**mixed) == "ssl.keystore.location: the key cannot be used: key values mismatch"


def test_a_key_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    context(**pem(tmp_path / "own.pem", ANN.key_pem() + ANN.chain_pem()))
    assert os.listdir(tmp_path / "temporary") == []


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
        ("TLS_DHE_RSA_WITH_AES_256_CBC_SHA256", "DHE-RSA-AES256-SHA256"),
        ("TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
    ],
)
def test_openssl_knows_a_suite_by_another_name(suite: str, name: str) -> None:
    assert openssl_cipher(suite) == name
    made = context(ssl_cipher_suites=suite)
    assert [each["name"] for each in made.get_ciphers() if each["protocol"] != "TLSv1.3"] == [name]
    assert made.maximum_version == ssl.TLSVersion.TLSv1_2
