"""Features of a cluster: the levels that it has finalized, and changes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from kafka_admin_proto.admin.caller import Caller, Target, call_deadline
from kafka_admin_proto.admin.errors import InstructionError
from kafka_admin_proto.admin.operations.cluster.description import api_versions_request
from kafka_admin_proto.admin.operations.common.failures import failure, raise_failure
from kafka_admin_proto.admin.operations.common.timeouts import wire_timeout_ms
from kafka_admin_proto.messages import ApiVersionsResponse, UpdateFeaturesResponse
from kafka_admin_proto.messages.update_features_request import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from kafka_admin_proto.schema.versions import MAX_VERSION, VersionRange

UpgradeType = Literal["upgrade", "safe_downgrade", "unsafe_downgrade"]

_UPGRADES: dict[UpgradeType, int] = {"upgrade": 1, "safe_downgrade": 2, "unsafe_downgrade": 3}
#: Since this version of ApiVersions answers have features.
_FEATURES = 3
#: Since this version of UpdateFeatures downgrades have types, and requests can be validated only.
_UPGRADE_TYPES = 1


class SupportedFeature(msgspec.Struct, frozen=True):
    """The levels of a feature that the broker that answered can work with."""

    name: str
    lowest: int
    highest: int


class FinalizedFeature(msgspec.Struct, frozen=True):
    """The level of a feature that the whole cluster works with."""

    name: str
    level: int


class Features(msgspec.Struct, frozen=True, kw_only=True):
    """Features by name. ``epoch`` is None in a cluster that has finalized none."""

    epoch: int | None
    supported: list[SupportedFeature]
    finalized: list[FinalizedFeature]


class FeatureUpdate(msgspec.Struct, frozen=True):
    """A feature's new level; 0 takes it out of use."""

    feature: str
    level: int
    type: UpgradeType = "upgrade"


class UpdatedFeature(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one feature."""

    feature: str
    error: str | None = None
    message: str | None = None


class FeatureOperations(Caller):
    """ApiVersions for what is finalized, UpdateFeatures."""

    async def describe_features(self, *, timeout: float | None = None) -> Features:
        """The features that the cluster has finalized, and those that a broker supports.

        Raises UnsupportedVersionError for brokers before 2.4, which have none.
        """
        reply = await self.call(
            api_versions_request(),
            ApiVersionsResponse,
            timeout=timeout,
            versions=VersionRange(_FEATURES, MAX_VERSION),
        )
        body = reply.body
        raise_failure(body.error_code, context="ApiVersions")
        return Features(
            epoch=body.finalized_features_epoch if body.finalized_features_epoch >= 0 else None,
            supported=sorted(
                (
                    SupportedFeature(each.name, each.min_version, each.max_version)
                    for each in body.supported_features
                ),
                key=lambda each: each.name,
            ),
            finalized=sorted(
                (
                    FinalizedFeature(each.name, each.max_version_level)
                    for each in body.finalized_features
                ),
                key=lambda each: each.name,
            ),
        )

    async def update_features(
        self,
        updates: Iterable[FeatureUpdate],
        *,
        validate_only: bool = False,
        timeout: float | None = None,
    ) -> list[UpdatedFeature]:
        """Change the levels of features.

        From UpdateFeatures 2 on (4.0) it is all of them or none, with one error; before that each
        has its own.
        """
        wanted = list(updates)
        for update in wanted:
            if update.type not in _UPGRADES:
                raise InstructionError(f"{update.type!r}: expected one of {', '.join(_UPGRADES)}")
        deadline = call_deadline(self, timeout)
        reply = await self.call(
            UpdateFeaturesRequest(
                timeout_ms=wire_timeout_ms(deadline.left),
                feature_updates=[
                    FeatureUpdateKey(
                        feature=update.feature,
                        max_version_level=update.level,
                        upgrade_type=_UPGRADES[update.type],
                    )
                    for update in wanted
                ],
                validate_only=validate_only,
            ),
            UpdateFeaturesResponse,
            to=Target.CONTROLLER,
            timeout=deadline.left,
            versions=VersionRange(_UPGRADE_TYPES, MAX_VERSION),
        )
        common = failure(reply.body.error_code, reply.body.error_message)
        own = {
            each.feature: failure(each.error_code, each.error_message)
            for each in reply.body.results
        }
        if common["error"] is not None:
            own = {}
        return [
            UpdatedFeature(feature=each.feature, **own.get(each.feature, common)) for each in wanted
        ]
