/** What is read by its beginning is answered as what is read whole. */
import { describe, expect, it } from 'vitest';
import { embed } from '../../../src/embedded/index.ts';

const config = { promptsPerRound: 2, responsesPerPrompt: 2 };
const opened = { type: 'round.requested', at: 0, roundId: 'r', weightVersion: 0 };
const supplied = {
  type: 'prompts.supplied',
  at: 0,
  roundId: 'r',
  prompts: ['a', 'b', 'c'].map((promptId) => ({ promptId })),
};
const ended = (requestId: string) => ({ type: 'response.completed', at: 1, requestId, tokens: 5 });

/** Answers to the same texts: as they are, and with spaces behind them, with which they are read whole. */
function both(limits: object, texts: readonly string[]): [string[], string[]] {
  const [quick, whole] = [embed('0', JSON.stringify(limits)), embed('0', JSON.stringify(limits))];
  return [texts.map((text) => quick.call(text)), texts.map((text, at) => whole.call(text + ' '.repeat(at)))];
}

const call = (method: string, params: object): string => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
const send = (firstSeq: unknown, events: unknown, session = 's', producer = 'p'): string =>
  call('session.send', { session, producer, firstSeq, events });
const open = (more: object = {}): string =>
  call('session.open', { policy: 'tail-batching', config, session: 's', ...more });

describe('calls of one sender', () => {
  it.each<[what: string, texts: string[]]>([
    ['one after the other', [open(), send(0, [opened]), send(1, [supplied]), send(2, [ended('a/0#0')]), send(3, [])]],
    ['again', [open(), send(0, [opened]), send(1, [supplied]), send(1, [supplied]), send(0, [opened]), send(2, [])]],
    ['with a gap', [open(), send(0, [opened]), send(2, [supplied]), send(1, [supplied])]],
    [
      'refused',
      [open(), send(0, [opened]), send(1, [supplied, ended('x'), ended('a/0#0')]), send(2, [ended('a/1#0')])],
    ],
    ['with wrong numbers', [open(), send(0, [opened]), send(-1, []), send('1', []), send(1.5, []), send(1, [])]],
    ['with wrong events', [open(), send(0, [opened]), send(1, {}), send(1, [{ type: 'no' }]), send(1, null)]],
    ['of other sessions', [open(), send(0, [opened]), send(0, [opened], 't'), send(0, [], 's', 'q'), send(1, [])]],
    ['after the end', [open(), send(0, [opened]), call('session.close', { session: 's' }), send(1, []), open()]],
    ['to another session of the name', [open(), send(0, [opened]), open({ onExisting: 'replace' }), send(1, [])]],
    ['to a stream', [open({ deliver: 'stream' }), send(0, [opened]), send(1, [supplied]), send(2, [])]],
    ['with more keys', [open(), send(0, []), send(0, [opened]).replace(/\}\}$/, ',"more":1}}'), send(0, [opened])]],
    ['with too many brackets', [open(), send(0, [opened]), `${send(1, [supplied])}}`, send(1, [])]],
  ])('%s', (_, texts) => {
    const [quick, whole] = both({}, texts);
    expect(quick).toEqual(whole);
  });

  it('in pages', () => {
    const [quick, whole] = both({ pageDecisions: 2 }, [open(), send(0, [opened]), send(1, [supplied]), send(2, [])]);
    expect(quick).toEqual(whole);
    expect(quick[2]).toContain('"more"');
  });
});
