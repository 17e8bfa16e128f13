/** Options that several commands have: what each is called and takes is declared once, and a command says what it means there. */
import { Option } from 'commander';
import { engineNames, precisionNames } from '../../sim/silicon/constants.ts';
import { whole } from './arguments.ts';

/** What an option takes; a text if nothing else is said. */
interface Taken {
  readonly flags: string;
  /** What it means in most commands. */
  readonly says: string;
  readonly parse?: (text: string, before: never) => unknown;
  readonly choices?: readonly string[];
}

const table = {
  cap: { flags: '--cap <tokens>', says: 'longest response; what is longer is cut', parse: whole(1, 10_000_000) },
  engine: { flags: '--engine <name>', says: 'inference engine (vllm)', choices: engineNames },
  engines: { flags: '--engines <n>', says: 'inference engines', parse: whole(1, 4096) },
  gpu: { flags: '--gpu <name>', says: 'GPU, such as h200 or b200 (h100-sxm)' },
  gpus: { flags: '--gpus <n>', says: 'GPUs of the rollout (32)', parse: whole(1, 100_000) },
  json: { flags: '--json', says: 'print one JSON object' },
  model: { flags: '--model <name>', says: 'your model: an open one by its name, or its config.json' },
  policies: {
    flags: '--policies <file>',
    says: 'a module with definitions of your own, each an export or in a list; may be repeated',
    parse: (text: string, before: readonly string[] = []) => [...before, text],
  },
  precision: {
    flags: '--precision <name>',
    says: 'weights in the engines (as published)',
    choices: precisionNames,
  },
  promptsPerRound: { flags: '--prompts-per-round <n>', says: 'P0: prompts of a step', parse: whole(1, 100_000) },
  responsesPerPrompt: {
    flags: '--responses-per-prompt <n>',
    says: 'R0: responses of a prompt',
    parse: whole(1, 10_000),
  },
  seed: { flags: '--seed <n>', says: 'first seed', parse: whole(0, Number.MAX_SAFE_INTEGER) },
  seeds: { flags: '--seeds <n>', says: 'runs, each with other draws', parse: whole(1, 1000) },
  session: { flags: '--session <id>', says: 'of a decision log: this session only' },
  steps: { flags: '--steps <n>', says: 'training steps', parse: whole(1, 100_000) },
  tp: { flags: '--tp <n>', says: 'GPUs of an engine (the fewest with room)', parse: whole(1, 1024) },
  workers: { flags: '--workers <n>', says: 'threads (all cores); the result is the same', parse: whole(1, 1024) },
} as const satisfies Record<string, Taken>;

/** What a command says of an option, where it is not the usual. */
interface Said {
  /** Its value if it is absent. */
  readonly usual?: unknown;
  /** Other bounds. */
  readonly parse?: (text: string) => unknown;
}

/** Returns an option for a command. */
export function option(name: keyof typeof table, says?: string, { usual, parse }: Said = {}): Option {
  const taken: Taken = table[name];
  const made = new Option(taken.flags, says ?? taken.says);
  const parser = parse ?? taken.parse;
  if (parser !== undefined) made.argParser(parser as (text: string) => unknown);
  if (taken.choices !== undefined) made.choices(taken.choices);
  if (usual !== undefined) made.default(usual);
  return made;
}
