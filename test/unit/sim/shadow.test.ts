import { afterAll, describe, expect, test } from 'vitest';
import { selectTp } from '../../../src/policies/adaptive-tp/index.ts';
import { FileDecisionLog, RpcServer } from '../../../src/rpc/index.ts';
import { peakTokens } from '../../../src/sim/log-report/oracle.ts';
import { type ShadowReport, shadowReport } from '../../../src/sim/log-report/report.ts';
import { Folders, linesOf } from '../../support/decision-log.ts';
import { HandClock, WireClient } from '../../support/rpc.ts';
import { cluster, realPeak } from '../../support/scale-down-model.ts';

const folders = new Folders();
afterAll(() => folders.remove());

type Event = Readonly<Record<string, unknown>>;

/** A session in shadow mode, and the report of its log. */
class Shadow {
  readonly #directory = folders.next();
  readonly #log = new FileDecisionLog({ logDir: this.#directory });
  readonly #server = new RpcServer({ decisionLog: this.#log, clock: new HandClock() });
  readonly client = new WireClient(this.#server);

  async open(policy: string, config?: object): Promise<this> {
    await this.client.call('session.open', { policy, config, session: 'x', shadow: true });
    return this;
  }

  async send(...events: Event[]): Promise<Event[]> {
    return (await this.client.call('session.send', { session: 'x', events })).decisions;
  }

  decided(decision: object, at = 0): Promise<Event[]> {
    return this.send({ type: 'host.decided', at, decision });
  }

  async report(only?: string): Promise<ShadowReport> {
    this.#server.close();
    await this.#log.close();
    return shadowReport(linesOf(this.#directory), only);
  }
}

describe('sandbox-timeout in shadow mode', () => {
  test('seconds saved, correct runs cut, and runs that would have gone on, from the runs as they were', async () => {
    const shadow = await new Shadow().open('sandbox-timeout', {
      timeoutFactor: 2,
      minTimeoutSeconds: 1,
      exploreEvery: 0,
    });
    let at = 0;
    const run = async (runId: string, outcome: string, seconds: number, host?: number): Promise<void> => {
      at += 1;
      await shadow.send({ type: 'sandbox.requested', at, runId, testCaseId: 'case' });
      if (host !== undefined) await shadow.decided({ type: 'sandbox.run', runId, timeoutSeconds: host }, at);
      await shadow.send({ type: 'sandbox.finished', at, runId, outcome, seconds });
    };
    await run('first', 'correct', 1, 30); // no anchor: both 30
    await run('doomed', 'timeout', 20, 20); // policy 2: 18 s saved
    await run('wrong', 'wrong', 5, 20); // policy 2: 3 s saved
    await run('slow', 'correct', 6, 20); // policy 2: cut
    await run('patient', 'timeout', 3, 3); // policy 12: goes on for 9 s at most
    await run('broken', 'infrastructure', 50, 20);
    await run('silent', 'wrong', 1); // the host does not say what it chose
    const { sessions, droppedLines } = await shadow.report();
    expect(droppedLines).toBe(0);
    const [{ decisions, worth, ...rest }] = sessions as [(typeof sessions)[0]];
    expect(rest).toEqual({ session: 'x', policy: 'sandbox-timeout', events: 14, missingEvents: 0 });
    expect(decisions).toMatchObject([{ decision: 'sandbox.run', agreed: 1, differed: 5, onlyHost: 0, onlyPolicy: 1 }]);
    expect(decisions[0]!.differences[0]).toMatchObject({
      id: 'doomed',
      host: { timeoutSeconds: 20 },
      policy: { timeoutSeconds: 2 },
      reason: { code: 'anchored', anchorSeconds: 1, timeoutFactor: 2 },
      where: expect.stringMatching(/^decisions-00000001\.jsonl:\d+$/),
    });
    expect(worth).toEqual({
      runs: 6,
      runSeconds: 36,
      correctRuns: 2,
      stoppedEarlier: 2,
      savedSeconds: 21,
      correctCut: 1,
      correctCutSeconds: 4,
      letGoOn: 1,
      letGoOnSeconds: 9,
    });
  });
});

describe('adaptive-tp in shadow mode', () => {
  const row = (tp: number, batchSize: number, decodeStepSeconds: number) => ({
    tp,
    batchSize,
    sequenceLength: 1024,
    decodeStepSeconds,
    prefillSeconds: 0.1,
    bytes: 1e9,
  });
  const profile = [row(1, 1, 0.02), row(1, 64, 0.08), row(2, 1, 0.012), row(2, 64, 0.05)];
  const memory = { gpuMemoryBytes: 80e9, memoryUtilization: 0.9 };
  const servers = [{ serverId: 's0', gpuIds: ['g0', 'g1'] }];
  const config = { servers, kvHeads: 8, modelBytes: 15e9, ...memory, profile };
  const workload = { responses: 64, promptTokens: 200, responseTokens: 700, longestTokens: 900 };
  const planned = (roundId: string) => ({
    type: 'round.planned',
    at: 0,
    roundId,
    kind: 'short',
    weightVersion: 0,
    queued: [],
    reason: { code: 'queue_below_threshold', queued: 0, promptsPerRound: 8 },
  });
  const finished = (roundId: string, tp: number) => ({
    type: 'step.finished',
    at: 0,
    roundId,
    kind: 'short',
    tp,
    preemptions: 0,
    seconds: 50,
    workload,
  });

  test('each round with both degrees, and what the profile predicts for them', async () => {
    const shadow = await new Shadow().open('adaptive-tp', { ...config, expectedWorkload: { short: workload } });
    const [, use] = await shadow.send(planned('r1'));
    const chosen = use!.tp as number;
    const other = 3 - chosen;
    await shadow.decided({ type: 'round-tp.set', roundId: 'r1', kind: 'short', tp: chosen });
    await shadow.send(finished('r1', chosen), planned('r2'), finished('r2', other), finished('r3', other));
    await shadow.decided({ type: 'round-tp.set', roundId: 'r9', tp: 1 });
    await shadow.send(planned('r4'));
    const [session] = (await shadow.report()).sessions;
    expect(session!.decisions).toMatchObject([
      { decision: 'round-tp.set', agreed: 1, differed: 2, onlyHost: 1, onlyPolicy: 1 },
    ]);
    expect(session!.decisions[0]!.differences[0]).toMatchObject({
      id: 'r2',
      host: { tp: other },
      policy: { tp: chosen },
      reason: { code: 'start_profile' },
    });
    const { candidates } = selectTp({ rows: profile, ...memory }, { ...workload, gpus: 2 });
    const secondsOf = (tp: number) => candidates.find((one) => one.tp === tp)!.predictedSeconds!;
    expect(session!.worth).toEqual({
      rounds: 2,
      predictedRounds: 2,
      hostSeconds: 2 * secondsOf(other),
      policySeconds: 2 * secondsOf(chosen),
      notLearntFrom: 2,
    });
    expect(secondsOf(chosen)).toBeLessThan(secondsOf(other));
  });

  test('without a profile there are no numbers, and none are made up', async () => {
    const shadow = await new Shadow().open('adaptive-tp', { ...config, profile: [] });
    await shadow.send(finished('r1', 2), finished('r2', 2));
    const [session] = (await shadow.report()).sessions;
    expect(session!.decisions).toMatchObject([{ agreed: 0, differed: 2, onlyHost: 0, onlyPolicy: 0 }]);
    expect(session!.worth).toMatchObject({ rounds: 2, predictedRounds: 0, hostSeconds: 0, policySeconds: 0 });
  });
});

describe('gpu-scale-down in shadow mode', () => {
  const config = { promptsPerRound: 1, responsesPerPrompt: 10, engines: cluster(2, 1000), maxResponseTokens: 400 };
  const held = { code: 'held', held: 1, needed: 1 };
  const accepted = (): Event => ({
    type: 'response.accepted',
    at: 0,
    requestId: 'any',
    promptId: 'any',
    reason: held,
  });
  const opened = (roundId: string) => ({
    type: 'round.opened',
    at: 0,
    roundId,
    kind: 'long',
    weightVersion: 0,
    prompts: [],
  });
  const running = (requests: number, tokens: number) =>
    Array.from({ length: requests }, (_, at) => ({
      requestId: `p${at}/0#0`,
      engineId: `e${at % 2}`,
      tokens,
      promptTokens: 10,
    }));

  /** One round up to its first evaluation, which is told what is running, and how long that becomes. */
  async function round(shadow: Shadow, roundId: string, requests: number, tokens: number, length: number) {
    await shadow.send(opened(roundId), accepted());
    const [query] = await shadow.send(accepted());
    expect(query).toMatchObject({ type: 'progress.query' });
    const all = running(requests, tokens).map((one) => ({ ...one, requestId: `${roundId}${one.requestId}` }));
    const [answer] = await shadow.send({ type: 'progress.reported', at: 0, queryId: query!.queryId, requests: all });
    if (answer!.type === 'gpus.release') {
      const { releaseId } = answer as { releaseId: string };
      const [reclaim] = await shadow.send({ type: 'gpus.release.failed', at: 0, releaseId });
      await shadow.send({ type: 'gpus.returned', at: 0, roundId, releaseId, gpuIds: reclaim!.gpuIds });
    }
    for (const { requestId } of all)
      await shadow.send({ type: 'response.completed', at: 1, requestId, tokens: length });
    const reason = { code: 'quota_reached', counted: 1, needed: 1 };
    const end = { type: 'round.completed', at: 1, roundId, kind: 'long', weightVersion: 0, prompts: [] };
    await shadow.send({ ...end, openedSeconds: 1, deferred: 0, reason });
    return answer!;
  }

  test('releases and refusals, judged by the lengths that responses came to', async () => {
    const shadow = await new Shadow().open('gpu-scale-down', config);
    // Two of at most 400 tokens fit into one engine of 1,000, whatever becomes of them.
    expect(await round(shadow, 'a', 2, 50, 300)).toMatchObject({ type: 'gpus.release' });
    await shadow.decided({ type: 'scale-down.rejected', roundId: 'a' });
    // Ten do not, as far as is known; they end early, and would have fitted.
    expect(await round(shadow, 'b', 10, 50, 60)).toMatchObject({ type: 'scale-down.rejected' });
    await shadow.decided({ type: 'scale-down.rejected', roundId: 'b' });
    expect(await round(shadow, 'c', 10, 90, 300)).toMatchObject({ type: 'scale-down.rejected' });
    await shadow.decided({ type: 'gpus.release', roundId: 'c' });
    const [session] = (await shadow.report()).sessions;
    expect(session!.decisions).toMatchObject([
      { decision: 'gpus.release', agreed: 1, differed: 2, onlyHost: 0, onlyPolicy: 0 },
    ]);
    expect(session!.decisions[0]!.differences[0]).toMatchObject({
      id: 'a',
      host: { released: false },
      policy: { released: true },
      reason: { code: 'fits', projectedTokens: expect.any(Number) },
    });
    expect(session!.worth).toEqual({
      released: 1,
      releasedFitted: 1,
      releasedTooEarly: 0,
      rejected: 2,
      rejectedRightly: 1,
      rejectedMightFit: 1,
      unknown: 0,
    });
  });

  test('a release that would have gone over, and responses whose end nobody has told', async () => {
    const shadow = await new Shadow().open('gpu-scale-down', { ...config, trigger: 0.2 });
    expect(await round(shadow, 'a', 10, 50, 300)).toMatchObject({ type: 'gpus.release' });
    await shadow.send(opened('b'), accepted());
    const [query] = await shadow.send(accepted());
    const requests = running(2, 5);
    await shadow.send({ type: 'progress.reported', at: 0, queryId: query!.queryId, requests });
    const [session] = (await shadow.report()).sessions;
    expect(session!.worth).toMatchObject({ released: 2, releasedFitted: 0, releasedTooEarly: 1, unknown: 1 });
  });

  test('the oracle finds the same peak as one that looks at every token', () => {
    for (let seed = 1; seed < 200; seed += 1) {
      const requests = Array.from({ length: seed % 9 }, (_, at) => ({
        heldTokens: (seed * 37 + at * 11) % 50,
        leftTokens: (seed * 13 + at * 29) % 40,
      }));
      let peak = 0;
      for (let step = 0; step <= 40; step += 1) {
        const there = requests.filter(({ leftTokens }) => leftTokens >= step);
        peak = Math.max(
          peak,
          there.reduce((sum, { heldTokens }) => sum + heldTokens + step, 0),
        );
      }
      expect(peakTokens(requests)).toBe(peak);
      const known = requests.map(({ heldTokens, leftTokens }) => ({
        tokens: heldTokens,
        promptTokens: 0,
        left: leftTokens,
      }));
      expect(peakTokens(requests)).toBe(realPeak(known as never));
    }
  });
});

describe('a session in shadow mode', () => {
  test('is refused where nothing is known without its own decisions', async () => {
    const shadow = new Shadow();
    const open = { policy: 'tail-batching', config: { promptsPerRound: 2, responsesPerPrompt: 2 }, shadow: true };
    const { expected } = await shadow.client.fails('session.open', open, { code: 'invalid_input', path: 'shadow' });
    expect(expected).toContain('simulate --from-log');
    await expect(shadow.report()).rejects.toMatchObject({ code: 'invalid_input', path: 'session' });
  });

  test('takes what the host has decided, and refuses what the policy could not decide', async () => {
    const shadow = await new Shadow().open('sandbox-timeout', {});
    const { client } = shadow;
    const fails = (decision: unknown, path: string) => {
      const events = [{ type: 'host.decided', at: 0, decision }];
      return client.fails('session.send', { session: 'x', events }, { code: 'invalid_event', path, index: 0, seq: 0 });
    };
    await fails({ type: 'round-tp.set' }, 'decision.type');
    await fails({ type: 'sandbox.run', timeoutSeconds: -1 }, 'decision.timeoutSeconds');
    await fails({ type: 'sandbox.run', more: 1 }, 'decision.more');
    await fails('no', 'decision');
    const send = { session: 'x', producer: 'p', firstSeq: 0 };
    const events = [{ type: 'host.decided', at: 0, decision: { type: 'sandbox.run', runId: 'r', timeoutSeconds: 3 } }];
    const answer = { seq: 0, decisions: [], nextSeq: 1 };
    expect(await client.call('session.send', { ...send, events })).toEqual(answer);
    // A retry is one decision.
    expect(await client.call('session.send', { ...send, events })).toEqual(answer);
    await client.fails(
      'session.open',
      { session: 'x', policy: 'sandbox-timeout', onExisting: 'attach', shadow: false },
      {
        path: 'shadow',
      },
    );
    expect((await client.call('session.list')).sessions).toMatchObject([{ shadow: true }]);
    const report = await shadow.report();
    expect(report.sessions).toMatchObject([{ decisions: [{ onlyHost: 1 }] }]);
  });

  test('a session without shadow mode knows no such event', async () => {
    const { client } = new Shadow();
    await client.call('session.open', { policy: 'sandbox-timeout', config: {}, session: 'x' });
    const events = [{ type: 'host.decided', at: 0, decision: { type: 'sandbox.run' } }];
    await client.fails('session.send', { session: 'x', events }, { code: 'invalid_event', path: 'type' });
  });
});
