"""Configs whose values are secrets, by their names."""

from __future__ import annotations

from kafka_admin_proto.wire.secrets import is_secret_name

#: Kafka 3.9.2's and 4.3.1's configs of type PASSWORD, and what connectors call theirs.
SECRET_NAMES = """
delegation.token.master.key delegation.token.secret.key password.encoder.old.secret
password.encoder.secret sasl.jaas.config sasl.oauthbearer.assertion.private.key.passphrase
sasl.oauthbearer.client.credentials.client.secret ssl.key.password ssl.keystore.certificate.chain
ssl.keystore.key ssl.keystore.password ssl.truststore.certificates ssl.truststore.password
zookeeper.ssl.keystore.password zookeeper.ssl.truststore.password
listener.name.external.scram-sha-512.sasl.jaas.config

apikey api.key api-key api_key apiKey datadog.api.key my.apikey.value pwd db.pwd user_pwd userPwd
license confluent.license confluent.licence connection.password database.passwd db.pass
aws.access.key.id aws.secret.access.key aws_access_key account.key azblob.account.key accountKey
azure.connection.string connectionString basic.auth.user.info schema.registry.basic.auth.user.info
bearer.auth.token github.access.token keyfile gcs.credentials.json snowflake.private.key
tls.passphrase http.authorization.header mq.passcode oauth2.client.secret message.key
"""

#: Kafka's own that are not, and are masked all the same.
TAKEN_FOR_SECRETS = """
delegation.token.expiry.check.interval.ms delegation.token.expiry.time.ms
delegation.token.max.lifetime.ms password.encoder.cipher.algorithm password.encoder.iterations
password.encoder.key.length password.encoder.keyfactory.algorithm
sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.client.credentials.client.id
sasl.oauthbearer.token.endpoint.url
"""

HARMLESS_NAMES = """
cleanup.policy retention.ms ssl.keystore.location ssl.key.provider key.serializer
key.deserializer confluent.license.topic confluent.license.topic.replication.factor
authorizer.class.name connection.url compression.type monkey turkey.count group.keys
sasl.mechanism bypass compass.url pass.through user.information
"""


def test_which_configs_are_secrets_by_their_names() -> None:
    assert [
        name for name in (SECRET_NAMES + TAKEN_FOR_SECRETS).split() if not is_secret_name(name)
    ] == []
    assert [name for name in HARMLESS_NAMES.split() if is_secret_name(name)] == []
