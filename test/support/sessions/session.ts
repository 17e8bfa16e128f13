/** A policy in a test, with short ways to send the usual events. */
import { expect } from 'vitest';
import { create, PolicyError, registry, speculativeAdmission, type Why } from '../../../src/index.ts';
import type { SpeculativeAdmissionInput } from '../../../src/policies/speculative-admission/index.ts';
import type { Prompt, VocabularyDecision, VocabularyEvent } from '../../../src/schemas/index.ts';
import { told } from './why.ts';

type DecisionOf<T extends string> = Extract<VocabularyDecision, { type: T }>;
type Untimed<E> = E extends unknown ? Omit<E, 'at'> & { at?: number } : never;
type Sender = { send(event: never): unknown[]; snapshot(): unknown };

/** Decisions of one type. */
export function only<T extends VocabularyDecision['type']>(
  decisions: readonly VocabularyDecision[],
  type: T,
): DecisionOf<T>[] {
  return decisions.filter((one) => one.type === type) as DecisionOf<T>[];
}

export const prompts = (...ids: string[]): Prompt[] => ids.map((promptId) => ({ promptId }));

export class Session {
  policy: Sender;
  at = 0;
  rounds = 0;
  /** Whether it is saved and restored before every event: no decision may hang on what a snapshot does not hold. */
  restoresFirst = false;

  constructor(policy: Sender) {
    this.policy = policy;
  }

  send(event: Untimed<VocabularyEvent>): VocabularyDecision[] {
    if (this.restoresFirst) this.restore();
    return this.policy.send({ at: this.at, ...event } as never) as VocabularyDecision[];
  }

  open(ids: readonly Prompt[], kind: 'short' | 'long' = 'short', weightVersion = this.rounds): VocabularyDecision[] {
    const roundId = `r${this.rounds++}`;
    return this.send({ type: 'round.opened', roundId, kind, weightVersion, prompts: [...ids] } as never);
  }

  complete(...requestIds: string[]): VocabularyDecision[] {
    return requestIds.flatMap((requestId) => this.send({ type: 'response.completed', requestId, tokens: 10 } as never));
  }

  confirm(decisions: readonly VocabularyDecision[]): VocabularyDecision[] {
    return only(decisions, 'request.abort').flatMap(({ requestId }) =>
      this.send({ type: 'request.aborted', requestId, tokens: 4 } as never),
    );
  }

  restore(): void {
    this.policy = registry.restore(JSON.parse(JSON.stringify(this.policy.snapshot()))) as never;
  }

  /** Returns in brief why something waits. */
  why(id: string, what?: string): string[] {
    return told((this.policy as unknown as { why(id: string, what?: string): Why }).why(id, what));
  }

  /** Expects a refusal with this code and path, and nothing changed. */
  refuses(event: unknown, code: string, path?: string): void {
    const before = JSON.stringify(this.policy.snapshot());
    let error: unknown;
    try {
      this.policy.send(event as never);
    } catch (caught) {
      error = caught;
    }
    expect(error).toBeInstanceOf(PolicyError);
    expect(error).toMatchObject(path === undefined ? { code } : { code, path });
    expect(JSON.stringify(this.policy.snapshot())).toBe(before);
  }
}

/** For `describe.each`: what holds, holds across restarts as well. */
export function bothWays<C, S extends Session>(make: (config?: C) => S) {
  const restored = (config?: C): S => Object.assign(make(config), { restoresFirst: true });
  return [
    ['in one go', make],
    ['restored before each event', restored],
  ] as const;
}

export const admission = (config: Partial<SpeculativeAdmissionInput> = {}): Session =>
  new Session(
    create(speculativeAdmission, {
      promptsPerRound: 2,
      responsesPerPrompt: 2,
      promptSpeculation: 1.5,
      responseSpeculation: 1.5,
      ...config,
    }) as never,
  );
