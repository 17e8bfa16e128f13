/**
 * A small closed loop of engine, verifier and trainer around a frontier: a round of R groups of K requests arrives at
 * once, the engine is that of the simulator, every response is verified by itself, and the trainer takes U complete
 * groups at a time, first come, first served. Rounds follow one another; lengths are given, so that everything else
 * is the same for every width.
 */
import type { PolicyOf } from '../../src/index.ts';
import { create, frontierGroupDispatch } from '../../src/index.ts';
import type {
  FrontierGroupDispatchEvent,
  FrontierGroupDispatchInput,
} from '../../src/policies/frontier-group-dispatch/index.ts';
import { DecodeEngine } from '../../src/sim/engine/decode-engine.ts';
import type { CostModel } from '../../src/sim/models/cost-model.ts';

/** What the lengths run on. */
export interface Setting {
  readonly engine: CostModel;
  /** Engines of that kind; a request goes to the one that has fewest. */
  readonly engines: number;
  readonly responsesPerPrompt: number;
  /** U: groups of an update. */
  readonly groupsPerUpdate: number;
  /** Seconds of an update: for each token of its responses, and for each of its groups. */
  readonly trainSecondsPerToken: number;
  readonly trainSecondsPerGroup: number;
  /** Seconds after each update, for the optimizer, which the trainer does not report. */
  readonly stepSeconds: number;
  /** Seconds from a response to its reward. */
  readonly verifierSeconds: number;
}

/** The groups of a round, in their order. */
export interface RoundWork {
  readonly promptTokens: readonly number[];
  /** Tokens of each response of each group. */
  readonly lengths: readonly (readonly number[])[];
}

/** What a round took. */
export interface RoundResult {
  /** From its first admission until the trainer is done with it. */
  readonly seconds: number;
  readonly firstDispatchSeconds: number;
  readonly rolloutSeconds: number;
  readonly trainSeconds: number;
  /** The width at its end. */
  readonly width: number;
  readonly starved: number;
}

/** Decides what runs; requests are numbered group by group. */
interface Gate {
  /** The requests of a round come; gives those that are admitted. */
  open(round: number, groups: number, at: number): number[];
  completed(request: number, tokens: number, at: number): number[];
  consumed(groups: readonly number[], seconds: number, at: number): void;
  readonly width: number;
  readonly starved: number;
}

/** A frontier of a fixed width in a few lines: what the policy does, and faster. */
class FixedGate implements Gate {
  readonly width: number;
  readonly starved = 0;
  readonly #k: number;
  #left: number[] = [];
  #next = 0;

  constructor(width: number, responsesPerPrompt: number) {
    this.width = width;
    this.#k = responsesPerPrompt;
  }

  open(_round: number, groups: number): number[] {
    this.#left = Array<number>(groups).fill(this.#k);
    this.#next = 0;
    return this.#admit(this.width);
  }

  completed(request: number): number[] {
    const group = Math.floor(request / this.#k);
    this.#left[group]! -= 1;
    return this.#left[group] === 0 ? this.#admit(1) : [];
  }

  consumed(): void {}

  #admit(groups: number): number[] {
    const last = Math.min(this.#left.length, this.#next + groups);
    const requests: number[] = [];
    for (let request = this.#next * this.#k; request < last * this.#k; request += 1) requests.push(request);
    this.#next = last;
    return requests;
  }
}

/** The policy itself. */
class PolicyGate implements Gate {
  width = 0;
  starved = 0;
  readonly #k: number;
  readonly #policy: PolicyOf<typeof frontierGroupDispatch>;
  #roundId = '';

  constructor(input: FrontierGroupDispatchInput) {
    this.#k = input.responsesPerPrompt;
    this.#policy = create(frontierGroupDispatch, input, { validate: false });
  }

  open(round: number, groups: number, at: number): number[] {
    const roundId = `r${round}`;
    this.#roundId = roundId;
    const admitted: number[] = [];
    for (let group = 0; group < groups; group += 1) {
      const promptId = `${roundId}-${group}`;
      for (let index = 0; index < this.#k; index += 1) {
        const requestId = `${promptId}/${index}#0`;
        admitted.push(...this.#send({ type: 'request.arrived', at, requestId, promptId, roundId, index }));
      }
    }
    return admitted;
  }

  completed(request: number, tokens: number, at: number): number[] {
    const requestId = `${this.#roundId}-${Math.floor(request / this.#k)}/${request % this.#k}#0`;
    return this.#send({ type: 'response.completed', at, requestId, tokens });
  }

  consumed(groups: readonly number[], seconds: number, at: number): void {
    const names = groups.map((group) => `${this.#roundId}-${group}`);
    const report = { fetchId: 'f', replica: 'a', groups: names, samples: 0, tokens: 0, seconds };
    this.#send({ type: 'train.consumed', at, ...report });
  }

  #send(event: FrontierGroupDispatchEvent): number[] {
    const admitted: number[] = [];
    for (const decision of this.#policy.send(event)) {
      if (decision.type === 'request.admit') {
        admitted.push(Number(decision.promptId.slice(this.#roundId.length + 1)) * this.#k + decision.index);
        this.width = decision.reason.width;
      } else if (decision.type === 'frontier.starved') this.starved += 1;
    }
    return admitted;
  }
}

/** Runs rounds, one after another, through one frontier. */
export function runRounds(
  setting: Setting,
  width: FrontierGroupDispatchInput['width'],
  rounds: readonly RoundWork[],
  { throughPolicy = width === 'auto', ...more }: { throughPolicy?: boolean } & Partial<FrontierGroupDispatchInput> = {},
): RoundResult[] {
  const { responsesPerPrompt, groupsPerUpdate } = setting;
  const gate =
    throughPolicy || width === 'auto'
      ? new PolicyGate({ responsesPerPrompt, groupsPerUpdate, width, ...more })
      : new FixedGate(width, responsesPerPrompt);
  const engines = Array.from({ length: setting.engines }, (_, at) => new DecodeEngine(`${at}`, setting.engine));
  let now = 0;
  return rounds.map((work, round) => {
    const result = runRound(setting, work, gate, engines, round, now);
    now += result.seconds + 1;
    return result;
  });
}

function runRound(
  setting: Setting,
  { promptTokens, lengths }: RoundWork,
  gate: Gate,
  engines: readonly DecodeEngine[],
  round: number,
  start: number,
): RoundResult {
  const { responsesPerPrompt: k, groupsPerUpdate, verifierSeconds } = setting;
  const groups = lengths.length;
  const never = Number.POSITIVE_INFINITY;
  const left = Array<number>(groups).fill(k);
  // All verifications take the same time: a queue.
  const verifying: { at: number; group: number }[] = [];
  const ready: number[] = [];
  let reportedAt = never;
  let [consumed, trainedAt, training, seconds] = [0, never, [] as number[], 0];
  let [now, firstDispatch, rolloutEnd, trainSeconds, verified] = [start, 0, 0, 0, 0];
  for (const engine of engines) engine.advanceTo(start);
  const admit = (requests: readonly number[]): void => {
    for (const request of requests) {
      const group = Math.floor(request / k);
      const responseTokens = lengths[group]![request % k]!;
      const engine = engines.reduce((one, other) => (other.size < one.size ? other : one));
      engine.add({ requestId: `${round}:${request}`, promptTokens: promptTokens[group]!, responseTokens }, now);
    }
  };
  const train = (): void => {
    const isEnough = ready.length >= groupsPerUpdate || ready.length + consumed === groups;
    if (trainedAt !== never || ready.length === 0 || !isEnough) return;
    training = ready.splice(0, groupsPerUpdate);
    seconds = 0;
    for (const group of training) {
      const tokens = lengths[group]!.reduce((sum, one) => sum + one, 0);
      seconds += tokens * setting.trainSecondsPerToken + setting.trainSecondsPerGroup;
    }
    if (consumed === 0) firstDispatch = now;
    trainSeconds += seconds;
    reportedAt = now + seconds;
    trainedAt = reportedAt + setting.stepSeconds;
  };
  admit(gate.open(round, groups, now));
  while (consumed < groups) {
    const verifiedAt = verifying[verified]?.at ?? never;
    let next = engines[0]!;
    for (const engine of engines) if (engine.nextEventAt() < next.nextEventAt()) next = engine;
    now = Math.min(next.nextEventAt(), reportedAt, trainedAt, verifiedAt);
    if (now === reportedAt) {
      reportedAt = never;
      gate.consumed(training, seconds, now);
    } else if (now === trainedAt) {
      consumed += training.length;
      trainedAt = never;
    } else if (now === verifiedAt) ready.push(verifying[verified++]!.group);
    else {
      for (const { requestId, tokens, at } of next.advanceTo(now)) {
        const request = Number(requestId.slice(requestId.indexOf(':') + 1));
        const group = Math.floor(request / k);
        left[group]! -= 1;
        rolloutEnd = at;
        if (left[group] === 0) verifying.push({ at: at + verifierSeconds, group });
        admit(gate.completed(request, tokens, at));
      }
    }
    train();
  }
  return {
    seconds: now - start,
    firstDispatchSeconds: firstDispatch - start,
    rolloutSeconds: rolloutEnd - start,
    trainSeconds,
    width: gate.width,
    starved: gate.starved,
  };
}
