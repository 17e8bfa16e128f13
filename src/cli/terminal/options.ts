/** Options that several commands have: what each is called and takes is declared once, and a command says what it means there. */
import { Option } from 'commander';
import { whole } from './arguments.ts';

/** What an option takes; a text if nothing else is said. */
interface Taken {
  readonly flags: string;
  /** What it means in most commands. */
  readonly says: string;
  readonly parse?: (text: string) => unknown;
}

const table = {
  cap: { flags: '--cap <tokens>', says: 'longest response; what is longer is cut', parse: whole(1, 10_000_000) },
  engines: { flags: '--engines <n>', says: 'inference engines', parse: whole(1, 4096) },
  json: { flags: '--json', says: 'print one JSON object' },
  policies: { flags: '--policies <file>', says: 'a module with definitions of your own, each an export or in a list' },
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
  if (parser !== undefined) made.argParser(parser);
  if (usual !== undefined) made.default(usual);
  return made;
}
