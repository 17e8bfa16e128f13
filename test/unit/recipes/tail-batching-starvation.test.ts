/** With the defaults no prompt waits without end, however few are deferred. */
import { expect, test } from 'vitest';
import { create, tailBatching } from '../../../src/index.ts';
import type { VocabularyDecision } from '../../../src/schemas/index.ts';
import { only, Session } from '../../support/sessions/session.ts';

/** An epoch of four prompts and one that is never among the first: it is drawn again while it waits in the queue. */
const epoch = ['slow', 'a', 'b', 'c', 'd'];

/** A round whose slow response comes last, and what it trains on. */
function play(session: Session, round: number) {
  const roundId = `r${round}`;
  const told: VocabularyDecision[] = [];
  const send = (event: object): void => void told.push(...session.send(event as never));
  send({ type: 'round.requested', roundId, weightVersion: round });
  for (const { count } of only(told, 'prompts.request')) {
    send({ type: 'prompts.supplied', roundId, prompts: epoch.slice(-count).map((promptId) => ({ promptId })) });
  }
  const launched = only(told, 'request.launch').map((one) => one.requestId);
  const isSlow = (requestId: string): boolean => requestId.startsWith('slow');
  for (const requestId of [...launched.filter((one) => !isSlow(one)), ...launched.filter(isSlow)]) {
    send({ type: 'response.completed', requestId, tokens: 10 });
  }
  return only(told, 'round.completed')[0]!.prompts;
}

test('a prompt that is alone in the queue, and is drawn again in each epoch, is trained after 16 rounds', () => {
  const session = new Session(create(tailBatching, { promptsPerRound: 4, responsesPerPrompt: 1 }) as never);
  const waited: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    const slow = play(session, round).find((one) => one.promptId === 'slow');
    if (slow !== undefined) waited.push(round - slow.deferral!.sinceRound);
  }
  expect(waited).toEqual([16, 16]);
});

test('a deferral that another session has counted does not let a prompt wait for its rounds', () => {
  const session = new Session(create(tailBatching, { promptsPerRound: 1, responsesPerPrompt: 1 }) as never);
  const old = { promptId: 'old', deferral: { count: 3, sinceRound: 5000, sinceSeconds: 0 } };
  session.send({ type: 'round.requested', roundId: 'r0', weightVersion: 0 } as never);
  const told = session.send({ type: 'prompts.supplied', roundId: 'r0', prompts: [{ promptId: 'a' }, old] } as never);
  const [first] = only(told, 'request.launch');
  const [deferred] = only(session.complete(first!.requestId), 'prompt.deferred');
  expect(deferred!.prompt.deferral).toEqual({ count: 4, sinceRound: 0, sinceSeconds: 0 });
});
