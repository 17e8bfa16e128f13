/** Reads files of the user, and finds the files that are part of the package. */
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { refuse } from '../../errors.ts';
import { packageRoot } from '../../logs/index/package.ts';
import { readTrace } from '../../sim/trace/read.ts';
import { readVisionSources, type VisionSources } from '../../sim/vlm-formulas/workload/sources.ts';
import type { NamedTrace } from '../../sim/workload/of-trace.ts';
import { readText } from '../terminal/system-errors.ts';

/** Returns the bundled traces that the main job replays, the one with the heaviest tail first. */
export function bundledTraces(): string[] {
  const folder = join(packageRoot(), 'examples', 'traces');
  return ['servegen-deepseek-r1.jsonl', 'castillo-qwen2.5-7b-instruct-1m.jsonl'].map((name) => join(folder, name));
}

/** Returns the bundled trace with the heaviest tail. */
export const heavyTailTrace = (): string => bundledTraces()[0]!;

/** Returns the bundled images and short videos, for mixtures. */
export function bundledVisionSources(): VisionSources {
  const read = (name: string): string => readFileSync(join(packageRoot(), 'examples', 'traces', name), 'utf8');
  return readVisionSources(read('nextqa-videos.jsonl'), read('servegen-qwen-vl-images.jsonl'));
}

/** Returns the bundled execution times of correct programs, in seconds: a list for each test case. */
export function bundledSandboxSeconds(): number[][] {
  const file = join(packageRoot(), 'examples', 'traces', 'sandbox-livecodebench.jsonl');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { seconds: number[] }).seconds);
}

/** Reads the bundled traces synchronously: they are small, and their format is known. */
export const readBundledTraces = (): NamedTrace[] => bundledTraces().map(readTraceFile);

/** Reads a plain trace file synchronously. `readTraces` reads the files of users. */
export function readTraceFile(path: string): NamedTrace {
  const file = basename(path);
  return { name: file.replace(/\.jsonl$/, ''), trace: readTrace(readText(path), path) };
}

/** Refuses a path that cannot be written before any work is done. Throws the system's error, or `invalid_input`. */
export function checkWritable(path: string, option: string): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) {
      refuse('invalid_input', option, 'a file, not a folder', path);
    }
    accessSync(path, constants.W_OK);
  } else accessSync(dirname(path), constants.W_OK);
}
