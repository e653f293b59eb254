"""UpdateFeatures: levels of features raised and lowered (KIP-584).

Versions: 1 kinds of downgrade and a dry run (KIP-778), 2 one result for the whole request
(KIP-1022). Release 3.9 answers for each feature, Kafka 4 for all of them.
"""

from __future__ import annotations

from kafka_admin_proto.messages import ConfigRecord, FeatureLevelRecord
from kafka_admin_proto.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from kafka_admin_proto.messages.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)
from kafka_admin_proto.protocol import codes
from kafka_admin_proto.records.metadata.names import METADATA_VERSION
from kafka_admin_proto.server.apis import Answer, Caller, Gate, handler
from kafka_admin_proto.server.brokers.view import BROKER_RESOURCE
from kafka_admin_proto.server.failures import ApiFailure
from kafka_admin_proto.server.java import hash_order
from kafka_admin_proto.server.security.authorizer.rules import ALTER
from kafka_admin_proto.server.state import State
from kafka_admin_proto.server.topics.partition_changes import ELIGIBLE_REPLICAS
from kafka_admin_proto.values import Message

_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE = 1, 2, 3
_LAST_WITH_RESULTS = 1
_MIN_IN_SYNC = "min.insync.replicas"
#: Levels of metadata.version that changed no record, so that they can be left again.
_WITHOUT_CHANGES = frozenset({9, 10, 12, 16, *range(18, 23), *range(24, 30), 31})
#: A feature of the quorum, whose level is in control records and not in feature records.
_OF_QUORUM = "kraft.version"
#: The first level of metadata.version, 3.3-IV0, that has records of features.
_FIRST_METADATA_LEVEL, _FIRST_METADATA_NAME = 4, "3.3-IV0"
_REFUSED = "The update failed for all features since the following feature had an error: "
_UNSAFE = "Unsafe metadata downgrade is not supported in this version."
_LOSSY = "Refusing to perform the requested downgrade because it might delete metadata information."


@handler(of_broker=False, needs=Gate(ALTER, "operation"), kept=False)
def handle(state: State, request: UpdateFeaturesRequest, caller: Caller) -> Answer:
    """Apply all updates, or in 3.9 the valid ones; of several for a feature the last counts."""
    updates = {each.feature: each for each in request.feature_updates}
    each_for_itself = state.release < (4,)
    records: list[Message] = []
    failures: dict[str, ApiFailure] = {}
    for name in hash_order(updates):
        try:
            record = _updated(state, updates[name])
        except ApiFailure as failure:
            if not each_for_itself:
                text = f"{_REFUSED}{failure.message}"
                return Answer(UpdateFeaturesResponse(error_code=failure.code, error_message=text))
            failures[name] = failure
        else:
            records += [] if name == _OF_QUORUM else [record]
    eligible = updates.get(ELIGIBLE_REPLICAS)
    if eligible is not None and eligible.max_version_level > 0:
        records = [*_for_all_brokers(state), *records]
    response = UpdateFeaturesResponse(error_message="" if each_for_itself else None)
    if each_for_itself:
        for name in updates:
            found = failures.get(name)
            code, message = (0, None) if found is None else (found.code, found.message)
            response.results.append(UpdatableFeatureResult(name, code, message))
    elif caller.version <= _LAST_WITH_RESULTS:
        response.results = [
            UpdatableFeatureResult(each.feature, 0, "NONE") for each in request.feature_updates
        ]
    return Answer(response, [] if request.validate_only else records)


def _for_all_brokers(state: State) -> list[Message]:
    """Records that keep ``min.insync.replicas`` the same on all brokers, as KIP-966 needs it."""
    records = []
    if _MIN_IN_SYNC not in state.configs(BROKER_RESOURCE, ""):
        value = state.static[state.controller].get(_MIN_IN_SYNC, "1")
        records.append(ConfigRecord(BROKER_RESOURCE, "", _MIN_IN_SYNC, value))
    own = sorted(name for kind, name in state.cluster.configs if kind == BROKER_RESOURCE and name)
    records += [
        ConfigRecord(BROKER_RESOURCE, name, _MIN_IN_SYNC, None)
        for name in own
        if _MIN_IN_SYNC in state.configs(BROKER_RESOURCE, name)
    ]
    return list(records)


def _updated(state: State, update: FeatureUpdateKey) -> Message:
    name, level, kind = update.feature, update.max_version_level, update.upgrade_type
    features = {each.name: each for each in state.definitions.features}
    now = state.cluster.features.get(name, 0)
    if kind not in (_UPGRADE, _SAFE_DOWNGRADE, _UNSAFE_DOWNGRADE):
        raise _invalid(update, "The controller does not support the given upgrade type.")
    if level < 0:
        raise _invalid(update, "A feature version cannot be less than 0.")
    supported = features.get(name)
    node = f"Local controller {state.controller}"
    if supported is None and level > 0:
        raise _invalid(update, f"{node} does not support this feature.")
    if supported is not None and not supported.min <= level <= supported.max:
        raise _invalid(update, f"{node} only supports versions {supported.min}-{supported.max}")
    for broker in state.cluster.brokers.values():
        lowest, highest = broker.features.get(name, (0, 0))
        if not lowest <= level <= highest:
            text = f"only supports versions {lowest}-{highest}"
            text = text if highest else "does not support this feature."
            raise _invalid(update, f"Broker {broker.id} {text}")
    if level < now and kind == _UPGRADE:
        text = "Can't downgrade the version of this feature without setting the upgrade type to "
        raise _invalid(update, text + "either safe or unsafe downgrade.")
    if level > now and kind != _UPGRADE:
        raise _invalid(update, "Can't downgrade to a newer version.")
    if supported is None and state.release >= (4,):
        raise _invalid(update, f"Feature {name} not found.")
    if name == METADATA_VERSION:
        _check_metadata_version(state, level, now, kind)
    return FeatureLevelRecord(name, level)


def _check_metadata_version(state: State, level: int, now: int, kind: int) -> None:
    """Raise ApiFailure for a downgrade from a level that changed records."""
    if _WITHOUT_CHANGES.issuperset(range(level + 1, now + 1)):
        return
    text = _UNSAFE if kind == _UNSAFE_DOWNGRADE else _LOSSY
    if state.release >= (4,):
        text = f"Unsupported metadata.version downgrade from {now} to {level}. {text}"
        raise ApiFailure(codes.INVALID_UPDATE_VERSION, text)
    if level < _FIRST_METADATA_LEVEL:
        text = f"Unable to set a metadata.version less than {_FIRST_METADATA_NAME}"
    raise ApiFailure(codes.INVALID_UPDATE_VERSION, f"Invalid metadata.version {level}. {text}")


def _invalid(update: FeatureUpdateKey, text: str) -> ApiFailure:
    where = f"Invalid update version {update.max_version_level} for feature {update.feature}."
    return ApiFailure(codes.INVALID_UPDATE_VERSION, f"{where} {text}")
