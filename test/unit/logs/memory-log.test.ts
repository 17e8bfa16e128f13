/** A log in memory answers as the one of files does, and the functions of the library as the commands. */
import { expect, test } from 'vitest';
import { explain, explanationText, type Log, openLog, readLog, replay, viewOf } from '../../../src/logs/node.ts';
import { rollflex } from '../../support/command-line/in-process.ts';
import { filesOf, pathOf } from '../../zoo/files.ts';
import { incidents } from '../../zoo/incidents.ts';

/** What a log says of itself, of a thing in it, and of a place in its middle. */
function told(log: Log, ask: object) {
  const { session, seq, first } = log.sessions.at(-1)!;
  const middle = Math.floor((seq + first) / 2);
  const view = viewOf(log);
  return {
    sessions: log.sessions,
    lacks: log.lacks,
    whole: explain(log),
    asked: explain(log, ask),
    before: explain(log, { at: { seq: middle }, session }),
    middle: view.moment(session, middle),
    end: view.moment(session, seq),
    why: view.why(session, seq),
    state: view.snapshot(session, middle),
    found: [...view.find(session, middle, true, { change: true })],
    trace: [...view.trace()].join('').length,
    replayed: replay(log),
  };
}

test.each(incidents)('$log in memory', ({ log, ask }) => {
  const [ofFiles, inMemory] = [openLog(pathOf(log)), readLog(filesOf(log))];
  expect(told(inMemory, ask)).toEqual(told(ofFiles, ask));
  ofFiles.close();
});

test('the command prints what the library says', async () => {
  const [{ log }] = incidents as [(typeof incidents)[number]];
  const opened = openLog(pathOf(log));
  const found = explain(opened);
  const { out } = await rollflex('explain', pathOf(log), '--chain');
  expect(out).toContain(explanationText(found.sessions[0]!, true).slice(1).join('\n'));
  expect(JSON.parse((await rollflex('explain', pathOf(log), '--json')).out)).toEqual(JSON.parse(JSON.stringify(found)));
  opened.close();
});
