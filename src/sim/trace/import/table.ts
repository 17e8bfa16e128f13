/**
 * Rows of no particular trainer: CSV with a header, JSON objects, or only numbers. The meaning of a column is guessed from its
 * name.
 */
import { refuse } from '../../../errors.ts';
import { correctness, type DumpContext, type DumpReader, dumpedScore, tokensOfText } from './dump.ts';

/** Names of columns, in lower case and without separators; earlier names win. */
const names = {
  tokens: [
    'tokens',
    'responsetokens',
    'outputtokens',
    'completiontokens',
    'generatedtokens',
    'responselength',
    'completionlength',
    'outputlength',
    'responselen',
    'outputlen',
    'numtokens',
    'ntokens',
    'length',
    'len',
  ],
  text: ['response', 'completion', 'output', 'generatedtext', 'text'],
  prompt: [
    'promptid',
    'prompt',
    'groupid',
    'groupindex',
    'group',
    'problemid',
    'questionid',
    'uid',
    'problem',
    'question',
  ],
  promptTokens: [
    'prompttokens',
    'inputtokens',
    'contexttokens',
    'promptlength',
    'inputlength',
    'promptlen',
    'inputlen',
  ],
  step: ['step', 'globalstep', 'trainingstep', 'iteration'],
  correct: ['correct', 'iscorrect', 'acc', 'accuracy'],
  score: ['score', 'reward'],
  capped: ['capped', 'truncated', 'clipped', 'finishreason'],
  task: ['task', 'domain', 'datasource'],
} as const;

type Meaning = keyof typeof names;
type Columns = Readonly<Partial<Record<Meaning, string>>>;

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

/** Returns the keys of a row by meaning. */
function columnsOf(row: Readonly<Record<string, unknown>>): Columns {
  const known = new Map(Object.keys(row).map((key) => [plain(key), key]));
  const found = Object.entries(names).flatMap(([meaning, list]) => {
    const name = list.find((one) => known.has(one));
    return name === undefined ? [] : [[meaning, known.get(name)!] as const];
  });
  return Object.fromEntries(found);
}

/** The columns that a header, or an object, must have. */
export const tableColumns = `a column of tokens (${names.tokens.slice(0, 6).join(', ')}, …) or of text (${names.text.slice(0, 3).join(', ')})`;

/** A prompt with more characters is a text, and is replaced by a fingerprint. */
const longestId = 64;

const isEmpty = (value: unknown): boolean => value === undefined || value === null || value === '';

/** Reads a count. CSV has counts as text, and pandas writes 812.0. */
function countOf(value: unknown, where: string): number | undefined {
  if (isEmpty(value)) return undefined;
  const number = typeof value === 'string' ? Number(value.trim() || Number.NaN) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  return refuse('invalid_input', where, 'a whole number >= 0', value);
}

const yes = new Set<unknown>([true, 1, '1', 'true', 'yes', 'length', 'truncated', '1.0']);
const no = new Set<unknown>([false, 0, '0', 'false', 'no', 'stop', 'completed', '0.0']);

function flagOf(value: unknown): boolean | undefined {
  const key = typeof value === 'string' ? value.trim().toLowerCase() : value;
  return yes.has(key) ? true : no.has(key) ? false : undefined;
}

const scoreOf = (value: unknown): unknown => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return Number.isNaN(number) ? undefined : number;
};

function correctOf(row: Readonly<Record<string, unknown>>, columns: Columns, correctFrom: number | undefined) {
  const said = columns.correct === undefined ? undefined : flagOf(row[columns.correct]);
  if (said !== undefined) return said;
  const score = dumpedScore.safeParse(columns.score === undefined ? undefined : scoreOf(row[columns.score]));
  return score.success ? correctness(score.data, undefined, correctFrom) : undefined;
}

function idOf(value: unknown, { fingerprint, where }: DumpContext): string {
  if (isEmpty(value)) return where;
  const id = typeof value === 'string' ? value : JSON.stringify(value);
  return id.length > longestId ? fingerprint(id) : id;
}

/** The reader of tables, for dumps of no particular trainer. */
export const tableDump: DumpReader = Object.freeze({
  id: 'table',
  description: 'CSV with a header, JSON objects, or a column of numbers: what columns mean is guessed from their names',
  needs: [],
  marks: [],
  detect: (first: Readonly<Record<string, unknown>>) => {
    const { tokens, text } = columnsOf(first);
    return tokens !== undefined || text !== undefined;
  },
  read(row, context) {
    const columns = columnsOf(row);
    const { where, textTokens } = context;
    const at = (meaning: Meaning): unknown => (columns[meaning] === undefined ? undefined : row[columns[meaning]]);
    const field = (meaning: Meaning): string => `${where}.${columns[meaning]}`;
    if (columns.tokens === undefined && columns.text === undefined)
      refuse('invalid_input', where, tableColumns, Object.keys(row));
    const text = at('text');
    const fromText = columns.tokens === undefined;
    if (fromText && typeof text !== 'string') refuse('invalid_input', field('text'), 'a text', text);
    const counted = fromText
      ? tokensOfText(text as string, context, columns.text!)
      : countOf(at('tokens'), field('tokens'));
    if (counted === undefined) refuse('invalid_input', field('tokens'), 'a whole number >= 0', at('tokens'));
    if (counted === 0) return ['empty'];
    const step = countOf(at('step'), field('step')) ?? context.step;
    const prompt = at('prompt');
    const correct = correctOf(row, columns, context.correctFrom);
    const truncated = flagOf(at('capped'));
    const task = at('task');
    return [
      {
        group: idOf(prompt, context),
        ...(step === undefined ? undefined : { step }),
        tokens: counted!,
        promptTokens: () =>
          countOf(at('promptTokens'), field('promptTokens')) ??
          (fromText && typeof prompt === 'string' ? textTokens?.count(prompt) : undefined),
        ...(truncated === undefined ? undefined : { truncated }),
        ...(correct === undefined ? undefined : { correct }),
        ...(typeof task === 'string' && task !== '' ? { task } : undefined),
        fromText,
      },
    ];
  },
} satisfies DumpReader);
