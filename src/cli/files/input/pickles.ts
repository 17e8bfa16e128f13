/** Reads slime's pickles by the Python package, which executes no code of a file. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { oneLine } from '../../../core/ids/printable.ts';
import { PolicyError } from '../../../errors.ts';
import { packageRoot } from '../../../logs/index/package.ts';
import { reasonOf } from '../../terminal/system-errors.ts';

const python = process.platform === 'win32' ? 'python' : 'python3';
const reader = ['-m', 'rollflex.importing'];
const prefix = 'rollflex.importing: ';

/** Returns the environment for Python; in a checkout, it includes the path of the checkout's Python package. */
function environment(): NodeJS.ProcessEnv {
  const own = join(packageRoot(), 'python', 'src');
  if (!existsSync(join(own, 'rollflex', 'importing.py'))) return process.env;
  const path = [process.env.PYTHONPATH, own].filter((one) => one !== undefined && one !== '').join(delimiter);
  return { ...process.env, PYTHONPATH: path };
}

/**
 * Yields the samples of a pickle, as lines of JSON.
 *
 * @throws PolicyError `invalid_input` for a file that slime has not written, for an incomplete file, and if rollflex is not
 *   installed in Python
 */
export async function* pickledLines(name: string): AsyncGenerator<Uint8Array> {
  const child = spawn(python, [...reader, name], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const said = text(child.stderr);
  const over = new Promise<number | string | Error>((resolve) => {
    child.on('error', resolve);
    child.on('close', (code, signal) => resolve(signal ?? code!));
  });
  try {
    yield* child.stdout;
    const code = await over;
    if (code !== 0) throw refusal(name, code, await said);
  } finally {
    child.kill();
  }
}

function refusal(name: string, code: number | string | Error, said: string): PolicyError {
  const line = said.trim().split('\n').at(-1) ?? '';
  if (line.startsWith(prefix)) {
    const why = line.slice(prefix.length).replace(`${name}: `, '');
    const [, at, expected, got] = /^(.*?)expected (.*), got (.*)$/.exec(why) ?? ['', '', 'a whole file of slime', why];
    const path = `${name}${at === '' ? '' : `: ${at!.replace(/: $/, '')}`}`;
    return new PolicyError('invalid_input', { expected: expected!, got: oneLine(got!), path });
  }
  const command = `pip install rollflex, then ${python} ${reader.join(' ')} ${name} | rollflex import -`;
  // Who was killed has not said why.
  const end = typeof code === 'string' ? `an end by ${code}` : oneLine(line) || `exit code ${code}`;
  const got = code instanceof Error ? `no ${python} (${reasonOf(code)})` : end;
  return new PolicyError('invalid_input', {
    expected: `Python, which reads slime's pickles: ${command}`,
    got,
    path: name,
  });
}
