/** What a long run has to say: a table by policy, and the same as JSON. */
import { createHash } from 'node:crypto';
import { fixed, plainTable } from '../../src/cli/terminal/plain-table.ts';
import type { AnyPolicyDefinition } from '../../src/core/machine/definition.ts';
import { addSeen, type Coverage, coverageOf, nothingSeen, type Seen } from './coverage.ts';
import type { LaneRecord, RunRecord } from './record.ts';

/** A policy, over all of its configurations. */
export interface PolicyReport {
  readonly policy: string;
  readonly configurations: number;
  readonly events: number;
  readonly refused: number;
  readonly decisions: number;
  readonly malformed: number;
  readonly restores: number;
  readonly lives: number;
  readonly eventsPerSecond: number;
  /** Decisions in each quarter of the events; shorter while it is not done. */
  readonly decisionsByQuarter: readonly number[];
  /** Characters of the greatest state at the end of each quarter. */
  readonly stateBytesByQuarter: readonly number[];
  readonly coverage: Coverage;
  readonly seen: Seen;
}

/** A run, or as much of it as is done. */
export interface LongRunReport {
  readonly of: string;
  readonly node: string;
  readonly seed: number;
  readonly life: number;
  readonly eventsAsked: number;
  readonly events: number;
  readonly refused: number;
  readonly decisions: number;
  readonly malformed: number;
  readonly restores: number;
  readonly seconds: number;
  readonly sessions: number;
  readonly heap: RunRecord['heap'];
  /** Of all answers: the same for the same seed and events, however often the run was stopped. */
  readonly digest: string;
  readonly policies: readonly PolicyReport[];
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** The report of a run. */
export function reportOf(record: RunRecord, definitions: readonly AnyPolicyDefinition[]): LongRunReport {
  const { of, seed, life, events, lanes, sessions, heap } = record;
  const total = (key: 'done' | 'refused' | 'decisions' | 'malformed' | 'restores' | 'seconds'): number =>
    sum(lanes.map((one) => one[key]));
  const digest = createHash('sha256');
  for (const one of lanes) digest.update(one.digest);
  return {
    of,
    node: process.version,
    seed,
    life,
    eventsAsked: events,
    events: total('done'),
    refused: total('refused'),
    decisions: total('decisions'),
    malformed: total('malformed'),
    restores: total('restores'),
    seconds: total('seconds'),
    sessions,
    heap,
    digest: digest.digest('hex'),
    policies: definitions.map((definition) =>
      policyReport(
        definition,
        lanes.filter((one) => one.policy === definition.id),
      ),
    ),
  };
}

function policyReport(definition: AnyPolicyDefinition, lanes: readonly LaneRecord[]): PolicyReport {
  const seen = nothingSeen();
  for (const one of lanes) addSeen(seen, one.seen);
  const events = sum(lanes.map((one) => one.done));
  const full = Math.min(...lanes.map((one) => one.quarters.length));
  const quarters = Array.from({ length: full }, (_, index) => lanes.map((one) => one.quarters[index]!));
  const decisions = quarters.map((marks) => sum(marks.map((one) => one.decisions)));
  return {
    policy: definition.id,
    configurations: lanes.length,
    events,
    refused: sum(lanes.map((one) => one.refused)),
    decisions: sum(lanes.map((one) => one.decisions)),
    malformed: sum(lanes.map((one) => one.malformed)),
    restores: sum(lanes.map((one) => one.restores)),
    lives: sum(lanes.map((one) => one.lives)),
    eventsPerSecond: Math.round(events / Math.max(1e-9, sum(lanes.map((one) => one.seconds)))),
    decisionsByQuarter: decisions.map((so, index) => so - (decisions[index - 1] ?? 0)),
    stateBytesByQuarter: quarters.map((marks) => Math.max(...marks.map((one) => one.snapshotBytes))),
    coverage: coverageOf(definition, seen),
    seen,
  };
}

const english = (value: number): string => value.toLocaleString('en');
const mib = (bytes: number): string => `${fixed(bytes / 2 ** 20)} MiB`;
const of = ({ seen, declared }: { seen: number; declared: number }): string => `${seen}/${declared}`;
const kb = (values: readonly number[]): string => values.map((one) => fixed(one / 1000)).join(' ');

/** The report as a table, with the lines that belong to it. */
export function reportText(report: LongRunReport): string {
  const table = plainTable<PolicyReport>(
    [
      ['policy', (one) => one.policy],
      ['events', (one) => english(one.events)],
      ['a sec.', (one) => english(one.eventsPerSecond)],
      ['decisions', (one) => english(one.decisions)],
      ['refusals', (one) => english(one.refused)],
      ['restores', (one) => english(one.restores)],
      ['state, kB\nby quarter', (one) => kb(one.stateBytesByQuarter)],
      ['event\ntypes', (one) => of(one.coverage.events)],
      ['decision\ntypes', (one) => of(one.coverage.decisions)],
      ['reason\ncodes', (one) => of(one.coverage.reasons)],
    ],
    report.policies,
  );
  const asked = report.events < report.eventsAsked ? ` of ${english(report.eventsAsked)}` : '';
  const heap = report.heap.map((one) => `${mib(one.bytes)} after ${english(one.done)}`).join(', ');
  const lines = [
    table,
    '',
    `${report.of.split(':')[0]}, Node ${report.node}, seed ${report.seed}, a new life every ${english(report.life)} events`,
    `${english(report.events)}${asked} events, ${english(report.decisions)} decisions, ${english(report.refused)} refusals, ${english(report.malformed)} malformed events refused, ${english(report.restores)} restores`,
    `${fixed(report.seconds, 0)} s of work in ${report.sessions} ${report.sessions === 1 ? 'session' : 'sessions'}; no law was broken`,
    `heap: ${heap}`,
    `digest of all answers: ${report.digest}`,
  ];
  const unseen = report.policies.flatMap(({ policy, coverage: { events, reasons } }) => {
    const missing = [...events.missing, ...reasons.missing];
    return missing.length === 0 ? [] : [`  ${policy}: ${missing.join(', ')}`];
  });
  if (unseen.length > 0)
    lines.push('', 'declared and not seen (a decision has one set of reasons for all that make it):', ...unseen);
  return lines.join('\n');
}
