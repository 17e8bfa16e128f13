import { describe, expect, test } from 'vitest';
import { flexUlysses, runPlanner } from '../../../src/index.ts';
import { spreadFrames } from '../../../src/planners/flex-ulysses/execution/vision.ts';
import {
  type FlexUlyssesInput,
  findDeadlock,
  predictTimeline,
  type TimingCoefficients,
  timingPresets,
} from '../../../src/planners/flex-ulysses/index.ts';
import { refusal } from '../../support/basics/refusal.ts';

/** Everything on one device, or sharded over all of them: packs do not depend on a search. */
const plan = (input: Partial<FlexUlyssesInput> & Pick<FlexUlyssesInput, 'lengths' | 'devices'>) =>
  runPlanner(flexUlysses, { strategy: 'ulysses', ulyssesDegree: input.devices, ...input });
const sequencesOf = (input: Parameters<typeof plan>[0]) => plan(input).packs.map((pack) => pack.sequences);

describe('packs', () => {
  const one = { lengths: [30, 100, 20, 50, 10, 40], devices: 1 };

  test('a sequence above the threshold runs alone, shorter ones fill packs up to the cap', () => {
    // Next-fit from the longest: 40 + 30 reach 70, 20 + 10 begin anew; 100 and 50 are alone.
    const sizes = { packThresholdTokens: 45, packCapTokens: 70 };
    expect(sequencesOf({ ...one, ...sizes })).toEqual([[1], [3], [5, 0], [2, 4]]);
  });

  test('a threshold of 0 packs nothing, a large one everything', () => {
    expect(sequencesOf({ ...one, packThresholdTokens: 0 })).toEqual([[1], [3], [5], [0], [2], [4]]);
    expect(sequencesOf({ ...one, packThresholdTokens: 250 })).toEqual([[1, 3, 5, 0, 2, 4]]);
  });

  test('a sequence longer than the cap runs alone', () => {
    expect(sequencesOf({ ...one, packCapTokens: 60 })).toEqual([[1], [3], [5], [0, 2, 4]]);
  });

  test('without sizes the cap is a quarter of what a top group has', () => {
    // 8 times 100 tokens on one top group of 4: packs of 200.
    const lengths = Array.from({ length: 8 }, () => 100);
    expect(sequencesOf({ lengths, devices: 4 })).toEqual([
      [0, 1],
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
    // A threshold above it raises it.
    expect(sequencesOf({ lengths, devices: 4, packThresholdTokens: 400 })).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
  });

  test('a pack is padded once, and attention stays within its sequences', () => {
    const [pack] = plan({ lengths: [3, 3, 4], devices: 4, packCapTokens: 10 }).packs;
    expect(pack).toEqual({
      degree: 4,
      devices: [0, 1, 2, 3],
      sequences: [2, 0, 1],
      tokens: 10,
      paddedTokens: 12,
      work: 16 + 9 + 9,
    });
  });

  test('empty sequences are in a pack too', () => {
    expect(sequencesOf({ lengths: [0, 9, 0], devices: 1, packCapTokens: 9 })).toEqual([[1, 0, 2]]);
    const { packs } = plan({ lengths: [0, 9, 0], devices: 2 });
    expect(packs).toMatchObject([
      { degree: 2, sequences: [1], paddedTokens: 10 },
      { degree: 1, sequences: [0, 2], tokens: 0, paddedTokens: 0, work: 0 },
    ]);
  });

  test('a cap below the threshold is refused', () => {
    expect(refusal(() => plan({ ...one, packThresholdTokens: 45, packCapTokens: 44 }))).toMatchObject({
      code: 'invalid_input',
      path: 'packCapTokens',
      got: '44',
    });
    expect(refusal(() => plan({ ...one, packCapTokens: -1 })).path).toBe('packCapTokens');
    expect(refusal(() => plan({ ...one, packThresholdTokens: 1.5 })).path).toBe('packThresholdTokens');
  });

  test('no sequences make no packs', () => {
    const empty = plan({ lengths: [], devices: 3, ulyssesDegree: 1, frames: [] });
    expect(empty).toMatchObject({ packs: [], order: [[], [], []] });
    expect(empty.schedule).toEqual({
      makespanSeconds: 0,
      computeSeconds: 0,
      bubbleSeconds: 0,
      bubbleRatio: 0,
      serialSeconds: 0,
    });
    expect(empty.vision).toEqual([0, 1, 2].map((device) => ({ device, slices: [], frames: 0 })));
  });
});

const group = (...devices: number[]) => ({ degree: devices.length, devices });

describe('findDeadlock', () => {
  // A on all four, C on two of them, B on all four.
  const [a, c, b] = [group(0, 1, 2, 3), group(0, 1), group(0, 1, 2, 3)];
  const common = {
    packs: [a, c, b],
    order: [
      [0, 1, 2],
      [0, 1, 2],
      [0, 2],
      [0, 2],
    ],
  };

  test('a common order of all packs is enough only where nothing overlaps', () => {
    expect(findDeadlock(common, { overlap: false })).toBeUndefined();
    // Devices 2 and 3 come to B before A is through, as nothing is between them there.
    expect(findDeadlock(common)).toEqual({
      kind: 'pairing',
      devices: [0, 2],
      packs: [0, 2],
      message:
        'in the group 0, 1, 2, 3, device 0 comes to the second all-to-all of pack 0 ' +
        'and device 2 to the first all-to-all of pack 2',
    });
  });

  test('highest degree first is enough', () => {
    const order = [
      [0, 2, 1],
      [0, 2, 1],
      [0, 2],
      [0, 2],
    ];
    expect(findDeadlock({ packs: [a, c, b], order })).toBeUndefined();
    expect(findDeadlock({ packs: [a, c, b], order }, { pass: 'backward' })).toBeUndefined();
  });

  test('devices that wait for each other are named, in the order in which they wait', () => {
    // The example of the paper: one enters the pair while the others enter the four.
    const order = [[1, 0], [0, 1], [0], [0]];
    const found = findDeadlock({ packs: [a, c], order });
    expect(found).toMatchObject({ kind: 'cycle', devices: [0, 1], packs: [1, 0] });
    expect(found!.message).toBe(
      'device 0 in the first all-to-all of pack 1 waits for device 1; ' +
        'device 1 in the first all-to-all of pack 0 waits for device 0',
    );
  });

  test('a cycle may go around many groups', () => {
    const ring = [group(0, 1), group(1, 2), group(2, 3), group(0, 3)];
    const order = [
      [0, 3],
      [1, 0],
      [2, 1],
      [3, 2],
    ];
    expect(findDeadlock({ packs: ring, order })).toMatchObject({ kind: 'cycle', devices: [0, 1, 2, 3] });
    expect(findDeadlock({ packs: ring, order }, { pass: 'backward' })?.kind).toBe('cycle');
  });

  test('a device that is missing, strange, or comes twice is a wrong pair', () => {
    const packs = [group(0, 1)];
    expect(findDeadlock({ packs, order: [[0], []] })).toMatchObject({ kind: 'pairing', packs: [0, -1] });
    expect(findDeadlock({ packs, order: [[0], [0], [0]] })).toMatchObject({ kind: 'pairing', devices: [2] });
    expect(
      findDeadlock({
        packs,
        order: [
          [0, 0],
          [0, 0],
        ],
      })?.message,
    ).toBe('device 0 lists pack 0 twice');
    expect(findDeadlock({ packs, order: [[0]] })?.kind).toBe('pairing');
  });

  test('an order of other packs is refused', () => {
    expect(refusal(() => findDeadlock({ packs: [group(0)], order: [[0, 1]] }))).toMatchObject({
      code: 'invalid_input',
      path: 'order[0][1]',
    });
    expect(refusal(() => findDeadlock({ packs: [{ degree: 1, devices: [0, 1] }], order: [] })).path).toBe(
      'packs[0].degree',
    );
  });

  test('unsharded packs and idle devices have no part in it', () => {
    expect(findDeadlock({ packs: [group(0), group(1)], order: [[0], [1], []] })).toBeUndefined();
    expect(findDeadlock({ packs: [], order: [] })).toBeUndefined();
  });
});

describe('schedule', () => {
  /** One second for each token of a device, and two for each all-to-all. */
  const timing: TimingCoefficients = {
    attentionSeconds: { perPack: 0, perToken: 1, perTokenSquared: 0 },
    allToAllSeconds: { perPeer: 2, perToken: 0, perTokenBetweenNodes: 0, perTokenSquared: 0 },
  };
  const packOf = (sequence: number, tokens: number, ...devices: number[]) => ({
    ...group(...devices),
    sequences: [sequence],
    tokens,
    paddedTokens: tokens,
    work: 0,
  });
  const timeline = (packs: ReturnType<typeof packOf>[], order: number[][]) =>
    predictTimeline(
      { packs, order },
      packs.map((pack) => pack.tokens),
      { timing },
    );

  test('all-to-alls of the next pack run while one computes, and the last one is waited for', () => {
    const packs = [packOf(0, 10, 0, 1), packOf(1, 10, 0, 1)];
    const { schedule, spans } = timeline(packs, [
      [0, 1],
      [0, 1],
    ]);
    // 2 to send, 5 and 5 to compute, 2 to send back; all else is hidden.
    expect(schedule).toEqual({
      makespanSeconds: 14,
      computeSeconds: 10,
      bubbleSeconds: 4,
      bubbleRatio: 4 / 14,
      serialSeconds: 18,
    });
    const first = spans.filter((span) => span.device === 0);
    expect(
      first.map(({ stream, operation, pack, startSeconds, endSeconds }) => [
        stream,
        operation,
        pack,
        startSeconds,
        endSeconds,
      ]),
    ).toEqual([
      ['communication', 'all-to-all-1', 0, 0, 2],
      ['communication', 'all-to-all-1', 1, 2, 4],
      ['communication', 'all-to-all-2', 0, 7, 9],
      ['communication', 'all-to-all-2', 1, 12, 14],
      ['computation', 'attention', 0, 2, 7],
      ['computation', 'attention', 1, 7, 12],
    ]);
  });

  test('unsharded packs hide the first all-to-all, and run where nothing is sharded too', () => {
    const packs = [packOf(0, 10, 0, 1), packOf(1, 3, 0), packOf(2, 20, 2)];
    const { schedule, devices } = timeline(packs, [[0, 1], [0], [2]]);
    // Device 0 computes 3 alone while it sends; its attention starts at 3, that of device 1 at 2.
    expect(schedule).toMatchObject({ makespanSeconds: 20, computeSeconds: 20, serialSeconds: 20 });
    expect(devices).toEqual([
      { computeSeconds: 8, bubbleSeconds: 12 },
      { computeSeconds: 5, bubbleSeconds: 15 },
      { computeSeconds: 20, bubbleSeconds: 0 },
    ]);
    expect(timeline(packs.slice(0, 2), [[0, 1], [0]]).schedule).toMatchObject({
      makespanSeconds: 10,
      serialSeconds: 12,
    });
  });

  test('a collective waits for the last of its members', () => {
    // Device 1 computes alone for 9 first, so the second all-to-all of both starts at 9 + 5.
    const packs = [packOf(0, 10, 0, 1), packOf(1, 9, 1)];
    expect(timeline(packs, [[0], [0, 1]]).schedule.makespanSeconds).toBe(16);
  });

  test('unsharded packs in front can cost more than they hide', () => {
    // Device 0 holds A back for 10, and with it all that devices 2 and 3 have left; last, they would hold nothing back.
    const packs = [packOf(0, 4, 0, 1, 2, 3), packOf(1, 10, 2, 3), packOf(2, 10, 2, 3), packOf(3, 40, 0)];
    const { schedule } = timeline(packs, [[0, 3], [0], [0, 1, 2], [0, 1, 2]]);
    expect(schedule.makespanSeconds).toBeGreaterThan(schedule.serialSeconds);
  });

  test('what is not sharded has no all-to-all, and what crosses nodes pays for it', () => {
    const between = { ...timing, allToAllSeconds: { ...timing.allToAllSeconds, perTokenBetweenNodes: 1 } };
    const packs = [packOf(0, 16, 0, 1, 2, 3)];
    const order = [[0], [0], [0], [0]];
    const seconds = (devicesPerNode: number) =>
      predictTimeline({ packs, order }, [16], { timing: between, devicesPerNode }).schedule.makespanSeconds;
    // Three peers cost 6 each way; each device sends 1 token to each of the others.
    expect(seconds(4)).toBe(6 + 4 + 6);
    expect(seconds(2)).toBe(8 + 4 + 8);
    expect(seconds(1)).toBe(9 + 4 + 9);
    // Of three on a node and one on another, the one alone sends most.
    expect(seconds(3)).toBe(9 + 4 + 9);
  });

  test('the model of a plan is that of its costs', () => {
    const lengths = [40_000, 40_000];
    const seconds = (costs: FlexUlyssesInput['costs']) => plan({ lengths, devices: 2, costs }).schedule.makespanSeconds;
    expect(seconds(undefined)).toBe(seconds({ timing: 'H800' }));
    expect(seconds({ timing: timingPresets.H200 })).toBe(seconds({ timing: 'H200' }));
    // What is absent is that of H800.
    expect(seconds({ timing: { allToAllSeconds: timingPresets.H200.allToAllSeconds } })).toBe(
      seconds({ timing: 'H200' }),
    );
    expect(seconds({ timing: { attentionSeconds: {} } })).toBeLessThan(seconds(undefined));
    expect(refusal(() => seconds({ timing: {} }))).toMatchObject({ code: 'invalid_input', path: 'costs.timing' });
    expect(seconds({ timing: 'H200' })).toBeLessThan(seconds({ timing: 'H800' }));
    expect(refusal(() => seconds({ timing: 'A100' as never }))).toMatchObject({
      code: 'invalid_input',
      path: 'costs.timing',
    });
    expect(refusal(() => seconds({ timing: { attentionSeconds: { perToken: -1 }, allToAllSeconds: {} } })).path).toBe(
      'costs.timing.attentionSeconds.perToken',
    );
  });

  test('a timeline is refused for what cannot be executed', () => {
    const packs = [packOf(0, 10, 0, 1)];
    const order = [[0], [0]];
    expect(refusal(() => predictTimeline({ packs, order: [[0], []] }, [10]))).toMatchObject({
      code: 'invalid_input',
      path: 'order',
    });
    expect(refusal(() => predictTimeline({ packs, order }, []))).toMatchObject({
      code: 'invalid_input',
      path: 'lengths',
    });
    expect(refusal(() => predictTimeline({ packs, order }, [10], { devicesPerNode: 0 })).path).toBe('devicesPerNode');
  });
});

describe('frames', () => {
  const at = (sequence: number, ...devices: number[]) => ({ sequence, ...group(...devices) });

  test('each stays with its sequence where that is even', () => {
    const { shares, moved } = spreadFrames([at(0, 0), at(1, 1), at(2, 0, 1)], [3, 1, 2], 2);
    expect(moved).toBe(0);
    expect(shares).toEqual([
      { device: 0, slices: [{ sequence: 0, from: 0, to: 3 }], frames: 3 },
      {
        device: 1,
        slices: [
          { sequence: 1, from: 0, to: 1 },
          { sequence: 2, from: 0, to: 2 },
        ],
        frames: 3,
      },
    ]);
  });

  test('what is left of two videos goes to the free devices in the order of their groups', () => {
    const { shares, moved } = spreadFrames([at(0, 5), at(1, 2, 3)], [40, 40], 8);
    expect(moved).toBe(50);
    expect(shares.map(({ slices }) => slices.map(({ sequence }) => sequence))).toEqual([
      [1],
      [1],
      [1],
      [1],
      [0],
      [0],
      [0],
      [0],
    ]);
  });

  test('a video on one device is spread over all of them', () => {
    const { shares, moved } = spreadFrames([at(0, 2)], [10], 4);
    expect(shares.map(({ slices }) => slices.map(({ from, to }) => [from, to]))).toEqual([
      [[0, 3]],
      [[3, 5]],
      [[5, 8]],
      [[8, 10]],
    ]);
    expect(moved).toBe(7);
  });

  test('frames of a sharded video lie in the order of its shards', () => {
    const { shares, moved } = spreadFrames([at(0, 0, 1, 2, 3)], [8], 4);
    expect(shares.map(({ slices }) => slices)).toEqual([
      [{ sequence: 0, from: 0, to: 2 }],
      [{ sequence: 0, from: 2, to: 4 }],
      [{ sequence: 0, from: 4, to: 6 }],
      [{ sequence: 0, from: 6, to: 8 }],
    ]);
    expect(moved).toBe(0);
  });

  test('the plan has them, with what has to be moved', () => {
    const lengths = [900, 10, 10, 10];
    const frames = [6, 0, 1, 1];
    const { vision, metrics } = plan({ lengths, devices: 4, ulyssesDegree: 1, frames });
    expect(vision!.map((share) => share.frames)).toEqual([2, 2, 2, 2]);
    expect(metrics.movedFrames).toBe(4);
    expect(plan({ lengths, devices: 4, ulyssesDegree: 1 })).not.toHaveProperty('vision');
  });

  test('fewer frames than devices, and an empty sequence with frames', () => {
    const { vision } = plan({ lengths: [0, 5], devices: 4, frames: [2, 1] });
    expect(vision!.map((share) => share.frames).sort()).toEqual([0, 1, 1, 1]);
  });

  test('their number is that of the sequences', () => {
    expect(refusal(() => plan({ lengths: [5, 5], devices: 1, frames: [1] }))).toMatchObject({
      code: 'invalid_input',
      path: 'frames',
      got: '1',
    });
    expect(refusal(() => plan({ lengths: [5], devices: 1, frames: [-1] })).path).toBe('frames[0]');
  });
});
