/** What the admission refuses of reports about requests, engines and environments. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { prompts } from '../../support/sessions/session.ts';

const about = (type: string, requestId: string, more: object = {}) => ({ type, at: 0, requestId, ...more });
const reports = [
  ['response.completed', { tokens: 1 }],
  ['response.failed', { kind: 'data' }],
  ['request.aborted', {}],
  ['request.started', { engineId: 'e0' }],
  ['reward.ready', { reward: 1 }],
  ['reward.failed', { kind: 'rule', reason: { code: 'timeout', timeouts: 1, budget: 0 } }],
  ['turn.finished', { tokens: 1 }],
  ['tool.started', { tool: 'bash' }],
  ['tool.finished', { outcome: 'success' }],
  ['response.failed', { kind: 'environment' }],
] as const;

describe.each(bothWays)('refused reports, %s', (_how, start) => {
  test.each(reports)('%s of a request that was never launched', (type, fields) => {
    const session = start();
    // Nothing was opened: no attempt number has been used.
    session.refuses(about(type, 'a/0#0', fields), 'unknown_id', 'requestId');
    session.open(prompts('a', 'b'));
    for (const id of ['a/0#1', 'a', 'a/0', 'a/x#0', '#0', '/0#0', 'a/0#0x', 'a/1234567890#0']) {
      session.refuses(about(type, id, fields), 'unknown_id', 'requestId');
    }
  });

  test('a mistyped id: the nearest that runs is named, and that of no other prompt', () => {
    const session = start();
    session.open(prompts('a', 'b'));
    const report = (requestId: string) => session.tell('response.completed', { requestId, tokens: 1 });
    expect(() => report('a/0#O')).toThrow('a request that was launched (did you mean "a/0#0"?), got "a/0#O"');
    expect(() => report('c/0#0')).toThrow('a request that was launched, got "c/0#0"');
  });

  test.each(reports)('%s under a prefix that was never given', (type, fields) => {
    const session = start({ idPrefix: 'job-' });
    session.open(prompts('a', 'b'));
    session.refuses(about(type, 'a/0#0', fields), 'unknown_id', 'requestId');
    session.refuses(about(type, 'bob-a/0#0', fields), 'unknown_id', 'requestId');
  });

  test('engines that were never added, also as the place of a request where the policy places', () => {
    const session = start({ placement: 'policy' });
    session.refuses({ type: 'engine.drained', at: 0, engineId: 'e0' }, 'unknown_id', 'engineId');
    session.refuses({ type: 'engine.lost', at: 0, engineId: 'e0' }, 'unknown_id', 'engineId');
    session.tell('engine.added', { engineId: 'e0' });
    session.open(prompts('a', 'b'));
    session.refuses(about('request.started', 'a/0#0', { engineId: 'e1' }), 'unknown_id', 'engineId');
    expect(session.tell('request.started', { requestId: 'a/0#0', engineId: 'e0' })).toStrictEqual([]);
    const host = start();
    host.open(prompts('a', 'b'));
    expect(host.tell('request.started', { requestId: 'a/0#0', engineId: 'e1' })).toStrictEqual([]);
    expect(host.tell('engine.drained', { engineId: 'e1' })).toStrictEqual([]);
  });

  test('rewards of what is still running; of what is being aborted they are late', () => {
    const session = start({ responseSpeculation: 1.5 });
    session.open(prompts('a', 'b'));
    for (const [type, fields] of reports.filter(([type]) => type.startsWith('reward.'))) {
      session.refuses(about(type, 'b/0#0', fields), 'out_of_order', 'requestId');
    }
    session.tell('tool.started', { requestId: 'b/1#0', tool: 'bash' });
    session.refuses(about('reward.ready', 'b/1#0', { reward: 1 }), 'out_of_order', 'requestId');
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.tell('reward.ready', { requestId: 'a/2#0', reward: 1 }))).toStrictEqual([
      'response.late a/2#0 report',
    ]);
  });

  test('environments that answer without having been asked, or wait twice', () => {
    const session = start({ placement: 'policy' });
    session.tell('engine.added', { engineId: 'e0' });
    session.open(prompts('a', 'b'));
    session.refuses(about('tool.finished', 'a/0#0', { outcome: 'success' }), 'out_of_order', 'requestId');
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.refuses(about('tool.started', 'a/0#0', { tool: 'bash' }), 'out_of_order', 'requestId');
    expect(() => session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' })).toThrow(
      /a request that is running.*a\/0#0 \(waiting\)/,
    );
    session.tell('engine.drained', { engineId: 'e0' });
    expect(session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' })).toStrictEqual([]);
    session.refuses(about('tool.finished', 'a/0#0', { outcome: 'success' }), 'out_of_order', 'requestId');
    session.refuses(about('tool.started', 'a/0#0', { tool: 'bash' }), 'out_of_order', 'requestId');
    expect(() => session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' })).toThrow(
      /a request that waits for a tool.*a\/0#0 \(resuming\)/,
    );
  });
});
