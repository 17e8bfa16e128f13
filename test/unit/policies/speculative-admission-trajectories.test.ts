/** Trajectories of several turns: they give their slot away while their environment works, and take up another one. */
import { describe, expect, test } from 'vitest';
import { bothWays, brief } from '../../support/sessions/rounds.ts';
import { only, prompts } from '../../support/sessions/session.ts';

describe.each(bothWays)('trajectories, %s', (_how, start) => {
  test('resume in the order in which their environments answered, before anything new is launched', () => {
    const session = start({ maxInFlight: 2 });
    session.open(prompts('a', 'b', 'c'));
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.tell('tool.started', { requestId: 'a/1#0', tool: 'bash' });
    expect(session.tell('tool.finished', { requestId: 'a/1#0', outcome: 'success' })).toStrictEqual([]);
    expect(session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' })).toStrictEqual([]);
    session.tell('response.failed', { requestId: 'b/0#0', kind: 'infrastructure' });
    expect(session.state).toMatchObject({ round: { inFlight: 3 } });
    const next = session.complete('b/1#0');
    expect(brief(next)).toStrictEqual(['response.accepted b/1#0 held', 'request.resume a/0#0 tool_finished']);
    expect(next[1]).toStrictEqual({
      type: 'request.resume',
      at: 0,
      requestId: 'a/0#0',
      promptId: 'a',
      reason: { code: 'tool_finished', inFlight: 1 },
    });
    expect(brief(session.complete('a/0#0'))).toStrictEqual([
      'response.accepted a/0#0 held',
      'request.launch b/0#1 retry_infrastructure',
    ]);
  });

  test('an answer that comes while there is a slot resumes at once, on the engine with the least to do', () => {
    const session = start({ placement: 'policy', promptsPerRound: 3, responsesPerPrompt: 1 });
    session.tell('engine.added', { engineId: 'e0' });
    session.tell('engine.added', { engineId: 'e1' });
    session.open([
      { promptId: 'a', promptTokens: 9 },
      { promptId: 'b', promptTokens: 5 },
    ]);
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.tell('turn.finished', { requestId: 'a/0#0', tokens: 4 });
    // What it has generated meanwhile weighs on no engine.
    expect(only(session.supply('r0', { promptId: 'c', promptTokens: 3 }), 'request.launch')).toMatchObject([
      { engineId: 'e0' },
    ]);
    session.tell('turn.finished', { requestId: 'c/0#1', tokens: 8 });
    expect(session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' })).toStrictEqual([
      {
        type: 'request.resume',
        at: 0,
        requestId: 'a/0#0',
        promptId: 'a',
        engineId: 'e1',
        reason: { code: 'tool_finished', inFlight: 2 },
      },
    ]);
    // e1 has 5 and 9 + 4; e0 has 3 + 8.
    session.complete('b/0#0');
    session.tell('round.failed', { roundId: 'r0' });
    session.tell('engine.lost', { engineId: 'e1' });
    expect(session.state).toMatchObject({ draining: [{ inFlight: 1 }] });
  });

  test('between rounds a trajectory that runs on resumes too', () => {
    const session = start({ promptsPerRound: 1, promptSpeculation: 2, maxStaleness: 1 });
    session.open(prompts('a', 'b'));
    session.tell('tool.started', { requestId: 'b/0#0', tool: 'bash' });
    session.complete('a/0#0', 'a/1#0');
    expect(brief(session.tell('tool.finished', { requestId: 'b/0#0', outcome: 'success' }))).toStrictEqual([
      'request.resume b/0#0 tool_finished',
    ]);
    // It waits across the opening of the next round, and belongs to that one then.
    session.tell('tool.started', { requestId: 'b/1#0', tool: 'bash' });
    session.open([], 'long', 1);
    expect(session.state).toMatchObject({ round: { inFlight: 2 } });
    session.tell('tool.finished', { requestId: 'b/1#0', outcome: 'success' });
    const all = session.complete('b/0#0', 'b/1#0');
    expect(only(all, 'round.completed')[0]!.prompts[0]!.responses).toMatchObject([
      { weightVersions: [0, 1] },
      { weightVersions: [0, 1] },
    ]);
  });

  test('one that ended or waits again while it stood in line is passed over', () => {
    const session = start({ maxInFlight: 1, promptsPerRound: 3 });
    session.open(prompts('a', 'b', 'c'));
    for (const requestId of ['a/0#0', 'a/1#0', 'b/0#0']) session.tell('tool.started', { requestId, tool: 'bash' });
    for (const requestId of ['a/0#0', 'a/1#0', 'b/0#0'])
      session.tell('tool.finished', { requestId, outcome: 'success' });
    // a/0 fails in line, and stands in line again, as another try, behind those that resume.
    expect(session.tell('response.failed', { requestId: 'a/0#0', kind: 'environment' })).toStrictEqual([]);
    session.complete('a/1#0');
    expect(brief(session.complete('b/1#0'))).toStrictEqual([
      'response.accepted b/1#0 held',
      'request.resume b/0#0 tool_finished',
    ]);
    expect(brief(session.complete('b/0#0')).at(-1)).toBe('request.launch a/0#1 retry_environment');
  });

  test('one that is collected away while it waits, or stands in line, is aborted, and does not resume', () => {
    const session = start({ maxInFlight: 4, promptsPerRound: 3, responseSpeculation: 2 });
    session.open(prompts('a', 'b', 'c'));
    for (const requestId of ['a/2#0', 'a/3#0']) session.tell('tool.started', { requestId, tool: 'bash' });
    session.complete('a/0#0');
    session.tell('tool.finished', { requestId: 'a/3#0', outcome: 'success' });
    const collected = session.complete('a/1#0');
    expect(only(collected, 'request.abort').map((one) => one.requestId)).toStrictEqual(['a/2#0', 'a/3#0']);
    expect(brief(collected).at(-1)).toBe('request.launch b/3#0 planned');
    expect(brief(session.tell('tool.finished', { requestId: 'a/2#0', outcome: 'success' }))).toStrictEqual([
      'response.late a/2#0 report',
    ]);
    // They held no slot, so none becomes free: b has all four.
    expect(session.each('request.aborted', ['a/2#0', 'a/3#0'])).toStrictEqual([]);
    expect(brief(session.complete('b/0#0')).at(-1)).toBe('request.launch c/0#0 planned');
  });

  test('turns say how many tokens there are so far, not how many more', () => {
    const session = start({ promptSpeculation: 1.5 });
    session.open(prompts('a', 'b', 'c'));
    for (const tokens of [10, 25, 40])
      expect(session.tell('turn.finished', { requestId: 'c/0#0', tokens })).toStrictEqual([]);
    expect(session.state.prompts?.[2]).toMatchObject({ responses: [{ tokens: 40, load: 40 }, { tokens: 0 }] });
    const all = session.complete('a/0#0', 'a/1#0', 'b/0#0', 'b/1#0');
    expect(only(all, 'prompt.deferred')).toMatchObject([{ prompt: { expectedTokens: 40 } }]);
  });

  test('an engine that is lost has its requests tried again in the order in which they began or resumed', () => {
    const session = start({ placement: 'policy', promptsPerRound: 3, responsesPerPrompt: 1 });
    session.tell('engine.added', { engineId: 'e0' });
    session.open(prompts('a', 'b'));
    session.tell('tool.started', { requestId: 'a/0#0', tool: 'bash' });
    session.tell('tool.finished', { requestId: 'a/0#0', outcome: 'success' });
    session.supply('r0', { promptId: 'c' });
    session.tell('engine.lost', { engineId: 'e0' });
    expect(
      only(session.tell('engine.added', { engineId: 'e0' }), 'request.launch').map((one) => one.requestId),
    ).toStrictEqual(['b/0#1', 'a/0#1', 'c/0#2']);
  });
});
