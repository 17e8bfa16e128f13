/** Recordings of real servers in `test/fixtures/engines`: one line for each answer. */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Recorded } from './recorder.ts';

/** A recording of a server. */
export interface Recording {
  readonly server: string;
  readonly version: string;
  /** Day of the recording, or of the reading of its source. */
  readonly recorded: string;
  /** How the server was started, or what was read. */
  readonly how: string;
  /** Routes of the server, with their methods. */
  readonly routes: readonly string[];
  readonly answers: Readonly<Record<string, Recorded>>;
}

const fileOf = (server: string): URL => new URL(`../../../fixtures/engines/${server}.json`, import.meta.url);

export function readRecording(server: 'vllm' | 'sglang'): Recording {
  return JSON.parse(readFileSync(fileOf(server), 'utf8')) as Recording;
}

/** Writes a recording, to its place unless another is given. */
export function writeRecording(recording: Recording, file: string | URL = fileOf(recording.server)): void {
  const { routes, answers, ...head } = recording;
  const lines = (entries: readonly string[]): string => entries.map((one) => `    ${one}`).join(',\n');
  const text = [
    ...Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},`),
    `  "routes": [\n${lines(routes.map((one) => JSON.stringify(one)))}\n  ],`,
    `  "answers": {\n${lines(Object.entries(answers).map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`))}\n  }`,
  ];
  writeFileSync(file, `{\n${text.join('\n')}\n}\n`);
}
