/** Who owes what: the table of core against that of the hosts of tests, which was written by hand. */
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { AnyEvent, AnyPolicyDefinition } from '../../../../src/core/machine/definition.ts';
import type { OpenCommand } from '../../../../src/core/why/command-table.ts';
import { type Obligation, obligations, rulesOf } from '../../../../src/core/why/obligations.ts';
import { OpenCommands } from '../../../../src/core/why/open-commands.ts';
import { registry } from '../../../../src/registry.ts';
import { decisions } from '../../../../src/schemas/decisions/index.ts';
import { events } from '../../../../src/schemas/events/index.ts';
import { type Sender, senderOf } from '../../../../src/schemas/senders.ts';
import { commands, type Due, forItems, notices, reports, unanswered } from '../../../../src/testing/hosts/contract.ts';
import { ObedientHost } from '../../../../src/testing/hosts/obedient-host.ts';
import { choicesOf, drain, play } from '../../../../src/testing/hosts/play-to-end.ts';
import { answer, newSubject, type Subject } from '../../../../src/testing/runs/run.ts';
import { exampleConfigs } from '../../../support/examples/configs.ts';

type Fields = Readonly<Record<string, unknown>>;
type Table = ReadonlyMap<string, Obligation>;
type Flags = Pick<Obligation, 'isUnasked' | 'isTimer' | 'portions' | 'each' | 'unnumbered'>;
interface Line extends Due {
  readonly how: 'command' | 'notice' | 'report';
  readonly flags: Flags;
}
const flagsOf = ({ isUnasked, isTimer, portions, each, unnumbered }: Flags): Flags => ({
  ...{ isUnasked, isTimer, portions, each, unnumbered },
});

/** What comes in portions, and what is answered item by item. */
const parts: Readonly<Record<string, Flags>> = {
  // The answer to a first move has no number.
  'gpus.release, items': { each: 'migrations.requestIds', unnumbered: 1 },
  'request.migrate': { unnumbered: 1 },
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

const items = Object.fromEntries(Object.entries(forItems).map(([type, due]) => [`${type}, items`, due]));

const lines: ReadonlyMap<string, Line> = new Map(
  (['command', 'notice', 'report'] as const).flatMap((how) =>
    Object.entries({ command: { ...commands, ...items }, notice: notices, report: reports }[how]).map(
      ([type, due]): [string, Line] => [type, { ...due, how, flags: flagsBy(type, due, how) }],
    ),
  ),
);

/** A table as the contract would say it: of a policy that takes and makes all messages. */
function said(table: Table): Map<string, Line> {
  const kinds = new Map(decisions.map(({ type, kind }) => [type as string, kind]));
  const all = rulesOf({ events, decisions }, table);
  return new Map(
    [...table].flatMap(([type, { also, ...row }]): [string, Line][] =>
      [row, ...(also === undefined ? [] : [also])].flatMap(
        ({ answers, ids, isReport, ...flags }, at): [string, Line][] => {
          if (answers.length === 0) return [];
          const how: Line['how'] = isReport ? 'report' : kinds.get(type)!;
          const instead = all.find((one) => one.type === type && one.answer === answers[0])?.replaces ?? [];
          const line = {
            who: senderOf(answers[0]!),
            ids,
            events: answers as never,
            instead,
            how,
            flags: flagsOf(flags),
          };
          return [[at === 0 ? type : `${type}, items`, line]];
        },
      ),
    ),
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

/** By the event in which a machine is lost: the field that names it, the event in which it is there again, and what it is. */
const machines: Readonly<Record<string, readonly [field: string, back: string, sender: Sender]>> = {
  'engine.lost': ['engineId', 'engine.added', 'engine'],
  'node.lost': ['nodeId', 'node.added', 'loader'],
  'replica.lost': ['replica', 'replica.added', 'trainer'],
  'reward-worker.lost': ['workerId', 'reward-worker.added', 'reward worker'],
};
/** Fields by which answers of machines are told apart; a slice is answered by its rank, whatever becomes of the node. */
const answered = ['dispatchId', 'fetchId', 'preprocessId', 'requestId'];
/** To these, the host gives no work that runs on a machine. */
const unplayed: ReadonlySet<string> = new Set(['agentic-rollout', 'gpu-scale-down', 'tail-pipelining', 'watchdog']);
const losing = registry.policies.filter(
  ({ id, events }) => !unplayed.has(id) && events.some(({ type }) => type in machines),
);

/** A host that keeps the contract, and loses machines: what they owe does not come. */
class LossyHost {
  losses = 0;
  readonly #waits: OpenCommands;
  readonly #host: ObedientHost;
  readonly #subject: Subject;
  readonly #choices = choicesOf(2);
  /** Event and id of the machine that an answer comes from, by a field of the answer and its value. */
  readonly #machineOf = new Map<string, readonly [event: string, id: string]>();
  readonly #added = new Map<string, Fields>();
  readonly #unplaced = new Set<string>();
  readonly #definition: AnyPolicyDefinition;
  /** Whether requests run in chunks: those are placed by the policy, and what began elsewhere is none of them. */
  readonly #isDivided: boolean;

  constructor(definition: AnyPolicyDefinition, config: unknown) {
    this.#definition = definition;
    this.#isDivided = Object.hasOwn(config as object, 'dividedRollout');
    this.#waits = new OpenCommands(definition);
    this.#subject = newSubject(definition, config);
    const beginning = { prefix: 'lost-', choices: this.#choices, weightVersion: 1, isLenient: true };
    this.#host = new ObedientHost(definition, definition.config.parse(config), beginning);
    const heard = this.#host.heard.bind(this.#host);
    this.#host.heard = (event, made) => {
      heard(event, made);
      this.#waits.follow(event, made, this.#subject.at);
      for (const one of [event, ...made]) this.#note(one as unknown as Fields);
    };
  }

  get owed(): unknown[] {
    const isAsked = ({ type, answer }: OpenCommand): boolean => type in commands && answer !== 'timer.fired';
    return this.#waits.open.filter(isAsked).map(({ type, ids, by }) => ({ type, ids, by }));
  }

  play(): void {
    for (let turn = 0; turn < 30; turn += 1) {
      this.#host.begin();
      play(this.#subject, this.#host, 6);
      const engineId = [...this.#added.values()].find(({ type }) => type === 'engine.added')?.engineId ?? 'placed';
      for (const requestId of this.#unplaced) this.#send({ type: 'request.started', requestId, engineId });
      this.#unplaced.clear();
      const all = [...new Map([...this.#machineOf.values()].map((one) => [one.join(' '), one])).values()];
      if (all.length > 0) this.#lose(all[this.#choices.below(all.length)]!);
    }
    play(this.#subject, this.#host);
    drain(this.#definition, this.#subject, this.#host);
  }

  #lose([type, id]: readonly [string, string]): void {
    const [field, back, sender] = machines[type]!;
    const isGone = (one: Fields): boolean =>
      answered.some((name) => name in one && this.#machineOf.get(`${name} ${one[name]}`)?.join() === `${type},${id}`);
    const isLost = this.#send({ type, [field]: id }, () => {
      this.#host.lose((one) => senderOf(one.type) === sender && isGone(one as Fields));
      for (const [name, machine] of this.#machineOf)
        if (machine.join() === `${type},${id}`) this.#machineOf.delete(name);
    });
    if (!isLost) return;
    this.losses += 1;
    this.#send({ ...(this.#added.get(`${field} ${id}`) ?? { [field]: id }), type: back });
  }

  #send(event: Fields, accepted = (): void => undefined): boolean {
    const sent = { ...event, at: this.#subject.at } as unknown as AnyEvent;
    const given = answer(this.#subject, sent);
    if (!('decisions' in given)) return false;
    accepted();
    this.#host.heard(sent, given.decisions);
    return true;
  }

  #note(message: Fields): void {
    const begins = ['request.launch', 'request.resume'].includes(String(message.type));
    if (begins && message.engineId === undefined && !this.#isDivided) this.#unplaced.add(String(message.requestId));
    for (const [lost, [field, back]] of Object.entries(machines)) {
      if (message.type === back) this.#added.set(`${field} ${message[field]}`, message);
      if (!this.#definition.events.some(({ type }) => type === lost)) continue;
      for (const item of [message, ...((message.shares ?? []) as Fields[])])
        for (const name of answered)
          if (item[field] !== undefined && item[name] !== undefined)
            this.#machineOf.set(`${name} ${item[name]}`, [lost, String(item[field])]);
    }
  }
}

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

  test.each(losing.map((one) => [one.id, one] as const))(
    'to %s by machines that are lost is nothing',
    (id, definition) => {
      const hosts = exampleConfigs[id]!.map((config) => new LossyHost(definition, config));
      for (const one of hosts) {
        one.play();
        expect(one.owed).toEqual([]);
      }
      expect(Math.max(...hosts.map(({ losses }) => losses))).toBeGreaterThan(10);
    },
  );
});
