/** Runs test files of a planted copy, each under a mutant or under none, many of them in one process. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Pair {
  /** Of a mutant; empty for none. */
  readonly id: string;
  readonly file: string;
}
/** What became of a pair: at once, a line of the file of results. */
export interface Result extends Pair {
  readonly killed: boolean;
  /** Tests that failed, under a mutant the first alone, and what that one said. */
  readonly failed?: readonly string[];
  readonly error?: string;
  readonly ms: number;
  /** The file fails without a mutant, too, after all that ran in its process. */
  readonly doubtful?: boolean;
}
export interface Run {
  /** `first`: no more files for a mutant once one has failed. */
  readonly until: 'first' | 'all';
  /** Milliseconds after which a file has no end. */
  readonly limit: (file: string) => number;
  /** Tests, after their file and a space, that fail as they are. */
  readonly broken?: readonly string[];
  /** A file for what each test file reaches. */
  readonly reached?: string;
}
interface Line {
  readonly file: string;
  readonly ok?: boolean;
  readonly tests?: number;
  readonly failed: readonly string[];
  readonly error?: string;
  readonly ms: number;
}

/** The lines of JSON of a file that may still be written. */
export function linesOf<T>(file: string): T[] {
  if (!existsSync(file)) return [];
  const whole = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return whole.map((line) => JSON.parse(line) as T);
}

/** Starts vitest in the copy; returns which pair it hung in, if it did. */
function vitest(copy: string, env: NodeJS.ProcessEnv, at: () => number, limit: (at: number) => number) {
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'planted/vitest.config.ts'];
  return new Promise<number | undefined>((resolve) => {
    const child = spawn(process.execPath, args, { cwd: copy, env, detached: true, stdio: 'ignore' });
    const kill = () => {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    let [last, since] = [-1, Date.now()];
    let hung: number | undefined;
    const timer = setInterval(() => {
      const now = at();
      if (now !== last) [last, since] = [now, Date.now()];
      if (Date.now() - since < limit(now)) return;
      hung = now;
      kill();
    }, 1000);
    child.on('exit', () => {
      clearInterval(timer);
      kill();
      resolve(hung);
    });
  });
}

/** Runs pairs in their order. What hangs, or ends its process, is killed, and the others go on in another process. */
export async function runPairs(
  copy: string,
  pairs: readonly Pair[],
  { until, limit, broken = [], reached }: Run,
  write: (result: Result) => void,
): Promise<void> {
  const stubs = `planted/stubs-${process.pid}`;
  const out = join(copy, `.cache/results-${process.pid}.jsonl`);
  const indexOf = ({ file }: Line): number => Number(/(\d+)\.test/.exec(file)?.[1]);
  let rest = pairs;
  while (rest.length > 0) {
    // A mutant that has a process of its own may stay in what is loaded.
    const isShared = new Set(rest.map(({ id }) => id)).size > 1;
    const files = isShared ? [...new Set(rest.map(({ file }) => file))] : [];
    const all = [...rest.map((one) => ({ ...one, until })), ...files.map((file) => ({ id: '', file, until: 'check' }))];
    rmSync(join(copy, stubs), { recursive: true, force: true });
    rmSync(out, { force: true });
    mkdirSync(join(copy, stubs));
    for (const [at, one] of all.entries()) {
      const call = `pair(${JSON.stringify(one)})`;
      const name = `${String(at).padStart(6, '0')}.test.ts`;
      writeFileSync(join(copy, stubs, name), `import { pair } from '../stub.mjs';\nawait ${call};\n`);
    }
    const env = {
      ...process.env,
      ROLLFLEX_MUTANT: all[0]!.id,
      ROLLFLEX_MUTANTS_STUBS: stubs,
      ROLLFLEX_MUTANTS_RESULTS: out,
      ROLLFLEX_MUTANTS_BROKEN: JSON.stringify(broken),
      ...(reached === undefined ? {} : { ROLLFLEX_MUTANTS_REACHED: reached }),
    };
    const begun = (): number =>
      linesOf<Line>(out)
        .filter(({ ok }) => ok === undefined)
        .map(indexOf)
        .at(-1) ?? -1;
    const hung = await vitest(copy, env, begun, (at) => limit(all[at]?.file ?? ''));
    const ends = new Map(
      linesOf<Line>(out)
        .filter(({ ok }) => ok !== undefined)
        .map((one) => [indexOf(one), one]),
    );
    const failing = new Set(
      all.filter(({ until: kind }, at) => kind === 'check' && ends.get(at)?.ok === false).map(({ file }) => file),
    );
    const stopped = rest.findIndex((_, at) => !ends.has(at));
    for (const [at, { id, file }] of rest.slice(0, stopped < 0 ? undefined : stopped).entries()) {
      const { ok, tests, failed, error, ms } = ends.get(at)!;
      if (ok && tests === 0) continue;
      const doubtful = !ok && failing.has(file) ? { doubtful: true } : {};
      write({ id, file, killed: !ok, ...(ok ? {} : { failed, error: error ?? '' }), ms, ...doubtful });
    }
    if (stopped < 0) break;
    const { id, file } = rest[stopped]!;
    write({ id, file, killed: true, error: hung === undefined ? 'its process ended' : 'no end', ms: limit(file) });
    rest = rest.slice(stopped + 1).filter((one) => until === 'all' || one.id !== id);
  }
  rmSync(join(copy, stubs), { recursive: true, force: true });
}
