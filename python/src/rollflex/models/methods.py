# Generated from the schemas by `npm run docs:generate`: do not edit.
"""Methods of the server: parameters and results."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ._typing import NotRequired, TypedDict


class SessionOpenParamsArmedItem(TypedDict):
    """Part of :class:`SessionOpenParams`."""

    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""
    fireAtSeconds: float
    """Seconds. Number ≥ 0."""


class SessionOpenParams(TypedDict):
    """Parameters of `session.open`. Opens a session: a policy with its state."""

    policy: NotRequired[str]
    """Id of the policy; may be left out beside a snapshot. String ≤ 256."""
    config: NotRequired[Any]
    """Configuration of the policy; not beside a snapshot, which has its own."""
    snapshot: NotRequired[Any]
    """Where the session goes on from."""
    session: NotRequired[str]
    """Id of the session; one is made if absent. String ≤ 256."""
    onExisting: NotRequired[Literal["fail", "attach", "replace"]]
    """If there is a session with this id: refuse, use it as it is, or put a new one in its place. To use one that is
    set aside is to try again to restore it. Default: "fail"."""
    deliver: NotRequired[Literal["reply", "stream"]]
    """Where decisions go: into the answer of `session.send` (`reply`, the default), or to subscribers."""
    timers: NotRequired[Literal["host", "server"]]
    """Who answers `timer.set`: the host (the default), or the server, which needs `deliver: stream`."""
    shadow: NotRequired[bool]
    """The host decides by itself and says what, as `host.decided`: decisions are only compared."""
    armed: NotRequired[Sequence[SessionOpenParamsArmedItem]]
    """Timers that run, as `session.snapshot` gave them."""
    delivery: NotRequired[Any]
    """Beside a snapshot: retries and the stream go on too, as `session.snapshot` gave them."""


class SessionOpenResult(TypedDict):
    """Result of `session.open`."""

    session: str
    """Id of the session. String ≤ 256."""
    policy: str
    """Id of the policy."""
    version: int
    """Its version. Whole number ≥ 0."""
    seq: int
    """Events that the session has applied. Whole number ≥ 0."""


class SessionSendParams(TypedDict):
    """Parameters of `session.send`. Applies events in order. If one is refused, the earlier ones stay applied and the
    error has their decisions."""

    session: str
    """Id of the session. String ≤ 256."""
    events: Sequence[Any]
    """Events, applied in order; `at` is stamped with Unix time where it is absent."""
    producer: NotRequired[str]
    """Who sends: sequences and retries are counted for each. String ≤ 256."""
    firstSeq: NotRequired[int]
    """Events of this producer that were applied before these: makes a retry safe. Needs `producer`. Whole number ≥
    0."""


class SessionSendResult(TypedDict):
    """Result of `session.send`."""

    seq: int
    """Events that the session has applied. Whole number ≥ 0."""
    decisions: list[Any]
    """Decisions, in order; none where they are streamed."""
    more: NotRequired[str]
    """There are more decisions: `session.more` gets them by this. String ≤ 64."""
    nextSeq: NotRequired[int]
    """The next `firstSeq` of this producer. Whole number ≥ 0."""
    decisionSeq: NotRequired[int]
    """Number of the last decision of a streaming session; the first has 1. Whole number ≥ 0."""


class SessionMoreParams(TypedDict):
    """Parameters of `session.more`. The decisions that did not fit into an answer. The last such answers of a session
    are kept."""

    session: str
    """Id of the session. String ≤ 256."""
    more: str
    """As the answer gave it. String ≤ 64."""


class SessionMoreResult(TypedDict):
    """Result of `session.more`."""

    decisions: list[Any]
    """Decisions, in order."""
    more: NotRequired[str]
    """There are more decisions: `session.more` gets them by this. String ≤ 64."""


class SessionSnapshotParams(TypedDict):
    """Parameters of `session.snapshot`. The whole state as JSON."""

    session: str
    """Id of the session. String ≤ 256."""
    delivery: NotRequired[bool]
    """Gives what retries and subscribers need to go on in another server, too. Default: false."""


class SessionSnapshotResultSnapshot(TypedDict):
    """What `session.open` takes."""

    policy: str
    """Id of the policy."""
    version: int
    """Version of the policy that wrote it. Whole number ≥ 1."""
    config: Any
    """Configuration, as JSON."""
    state: Any
    """State, as JSON."""
    seq: int
    """Events applied so far. Whole number ≥ 0."""
    at: float
    """Latest time seen, in seconds. Number ≥ 0."""
    aheadSeconds: NotRequired[float]
    """By how much `at` is ahead of the clock of the host, which has begun anew, in seconds. Number > 0."""


class SessionSnapshotResultArmedItem(TypedDict):
    """Part of :class:`SessionSnapshotResult`."""

    timerId: str
    """Id of the timer, minted by the policy. String ≤ 512."""
    fireAtSeconds: float
    """Seconds. Number ≥ 0."""


class SessionSnapshotResult(TypedDict):
    """Result of `session.snapshot`."""

    snapshot: SessionSnapshotResultSnapshot
    """What `session.open` takes."""
    seq: int
    """Events that the session has applied. Whole number ≥ 0."""
    armed: NotRequired[list[SessionSnapshotResultArmedItem]]
    """Timers that the server runs."""
    decisionSeq: NotRequired[int]
    """Number of the last decision of a streaming session; the first has 1. Whole number ≥ 0."""
    delivery: NotRequired[Any]
    """Producers, their last answers, and what nobody has acknowledged."""
    steps: NotRequired[list[Any]]
    """Of a session that is set aside: the calls and timers after the snapshot, in order."""


class SessionWhyParams(TypedDict):
    """Parameters of `session.why`. Why something waits, and who must act. Without an id: the rounds, and all that is
    owed to the policy. Nothing changes."""

    session: str
    """Id of the session. String ≤ 256."""
    id: NotRequired[str]
    """Id of a prompt, a request, a round, or of what else is held. String ≤ 1024."""
    what: NotRequired[str]
    """Kind of the thing, such as `prompts`, where things of several kinds have this id. Needs `id`. String ≤ 256."""


class SessionCloseParams(TypedDict):
    """Parameters of `session.close`. Forgets a session; its subscribers get `session.closed`."""

    session: str
    """Id of the session. String ≤ 256."""


class SessionCloseResult(TypedDict):
    """Result of `session.close`."""


class SessionListParams(TypedDict):
    """Parameters of `session.list`. The sessions, in the order of their ids."""

    after: NotRequired[str]
    """Only sessions whose id comes after this one. String ≤ 256."""


class SessionListResultSessionAside(TypedDict):
    """Why it could not be restored; absent for a session that is served."""

    code: str
    """Code of the refusal."""
    message: str
    """What was expected, and what was found."""


class SessionListResultSession(TypedDict):
    """Part of :class:`SessionListResult`."""

    session: str
    """Id of the session. String ≤ 256."""
    policy: str
    version: int
    """Whole number ≥ 0."""
    seq: int
    """Events that the session has applied. Whole number ≥ 0."""
    deliver: Literal["reply", "stream"]
    timers: Literal["host", "server"]
    shadow: NotRequired[bool]
    aside: NotRequired[SessionListResultSessionAside]
    """Why it could not be restored; absent for a session that is served."""


class SessionListResult(TypedDict):
    """Result of `session.list`."""

    sessions: list[SessionListResultSession]
    """Sessions."""
    next: NotRequired[str]
    """There are more: give this as `after`. String ≤ 256."""


class SessionSubscribeParams(TypedDict):
    """Parameters of `session.subscribe`. Sends the decisions of a streaming session to this connection as
    `session.decision`, those not acknowledged first."""

    session: str
    """Id of the session. String ≤ 256."""
    after: NotRequired[int]
    """Only decisions after this number, which counts as acknowledged by this subscriber. Whole number ≥ 0."""
    types: NotRequired[Sequence[str]]
    """Only decisions of these types."""


class SessionSubscribeResult(TypedDict):
    """Result of `session.subscribe`."""

    decisionSeq: int
    """Number of the last decision of a streaming session; the first has 1. Whole number ≥ 0."""
    acknowledged: int
    """What every subscriber has acknowledged. Whole number ≥ 0."""


class SessionAckParams(TypedDict):
    """Parameters of `session.ack`. Acknowledges the decisions up to a number. What all subscribers have acknowledged is
    forgotten."""

    session: str
    """Id of the session. String ≤ 256."""
    decisionSeq: int
    """The last decision that was carried out. Whole number ≥ 0."""


class SessionAckResult(TypedDict):
    """Result of `session.ack`."""

    acknowledged: int
    """What every subscriber has acknowledged. Whole number ≥ 0."""


class SessionUnsubscribeParams(TypedDict):
    """Parameters of `session.unsubscribe`. Ends the subscription of this connection."""

    session: str
    """Id of the session. String ≤ 256."""


class SessionUnsubscribeResult(TypedDict):
    """Result of `session.unsubscribe`."""


class PlanParams(TypedDict):
    """Parameters of `plan`. The plan of a planner for an input. Answers to later calls of the connection may come
    before it."""

    planner: str
    """Id of the planner. String ≤ 256."""
    input: Mapping[str, Any]
    """Its input."""
    deadlineSeconds: NotRequired[float]
    """Seconds after which a search ends with the best plan so far, and says so in `cut`; no limit if absent. Number >
    0."""


class PlanResult(TypedDict):
    """Result of `plan`."""

    plan: Any
    """Its plan."""


class RpcDiscoverParams(TypedDict):
    """Parameters of `rpc.discover`. The OpenRPC document of this server."""


_RpcDiscoverResult = TypedDict("_RpcDiscoverResult", {
    # What the server sends without being asked.
    "x-notifications": list[Any],
})


class RpcDiscoverResult(_RpcDiscoverResult):
    """Result of `rpc.discover`."""

    openrpc: str
    info: Any
    methods: list[Any]
    components: Any


class ServerInfoParams(TypedDict):
    """Parameters of `server.info`. Version, policies and limits of the server, and what it has refused."""


class ServerInfoResultPolicy(TypedDict):
    """Part of :class:`ServerInfoResult`."""

    id: str
    kind: str
    version: int
    """Whole number ≥ 0."""
    summary: str


class ServerInfoResultPlanner(TypedDict):
    """Part of :class:`ServerInfoResult`."""

    id: str
    version: int
    """Whole number ≥ 0."""
    summary: str


class ServerInfoResultLimits(TypedDict):
    """Part of :class:`ServerInfoResult`."""

    maxMessageBytes: int
    """Bytes of one message: a line, without its line break. Whole number 1024 to 536870912. Default: 67108864."""
    maxCallBytes: int
    """Bytes of one message other than `session.open`, whose snapshot may be larger: how long it takes to read is what
    others wait. Whole number 1024 to 536870912. Default: 2097152."""
    maxDepth: int
    """Depth to which lists and objects of a message are nested. Whole number 8 to 512. Default: 64."""
    maxBatchCalls: int
    """Calls in one JSON-RPC batch. Whole number 1 to 100000. Default: 1000."""
    maxUnfinishedBytes: int
    """Bytes of messages that have begun and not ended, of all connections; the oldest gives way. One always fits. Whole
    number 1024 to 1099511627776. Default: 268435456."""
    maxConnections: int
    """Connections at once; a further one is closed. Whole number 1 to 100000. Default: 1024."""
    maxUnauthenticated: int
    """Connections, besides those, that have not shown the token yet; the oldest gives way. Whole number 1 to 100000.
    Default: 128."""
    maxSessions: int
    """Sessions open at once. Whole number 1 to 1000000. Default: 65536."""
    maxEventsPerCall: int
    """Events in one `session.send`. Whole number 1 to 1000000. Default: 10000."""
    maxInFlightIds: int
    """Ids that a session may hold in flight: in the ledgers of its policy, with those that it may mint for them. Whole
    number 1 to 100000000. Default: 1000000."""
    maxEventIds: int
    """Ids that one event may bring, with those that the policy may mint for them: how long it takes is what others
    wait. Whole number 1 to 100000000. Default: 8192."""
    maxTotalIds: int
    """Ids in flight of all sessions, counted as for `maxInFlightIds`. Whole number 1 to 1000000000. Default:
    4000000."""
    maxProducers: int
    """Producers of a session. Whole number 1 to 100000. Default: 256."""
    keptAnswers: int
    """Last answers kept for each producer: how far back a retry may go. Whole number 1 to 1000. Default: 8."""
    pageDecisions: int
    """Decisions in one answer; `session.more` gets those that follow. Whole number 1 to 1000000. Default: 8192."""
    pageSessions: int
    """Sessions in one answer of `session.list`. Whole number 1 to 100000. Default: 1000."""
    maxBacklog: int
    """Decisions that a streaming session keeps until they are acknowledged. Whole number 1 to 10000000. Default:
    65536."""
    maxPlans: int
    """Plans that are computed or wait for that, of all connections. Whole number 1 to 10000. Default: 32."""
    maxPlansPerConnection: int
    """Those of one connection. Whole number 1 to 10000. Default: 8."""
    maxSubscriptions: int
    """Subscriptions of a session. Whole number 1 to 10000. Default: 64."""
    maxOutputBytes: int
    """Bytes that wait for a client that does not read; past it it is cut off. Whole number 1024 to 1073741824. Default:
    16777216."""
    maxTotalOutputBytes: int
    """Bytes that wait for all clients; past it, a client for whom more than its share waits is not read from until it
    reads. Whole number 1024 to 1099511627776. Default: 268435456."""
    stallSeconds: float
    """Seconds in which a client must read what waits for it, before it is cut off. Number > 0. Default: 30."""


class ServerInfoResultAsideItem(TypedDict):
    """Part of :class:`ServerInfoResult`."""

    session: str
    """Id of the session. String ≤ 256."""
    policy: str
    code: str
    """Code of the refusal."""
    message: str
    """What was expected, and what was found."""


class ServerInfoResultRefusedItem(TypedDict):
    """Part of :class:`ServerInfoResult`."""

    code: str
    """Code of the refusals."""
    limit: NotRequired[str]
    """The limit that was exceeded, if it is one of `limits`."""
    count: int
    """How often. Whole number ≥ 0."""


class ServerInfoResultClosed(TypedDict):
    """Connections that the server has closed since the start, by reason."""

    cutOff: int
    """The client did not read in time. Whole number ≥ 0."""
    turnedAway: int
    """The client did not show the token. Whole number ≥ 0."""
    full: int
    """There were too many connections. Whole number ≥ 0."""


class ServerInfoResult(TypedDict):
    """Result of `server.info`."""

    name: str
    version: str
    """Version of the package."""
    policies: list[ServerInfoResultPolicy]
    planners: list[ServerInfoResultPlanner]
    limits: ServerInfoResultLimits
    sessions: int
    """Sessions that are open. Whole number ≥ 0."""
    aside: NotRequired[list[ServerInfoResultAsideItem]]
    """Sessions that could not be restored and are set aside; at most 100. `session.open` with `onExisting: attach`
    tries again, `session.snapshot` exports its state, `session.close` forgets it. Absent where there are none."""
    refused: list[ServerInfoResultRefusedItem]
    """Calls that were refused since the start, by reason."""
    closed: ServerInfoResultClosed
    """Connections that the server has closed since the start, by reason."""


class ServerAuthenticateParams(TypedDict):
    """Parameters of `server.authenticate`. Shows the token of a server that asks for one; must be the first call of a
    connection. Any other closes it."""

    token: str
    """What is in the token file, without white space at its ends. String ≤ 4096."""


class ServerAuthenticateResult(TypedDict):
    """Result of `server.authenticate`."""


class SessionDecisionParams(TypedDict):
    """A decision of a session that this connection has subscribed to."""

    session: str
    """Id of the session. String ≤ 256."""
    decisionSeq: int
    """Its number; numbers only grow. Whole number ≥ 0."""
    decision: Any
    """The decision."""


class SessionClosedParams(TypedDict):
    """A session that this connection has subscribed to was closed or replaced."""

    session: str
    """Id of the session. String ≤ 256."""
    reason: Literal["closed", "replaced"]
    """What happened to it."""


class SessionWhyResultThroughItem(TypedDict):
    """Part of :class:`SessionWhyResult`."""

    what: str
    """Kind of the thing, such as `prompts`."""
    id: str
    """Its id."""
    stands: str
    """Where it stands, in a few words, such as `runs on engine vllm-0`."""
    since: NotRequired[float]
    """Since when, in seconds on the clock of the session, where this is known. Number ≥ 0."""


class SessionWhyResultOwedItemAsked(TypedDict):
    """The decision that asked for it; only where it is followed."""

    type: str
    """Type of the decision."""
    reason: dict[str, Any]
    """Its reason, with its `code`."""


class SessionWhyResultOwedItemUsual(TypedDict):
    """How long such an event usually takes; only where it is followed, once one has come."""

    medianSeconds: float
    """Median, in seconds. Number ≥ 0."""
    highSeconds: float
    """What 99 percent of the answers do not exceed, in seconds. Number ≥ 0."""
    answers: float
    """Answers from which this was learnt; older ones weigh less. Number ≥ 0."""


class SessionWhyResultOwedItem(TypedDict):
    """Part of :class:`SessionWhyResult`."""

    who: Literal[
        "host", "data source", "engine", "environment", "loader", "reward worker", "sandbox", "timer", "trainer",
    ]
    """Who has to act."""
    by: NotRequired[str]
    """Id of the engine, worker, node or replica that has to act, where it is known."""
    event: dict[str, Any]
    """The event that is missing: its `type`, and the fields that say which one it is."""
    since: NotRequired[float]
    """Since when it is awaited, in seconds on the clock of the session, where this is known. Number ≥ 0."""
    dueAt: NotRequired[float]
    """For a timer: when it is to fire, in seconds on the clock of the session. Number ≥ 0."""
    asked: NotRequired[SessionWhyResultOwedItemAsked]
    """The decision that asked for it; only where it is followed."""
    usual: NotRequired[SessionWhyResultOwedItemUsual]
    """How long such an event usually takes; only where it is followed, once one has come."""


class SessionWhyResultStalled(TypedDict):
    """The thing for which work goes on and gains nothing, if there is one: nobody owes anything."""

    what: str
    """Kind of the thing, such as `prompts`."""
    id: str
    """Its id."""
    stands: str
    """Where it stands, in a few words, such as `runs on engine vllm-0`."""
    since: NotRequired[float]
    """Since when, in seconds on the clock of the session, where this is known. Number ≥ 0."""
    filtered: int
    """How many prompts, or groups, were filtered since one counted last. Whole number ≥ 0."""
    filteredSince: float
    """When the first of them was, in seconds on the clock of the session. Number ≥ 0."""
    mostFiltered: int
    """From how many on this counts as futile: it follows what is usual here. Whole number ≥ 0."""


class SessionWhyResult(TypedDict):
    """Result of `session.why` with an id."""

    what: str
    """Kind of the thing, such as `prompts`."""
    id: str
    """Its id."""
    stands: str
    """Where it stands, in a few words, such as `runs on engine vllm-0`."""
    since: NotRequired[float]
    """Since when, in seconds on the clock of the session, where this is known. Number ≥ 0."""
    through: list[SessionWhyResultThroughItem]
    """What it waits for in turn, from itself to the first event of `owed`. Only with `id`."""
    owed: list[SessionWhyResultOwedItem]
    """The events that would let it go on: those that are overdue first, then the oldest. At most 32."""
    more: int
    """Further such events. Whole number ≥ 0."""
    stalled: NotRequired[SessionWhyResultStalled]
    """The thing for which work goes on and gains nothing, if there is one: nobody owes anything."""
    at: float
    """What the times of the answer compare with, in seconds: the present, if the session has Unix time, otherwise its
    latest time. Number ≥ 0."""
    seq: int
    """Events that the session has applied. Whole number ≥ 0."""


class SessionWhyAllResultRound(TypedDict):
    """Part of :class:`SessionWhyAllResult`."""

    id: str
    """Id of the round."""
    open: bool
    """Whether its rollout goes on (no `round.completed` so far); otherwise only its rest is awaited."""
    kind: NotRequired[str]
    """Kind of the round, such as `long`, where rounds have kinds."""
    stands: str
    """Where it stands, in a few words, such as `has 3 of 4 prompts`."""
    since: NotRequired[float]
    """Since when, in seconds on the clock of the session, where this is known. Number ≥ 0."""
    inFlight: NotRequired[int]
    """How many of its requests were launched and are not over, where the policy launches requests. Whole number ≥ 0."""
    owed: dict[str, int]
    """How many events would let it go on, by their type. It need not wait for all that is in flight."""


class SessionWhyAllResult(TypedDict):
    """Result of `session.why` without an id."""

    rounds: list[SessionWhyAllResultRound]
    """The rounds that are held, the open ones first; at most 32. Only without `id`."""
    owed: list[SessionWhyResultOwedItem]
    """The events that would let it go on: those that are overdue first, then the oldest. At most 32."""
    more: int
    """Further such events. Whole number ≥ 0."""
    stalled: NotRequired[SessionWhyResultStalled]
    """The thing for which work goes on and gains nothing, if there is one: nobody owes anything."""
    at: float
    """What the times of the answer compare with, in seconds: the present, if the session has Unix time, otherwise its
    latest time. Number ≥ 0."""
    seq: int
    """Events that the session has applied. Whole number ≥ 0."""
