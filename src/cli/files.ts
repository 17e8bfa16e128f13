/** Reading what the user names, and finding what comes with the package. */
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PolicyError } from '../errors.ts';
import { readTrace, type Trace } from '../sim/trace/read.ts';
import { readVisionSources, type VisionSources } from '../sim/vlm/sources.ts';

/** The root of the package: the nearest folder above with the bundled traces. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'examples', 'traces')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

/** The traces that come with the package and that the main job replays. */
export function bundledTraces(): string[] {
  const folder = join(packageRoot(), 'examples', 'traces');
  return ['castillo-qwen2.5-7b-instruct-1m.jsonl', 'servegen-deepseek-r1.jsonl'].map((name) => join(folder, name));
}

/** Images and short videos that come with the package, for mixtures. */
export function bundledVisionSources(): VisionSources {
  const read = (name: string): string => readFileSync(join(packageRoot(), 'examples', 'traces', name), 'utf8');
  return readVisionSources(read('nextqa-videos.jsonl'), read('servegen-qwen-vl-images.jsonl'));
}

/** Seconds of correct runs of code, bundled: a list for each test case. */
export function bundledSandboxSeconds(): number[][] {
  const file = join(packageRoot(), 'examples', 'traces', 'sandbox-livecodebench.jsonl');
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => (JSON.parse(line) as { seconds: number[] }).seconds);
}

/** The version of the package. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** A trace file. Throws `PolicyError` `invalid_input` with file and line, or the system's error. */
export function readTraceFile(path: string): { readonly name: string; readonly trace: Trace } {
  const file = basename(path);
  return { name: file.replace(/\.(jsonl|csv)$/, ''), trace: readTrace(readFileSync(path, 'utf8'), file) };
}

/** Refuses a path that cannot be written before any work is done. Throws the system's error, or `invalid_input`. */
export function checkWritable(path: string, option: string): void {
  if (existsSync(path)) {
    if (statSync(path).isDirectory()) {
      throw new PolicyError('invalid_input', { expected: 'a file, not a folder', got: path, path: option });
    }
    accessSync(path, constants.W_OK);
  } else accessSync(dirname(path), constants.W_OK);
}
