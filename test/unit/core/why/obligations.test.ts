/** Who owes what: the table of core against that of the hosts of tests, which was written by hand. */
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { type Obligation, obligations, rulesOf } from '../../../../src/core/why/obligations.ts';
import { OpenCommands } from '../../../../src/core/why/open-commands.ts';
import { registry } from '../../../../src/registry.ts';
import { decisions } from '../../../../src/schemas/decisions/index.ts';
import { events } from '../../../../src/schemas/events/index.ts';
import { senderOf } from '../../../../src/schemas/senders.ts';
import { commands, type Due, notices, reports, unanswered } from '../../../../src/testing/hosts/contract.ts';
import { ObedientHost } from '../../../../src/testing/hosts/obedient-host.ts';
import { choicesOf, drain, play } from '../../../../src/testing/hosts/play-to-end.ts';
import { newSubject } from '../../../../src/testing/runs/run.ts';
import { exampleConfigs } from '../../../support/examples/configs.ts';

type Table = ReadonlyMap<string, Obligation>;
type Flags = Pick<Obligation, 'isUnasked' | 'isTimer' | 'portions' | 'each'>;
interface Line extends Due {
  readonly how: 'command' | 'notice' | 'report';
  readonly flags: Flags;
}
const flagsOf = ({ isUnasked, isTimer, portions, each }: Flags): Flags => ({ isUnasked, isTimer, portions, each });

/** What comes in portions, and what is answered item by item. */
const parts: Readonly<Record<string, Flags>> = {
  'prompts.request': { portions: ['count', 'prompts'] },
  'train.dispatch': { portions: ['groups', 'groups'] },
  'train.finish': { each: 'shares' },
};

/** What a host sends of its own accord may never come: after a notice, and what a program does after its own reports. */
const flagsBy = (type: string, { who }: Due, how: Line['how']) =>
  flagsOf({
    ...(how !== 'command' && who === 'host' && { isUnasked: true }),
    ...(who === 'timer' && { isTimer: true }),
    ...parts[type],
  });

const lines: ReadonlyMap<string, Line> = new Map(
  (['command', 'notice', 'report'] as const).flatMap((how) =>
    Object.entries({ command: commands, notice: notices, report: reports }[how]).map(([type, due]): [string, Line] => [
      type,
      { ...due, how, flags: flagsBy(type, due, how) },
    ]),
  ),
);

/** A table as the contract would say it: of a policy that takes and makes all messages. */
function said(table: Table): Map<string, Line> {
  const kinds = new Map(decisions.map(({ type, kind }) => [type as string, kind]));
  const all = new Map(rulesOf({ events, decisions }, table).map((one) => [one.type, one]));
  return new Map(
    [...table].flatMap(([type, { answers, ids, isReport, ...flags }]): [string, Line][] => {
      if (answers.length === 0) return [];
      const how = isReport ? 'report' : kinds.get(type)!;
      const instead = all.get(type)?.replaces ?? [];
      return [
        [type, { who: senderOf(answers[0]!), ids, events: answers as never, instead, how, flags: flagsOf(flags) }],
      ];
    }),
  );
}

const byName = <T>(all: ReadonlyMap<string, T>): [string, T][] => [...all].sort(([a], [b]) => (a < b ? -1 : 1));

/** Throws where the two say different things. */
function compare(table: Table, hosts: ReadonlyMap<string, Line>, none = unanswered): void {
  expect(byName(said(table))).toEqual(byName(hosts));
  const silent = [...table].filter(([, { answers }]) => answers.length === 0).map(([type]) => type);
  expect(silent.sort()).toEqual([...none].sort());
}

/** Copies of a row, each with an error. */
function wrong(row: readonly string[], other: string): string[][] {
  const [first, second, ...rest] = row as [string, string, ...string[]];
  return [
    ...row.map((_, left) => row.filter((__, index) => index !== left)),
    [...row, other],
    ...(row.length > 1 ? [[second, first, ...rest]] : []),
  ];
}

const withRow = <T>(table: ReadonlyMap<string, T>, type: string, row: T | undefined): ReadonlyMap<string, T> =>
  new Map(
    [...table].flatMap(([one, is]): [string, T][] =>
      one !== type ? [[one, is]] : row === undefined ? [] : [[one, row]],
    ),
  );

const otherFlags = {
  isReport: true,
  isUnasked: true,
  isTimer: true,
  portions: ['tokens', 'tokens'],
  each: 'tokens',
} as const;

describe('what is owed', () => {
  test('is what the contract says, of every command', () => {
    compare(obligations, lines);
    const all = decisions.filter(({ kind }) => kind === 'command').map(({ type }) => type);
    expect([...Object.keys(commands), ...unanswered].sort()).toEqual([...all].sort());
  });

  test('has ids that both messages have, all of them', () => {
    const shape = (type: string) =>
      [...events, ...decisions].find((one) => one.type === type)!.schema.shape as Record<string, z.ZodType>;
    for (const [type, { answers, ids, each }] of obligations) {
      if (answers.length === 0 || type === 'round.drained') continue;
      const list = each === undefined ? undefined : (shape(type)[each] as z.ZodArray<z.ZodObject>);
      const fields = list === undefined ? shape(type) : list.element.shape;
      const shared = Object.keys(fields).filter((name) => name.endsWith('Id') && name in shape(answers[0]!));
      expect([type, [...ids].sort()]).toEqual([type, shared.sort()]);
    }
  });

  test('a wrong entry of core is found', () => {
    for (const [type, row] of obligations) {
      const all: (Obligation | undefined)[] = [
        undefined,
        ...wrong(row.answers, 'engine.added').map((answers) => ({ ...row, answers: answers as never })),
        ...(row.answers.length === 0 ? [] : wrong(row.ids, 'acmeId').map((ids) => ({ ...row, ids }))),
        ...(row.answers.length === 0 ? [] : (Object.keys(otherFlags) as (keyof typeof otherFlags)[])).map((flag) => ({
          ...row,
          [flag]: row[flag] === undefined ? otherFlags[flag] : undefined,
        })),
      ];
      for (const one of all) expect(() => compare(withRow(obligations, type, one), lines), type).toThrow();
    }
  });

  test('a wrong entry of the hosts is found', () => {
    for (const [type, line] of lines) {
      const all: (Line | undefined)[] = [
        undefined,
        ...wrong(line.events, 'engine.added').map((one) => ({ ...line, events: one as never })),
        ...wrong(line.ids, 'acmeId').map((ids) => ({ ...line, ids })),
        ...wrong(line.instead, 'engine.added').map((instead) => ({ ...line, instead })),
        { ...line, who: line.who === 'sandbox' ? 'loader' : 'sandbox' },
        { ...line, how: line.how === 'report' ? 'notice' : 'report' },
      ];
      for (const one of all) expect(() => compare(obligations, withRow(lines, type, one)), type).toThrow();
    }
    for (const type of unanswered) {
      const less = new Set([...unanswered].filter((one) => one !== type));
      expect(() => compare(obligations, lines, less), type).toThrow();
    }
  });

  test.each(registry.policies.map((one) => [one.id, one] as const))(
    'to %s by a host that keeps the contract is nothing in the end',
    (id, definition) => {
      for (const config of exampleConfigs[id]!) {
        const subject = newSubject(definition, config);
        const waits = new OpenCommands(definition);
        const beginning = { prefix: 'owed-', choices: choicesOf(1), weightVersion: 1 };
        const host = new ObedientHost(definition, definition.config.parse(config), beginning);
        const heard = host.heard.bind(host);
        host.heard = (event, made) => {
          heard(event, made);
          waits.follow(event, made, subject.at);
        };
        host.begin();
        play(subject, host);
        drain(definition, subject, host);
        const open = waits.open.filter(({ type, answer }) => type in commands && answer !== 'timer.fired');
        expect(open.map(({ type, ids }) => ({ type, ids }))).toEqual([]);
      }
    },
  );
});
