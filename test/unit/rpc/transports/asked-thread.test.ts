/** What a thread fails with arrives with its own text, and the thread is known to be gone. */
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { AskedThread } from '../../../../src/rpc/transports/asked-thread.ts';

const threads: AskedThread[] = [];
afterEach(async () => {
  await Promise.all(threads.splice(0).map((one) => one.stop()));
});

/** A thread that does what is written, in CommonJS. */
function threadOf(script: string, options: object = {}): AskedThread {
  const one = new AskedThread(() => new Worker(script, { eval: true, ...options }), 'a sum');
  threads.push(one);
  return one;
}
const onTask = (act: string): string =>
  `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (task) => { ${act} });`;
const asked = (thread: AskedThread, task: unknown = 1) => thread.ask(task).catch((error: unknown) => error);

describe('a thread that ends', () => {
  test.each([
    [
      'it throws when it is loaded',
      `throw new RangeError('no room for the table')`,
      'RangeError: no room for the table',
    ],
    ['it cannot be parsed', 'const = 1', "SyntaxError: Unexpected token '='"],
    ['a module is missing', `require('./no-such-module.js')`, "Error: Cannot find module './no-such-module.js'"],
    ['it throws at a task', onTask(`throw new TypeError('not a sum')`), 'TypeError: not a sum'],
    ['it throws what is no error', onTask(`throw 'a word'`), 'a word'],
    ['it throws nothing', onTask('throw null'), 'null'],
    ['it leaves', onTask('process.exit(3)'), 'Error: its thread ended with exit code 3'],
    ['it leaves in peace', onTask('process.exit()'), 'Error: its thread ended with exit code 0'],
  ])('where %s', async (_, script, got) => {
    const thread = threadOf(script);
    const error = { code: 'internal', expected: 'a sum', got: expect.stringContaining(got) };
    expect(await asked(thread)).toMatchObject(error);
    // Whoever asks later does not wait for ever.
    expect(await asked(thread)).toMatchObject(error);
    expect(thread.isGone).toBe(true);
  });

  test('where its file is missing', async () => {
    const thread = new AskedThread(() => new Worker('/no/such/folder/sum-worker.js'), 'a sum');
    expect(await asked(thread)).toMatchObject({
      code: 'internal',
      got: expect.stringContaining("Cannot find module '/no/such/folder/sum-worker.js'"),
    });
  });

  test('where it cannot be started at all', async () => {
    const start = (): Worker => {
      throw new Error('no loader for TypeScript');
    };
    expect(await asked(new AskedThread(start, 'a sum'))).toMatchObject({ got: 'Error: no loader for TypeScript' });
  });

  test('where its memory is full', async () => {
    const fill = onTask('const all = []; for (;;) all.push(new Array(10_000).fill(task));');
    const thread = threadOf(fill, { resourceLimits: { maxOldGenerationSizeMb: 8, maxYoungGenerationSizeMb: 1 } });
    expect(await asked(thread)).toMatchObject({
      code: 'limit_exceeded',
      expected: 'a sum that fits into the memory of a thread',
      got: expect.stringContaining('reaching memory limit'),
    });
  });

  test('before it is asked', async () => {
    const left = new Worker(`throw new Error('too soon')`, { eval: true });
    const thread = new AskedThread(() => left, 'a sum');
    await new Promise((resolve) => left.once('exit', resolve));
    expect(await asked(thread)).toMatchObject({ got: 'Error: too soon' });
  });
});

describe('a thread that goes on', () => {
  test('after a task that cannot be handed to it', async () => {
    const thread = threadOf(onTask('parentPort.postMessage({ made: task })'));
    expect(await asked(thread, { sum: () => 1 })).toMatchObject({
      code: 'invalid_input',
      got: expect.stringContaining('could not be cloned'),
    });
    expect(await thread.ask(2)).toBe(2);
  });

  test('after a refusal, which arrives with the stack of its cause', async () => {
    const refused = { code: 'internal', expected: 'a sum', got: 'Error: none', path: 'terms', stack: 'at sum.js:7' };
    const thread = threadOf(
      onTask(`parentPort.postMessage(task === 1 ? { refused: ${JSON.stringify(refused)} } : { made: 3 })`),
    );
    const error = await asked(thread);
    expect(error).toMatchObject({ message: 'terms: expected a sum, got Error: none', cause: { stack: 'at sum.js:7' } });
    expect(await thread.ask(2)).toBe(3);
  });
});
