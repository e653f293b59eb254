"""Client quotas: entities with default parts, values set and removed, results in order."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from kafka_admin_proto.admin import ClientQuota, QuotaAlteration, QuotaComponent, QuotaMatch
from kafka_admin_proto.admin.operations.quotas import QuotaOperations
from kafka_admin_proto.messages import AlterClientQuotasRequest, DescribeClientQuotasRequest
from kafka_admin_proto.messages import alter_client_quotas_response as altered_messages
from kafka_admin_proto.messages import describe_client_quotas_response as described_messages
from kafka_admin_proto.values import Message
from tests.admin.fake_caller import Call, FakeCaller

_NAMES = st.one_of(st.none(), st.sampled_from(["", "a", "b"]))
_ENTITIES = st.one_of(
    st.fixed_dictionaries({"user": _NAMES}),
    st.fixed_dictionaries({"client-id": _NAMES, "user": _NAMES}),
    st.fixed_dictionaries({"ip": _NAMES}),
)
_VALUES = st.dictionaries(
    st.sampled_from(["producer_byte_rate", "consumer_byte_rate", "request_percentage"]),
    st.one_of(st.none(), st.floats(allow_nan=False)),
    min_size=1,
)
_Entity = frozenset[tuple[str, str | None]]


class Client(QuotaOperations, FakeCaller):
    """A controller that keeps quotas; users named "" are refused. Answers come in any order."""

    def __init__(self) -> None:
        super().__init__(
            {AlterClientQuotasRequest: self._alter, DescribeClientQuotasRequest: self._describe},
            controller=2,
        )
        self.kept: dict[_Entity, dict[str, float]] = {}

    def _alter(self, request: Message, call: Call) -> Message:
        assert isinstance(request, AlterClientQuotasRequest)
        assert call.broker == 2
        entries = []
        for entry in request.entries:
            entity = frozenset((part.entity_type, part.entity_name) for part in entry.entity)
            code = 42 if ("user", "") in entity else 0
            if not code and not request.validate_only:
                quotas = self.kept.setdefault(entity, {})
                for op in entry.ops:
                    quotas.pop(op.key, None)
                    if not op.remove:
                        quotas[op.key] = op.value
            parts = [altered_messages.EntityData(*part) for part in sorted(entity, key=repr)]
            entries.append(altered_messages.EntryData(code, None, parts))
        return altered_messages.AlterClientQuotasResponse(entries=entries[::-1])

    def _describe(self, request: Message, call: Call) -> Message:
        assert isinstance(request, DescribeClientQuotasRequest)
        return described_messages.DescribeClientQuotasResponse(
            entries=[
                described_messages.EntryData(
                    [described_messages.EntityData(*part) for part in sorted(entity, key=repr)],
                    [described_messages.ValueData(*value) for value in quotas.items()],
                )
                for entity, quotas in self.kept.items()
                if quotas
            ]
        )


@given(st.lists(st.builds(QuotaAlteration, _ENTITIES, _VALUES), max_size=6), st.booleans())
def test_what_is_set_is_described_and_results_are_in_order(
    alterations: list[QuotaAlteration], validate_only: bool
) -> None:
    client = Client()
    unique = {frozenset(each.entity.items()): each for each in alterations}
    wanted = list(unique.values())
    results = asyncio.run(client.alter_client_quotas(wanted, validate_only=validate_only))
    assert [each.entity for each in results] == [each.entity for each in wanted]
    expected = {}
    for result, each in zip(results, wanted, strict=True):
        refused = each.entity.get("user") == ""
        assert result.error == ("INVALID_REQUEST" if refused else None)
        values = {key: value for key, value in each.quotas.items() if value is not None}
        if values and not refused and not validate_only:
            expected[frozenset(each.entity.items())] = values
    described = asyncio.run(client.describe_client_quotas())
    assert {frozenset(each.entity.items()): each.quotas for each in described} == expected
    assert described == asyncio.run(client.describe_client_quotas())


def test_descriptions_are_sorted_with_default_entities_first() -> None:
    client = Client()
    for name in ("b", None, "a"):
        client.kept[frozenset({("user", name)})] = {"x": 1.0}
    described = asyncio.run(client.describe_client_quotas())
    assert described == [ClientQuota({"user": name}, {"x": 1.0}) for name in (None, "a", "b")]


def test_a_filter_goes_out_as_it_is_meant() -> None:
    client = Client()
    components = [
        QuotaComponent("user", QuotaMatch.EXACT, "a"),
        QuotaComponent("client-id", QuotaMatch.DEFAULT),
        QuotaComponent("ip"),
    ]
    asyncio.run(client.describe_client_quotas(components, strict=True))
    request = client.calls[0].request
    assert isinstance(request, DescribeClientQuotasRequest)
    assert [(each.entity_type, each.match_type, each.match) for each in request.components] == [
        ("user", 0, "a"),
        ("client-id", 1, None),
        ("ip", 2, None),
    ]
    assert request.strict
