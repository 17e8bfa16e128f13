/** How the frontier widens while nothing is known, when plans are made, and what is said of a trainer that starves. */
import { describe, expect, test } from 'vitest';
import { create, frontierGroupDispatch } from '../../../src/index.ts';
import type {
  FrontierGroupDispatchDecision,
  FrontierGroupDispatchInput,
} from '../../../src/policies/frontier-group-dispatch/index.ts';
import { generator } from '../../support/basics/numbers.ts';

/** A host that knows what runs. */
class Host {
  readonly policy;
  readonly running: string[] = [];
  readonly inService = new Set<string>();
  at = 0;
  left = 0;

  constructor(config: FrontierGroupDispatchInput) {
    this.policy = create(frontierGroupDispatch, config);
  }

  send(event: object): FrontierGroupDispatchDecision[] {
    const decisions = this.policy.send({ at: this.at, ...event } as never) as FrontierGroupDispatchDecision[];
    for (const one of decisions) {
      if (one.type === 'request.admit') {
        this.running.push(one.requestId);
        this.inService.add(one.promptId);
      }
      if (one.type === 'group.left') {
        this.inService.delete(one.promptId);
        this.left += 1;
      }
    }
    return decisions;
  }

  group(promptId: string, responses: number, roundId = 'r1'): FrontierGroupDispatchDecision[] {
    return Array.from({ length: responses }, (_, index) =>
      this.send({ type: 'request.arrived', requestId: `${promptId}/${index}#0`, promptId, roundId, index }),
    ).flat();
  }

  complete(requestId: string, tokens: number): FrontierGroupDispatchDecision[] {
    this.running.splice(this.running.indexOf(requestId), 1);
    return this.send({ type: 'response.completed', requestId, tokens });
  }

  consumed(seconds: number, groups = 1): FrontierGroupDispatchDecision[] {
    const ids = Array.from({ length: groups }, (_, index) => `g${index}`);
    return this.send({
      type: 'train.consumed',
      fetchId: 'f',
      replica: 'a',
      groups: ids,
      samples: 2,
      tokens: 20,
      seconds,
    });
  }
}

const resized = (decisions: readonly FrontierGroupDispatchDecision[]) =>
  decisions.flatMap((one) => (one.type === 'frontier.resized' ? [one] : []));

describe('before anything is known', () => {
  const begun = (startRequests: number, responses: number, groups = 60) => {
    const host = new Host({ responsesPerPrompt: responses, width: 'auto', startRequests });
    for (let group = 0; group < groups; group += 1) host.group(`p${group}`, responses);
    return host;
  };

  test.each([
    [10, 3, 3],
    [96, 8, 12],
    [8, 8, 1],
    [2, 8, 1],
  ])('with %i requests at the start, of groups of %i, %i groups are admitted', (startRequests, responses, groups) => {
    const host = begun(startRequests, responses);
    expect(host.inService.size).toBe(groups);
    expect(host.running.length).toBe(groups * responses);
  });

  test('another group comes whenever there is room for it among the requests at the start', () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const next = generator(seed);
      const host = begun(10, 3);
      let learnt = 0;
      // Until three groups have left, nothing can be planned.
      while (host.left < 3) {
        host.at += 1 + Math.floor(next() * 5);
        const before = host.inService.size;
        const decisions = host.complete(host.running[Math.floor(next() * host.running.length)]!, 10);
        for (const one of resized(decisions)) {
          learnt += 1;
          expect(one.reason).toMatchObject({ code: 'learning', startRequests: 10 });
          const { unfinished } = one.reason as { unfinished: number };
          expect(unfinished + 3).toBeLessThanOrEqual(10);
          expect(one.width).toBe(before + 1);
        }
        expect(host.running.length + 3).toBeGreaterThan(10);
      }
      expect(learnt).toBeGreaterThan(0);
    }
  });

  test('what ended without a token tells nothing: the frontier stays as it is', () => {
    const host = begun(10, 3);
    host.at = 5;
    expect(resized(host.complete('p0/0#0', 0))).toEqual([]);
    expect(resized(host.complete('p1/0#0', 0))).toEqual([]);
    expect(host.inService.size).toBe(3);
    expect(resized(host.complete('p2/0#0', 4))).toMatchObject([{ width: 4, reason: { unfinished: 6 } }]);
  });

  test('plans are made as many groups have left as it began with, twice as many, four times; none narrows', () => {
    const next = generator(9);
    const host = begun(12, 3);
    const plannedAt: number[] = [];
    let width = 4;
    while (host.running.length > 0) {
      host.at += 1 + Math.floor(next() * 9);
      const before = host.left;
      const decisions = host.complete(host.running[0]!, 5 + Math.floor(next() * 50));
      for (const one of resized(decisions)) {
        expect(one.width).toBeGreaterThan(width);
        width = one.width;
        if (one.reason.code === 'planned') {
          expect(host.left).toBeGreaterThan(before);
          plannedAt.push(host.left);
        }
      }
    }
    expect(host.left).toBe(60);
    expect(plannedAt.length).toBeGreaterThan(0);
    for (const left of plannedAt) expect([4, 8, 16, 32]).toContain(left);
  });

  test('no plan is made late where no group waits for it', () => {
    const host = begun(4, 1, 7);
    while (host.running.length > 0) {
      host.at += 3;
      expect(resized(host.complete(host.running[0]!, 10 + host.left))).toEqual([]);
    }
    // The same with more groups: here it is worth it.
    const more = begun(4, 1, 30);
    const decisions: FrontierGroupDispatchDecision[] = [];
    while (more.running.length > 0) {
      more.at += 3;
      decisions.push(...more.complete(more.running[0]!, 10 + more.left));
    }
    expect(resized(decisions)[0]).toMatchObject({ reason: { code: 'planned', groups: 30 } });
  });
});

test('a plan is made anew when its round has outgrown it by more than a quarter', () => {
  const host = new Host({ responsesPerPrompt: 2, width: 'auto', startRequests: 8 });
  for (let group = 0; group < 8; group += 1) host.group(`p${group}`, 2);
  while (host.running.length > 0) {
    host.at += 3;
    host.complete(host.running[0]!, 10 + host.left);
  }
  // The last round had 8: the next is planned for 8, then for 11, 14 …, the first numbers above a quarter more.
  const planned: number[] = [];
  for (let group = 0; group < 24; group += 1) {
    for (const one of resized(host.group(`n${group}`, 2, 'r2'))) {
      expect(one.reason.code).toBe('planned');
      planned.push((one.reason as { groups: number }).groups);
    }
  }
  const steps = [8, 11, 14, 18, 23];
  expect(steps.slice(1).every((one, at) => one === Math.floor(steps[at]! * 1.25) + 1)).toBe(true);
  for (const groups of planned) expect(steps).toContain(groups);
  expect(planned.length).toBeGreaterThan(1);
});

describe('a trainer that waits 10 s and works 2 s for every group', () => {
  /** The notices of so many reports, each with the number of the report; nothing is known of tokens. */
  function noticesOf(config: Partial<FrontierGroupDispatchInput>, { groups = 20, reports = 16, seconds = 2 } = {}) {
    const host = new Host({ responsesPerPrompt: 1, width: 1, ...config });
    for (let group = 0; group < groups; group += 1) host.group(`p${group}`, 1);
    const notices: [report: number, notice: FrontierGroupDispatchDecision][] = [];
    for (let report = 1; report <= reports && host.running.length > 0; report += 1) {
      host.at += 10;
      host.complete(host.running[0]!, 0);
      host.at += 2;
      for (const one of host.consumed(seconds)) if (one.type === 'frontier.starved') notices.push([report, one]);
    }
    return notices;
  }

  test('is told of at the fourth report, once a round, with the width times the ratio of the rates', () => {
    // Four groups in the 48 s since the first came into service; half a group a second is trained.
    expect(noticesOf({})).toMatchObject([
      [
        4,
        {
          width: 1,
          suggestedWidth: 6,
          reason: { waitedSeconds: 30, busySeconds: 8, servedGroupsPerSecond: 4 / 48, trainedGroupsPerSecond: 0.5 },
        },
      ],
    ]);
    // Half the work: twelve at once would do, but the round has six.
    expect(noticesOf({}, { groups: 6, seconds: 1 })).toMatchObject([[4, { suggestedWidth: 6 }]]);
  });

  test('is told of at the 4th, 8th, 16th … report only, when it has waited more than its share by then', () => {
    // 30 of 38 s at the fourth report, 70 of 86 at the eighth, 150 of 182 at the sixteenth.
    expect(noticesOf({ starvedShare: 30 / 38 }).map(([report]) => report)).toEqual([8]);
    expect(noticesOf({ starvedShare: 0.8 }).map(([report]) => report)).toEqual([8]);
    expect(noticesOf({ starvedShare: 0.82 }).map(([report]) => report)).toEqual([16]);
    expect(noticesOf({ starvedShare: 0.83 })).toEqual([]);
  });

  test('is not told of where no group is deferred, or all of them are in service', () => {
    expect(noticesOf({}, { groups: 4 })).toEqual([]);
    expect(noticesOf({ width: 20 })).toEqual([]);
  });
});
