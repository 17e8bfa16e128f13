/** Differences between a log and its replay, grouped by the decision and by the codes of its reasons. */
import type { AnyDecision } from '../../core/machine/definition.ts';
import type { LooseEvent } from '../../core/machine/start.ts';
import type { DecisionDifference, DifferenceKind } from './differences.ts';

/** How a group differs: as a decision does, or because this version refuses an event, or a snapshot, of the log. */
export type GroupKind = DifferenceKind | 'event refused' | 'snapshot refused';

/** The place of a difference. */
export interface DifferencePlace {
  /** File and line, as `name:line`. */
  readonly where: string;
  /** Id of the session. */
  readonly session: string;
  /** Number of the event in its session, from 1; for a refused snapshot, the number of events before it. */
  readonly seq: number;
  /** The event; none for a refused snapshot. */
  readonly event?: LooseEvent;
}

/** The first difference of a group. */
export interface GroupExample extends DifferencePlace {
  /** The decision in the log; null without one. */
  readonly logged: AnyDecision | null;
  /** The decision of this version; null without one. */
  readonly replayed: AnyDecision | null;
  /** Why the event or the snapshot was refused. */
  readonly refusal?: string;
}

/** Differences of the same kind, on the same decision, with the same reasons. */
export interface DifferenceGroup {
  /** Kind of the difference. */
  readonly kind: GroupKind;
  /** Type of the decision; for a refused event, the event's type; for a refused snapshot, the policy. */
  readonly type: string;
  /** Code of the logged reason; null without one. */
  readonly logged: string | null;
  /** Code of this version's reason or refusal; null without one. */
  readonly replayed: string | null;
  /** For each field: how often it differs. */
  readonly fields: Readonly<Record<string, number>>;
  /** Differences that no changed decision precedes since the last snapshot of the log. */
  readonly own: number;
  /** Differences after a changed decision, until the next snapshot: they may be consequences of it. */
  readonly following: number;
  /** The first difference of the group. */
  readonly first: GroupExample;
}

type Growing = { -readonly [K in keyof DifferenceGroup]: DifferenceGroup[K] } & { fields: Record<string, number> };

const codeOf = (decision: AnyDecision | undefined): string | null => decision?.reason.code ?? null;

/** Key of a group: its kind, its decision, and the codes of both reasons. */
export const groupKey = ({
  kind,
  type,
  logged,
  replayed,
}: Pick<DifferenceGroup, 'kind' | 'type' | 'logged' | 'replayed'>) => JSON.stringify([kind, type, logged, replayed]);

/** Collects differences into groups. Their number depends on the vocabulary, and not on the length of the log. */
export class DifferenceGroups {
  readonly #groups = new Map<string, Growing>();

  /** Adds a decision that differs. */
  differs({ kind, one, other, fields }: DecisionDifference, place: DifferencePlace, isOwn: boolean): void {
    const example = { ...place, logged: one ?? null, replayed: other ?? null };
    this.#add(kind, (one ?? other)!.type, [codeOf(one), codeOf(other)], example, isOwn, fields);
  }

  /** Adds an event or snapshot that this version refuses. */
  refused(
    kind: GroupKind,
    type: string,
    refusal: { code: string; message: string },
    place: DifferencePlace,
    isOwn: boolean,
  ) {
    const example = { ...place, logged: null, replayed: null, refusal: refusal.message };
    this.#add(kind, type, [null, refusal.code], example, isOwn, []);
  }

  /** The groups: changed decisions before changed reasons, those with most differences of their own first. */
  inOrder(): DifferenceGroup[] {
    const isReason = (one: DifferenceGroup): number => Number(one.kind === 'explained');
    return [...this.#groups.values()].sort((a, b) => isReason(a) - isReason(b) || b.own - a.own);
  }

  #add(
    kind: GroupKind,
    type: string,
    [logged, replayed]: readonly [string | null, string | null],
    first: GroupExample,
    isOwn: boolean,
    fields: readonly string[],
  ): void {
    const names = { kind, type, logged, replayed };
    const key = groupKey(names);
    let group = this.#groups.get(key);
    if (group === undefined) this.#groups.set(key, (group = { ...names, fields: {}, own: 0, following: 0, first }));
    if (isOwn) group.own += 1;
    else group.following += 1;
    for (const field of fields) group.fields[field] = (group.fields[field] ?? 0) + 1;
  }
}
