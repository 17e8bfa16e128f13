/** Makes a response from the fields of one: its length, its prompt, its step, how it ended, and whether it was right. */
import { refuse } from '../../../../errors.ts';
import type { DumpContext, DumpedResponse, SkipReason } from '../dump.ts';
import { expectedField, type Fields, fieldsOf, isStrongId, markKindOf, type Role } from './fields.ts';
import type { Unit } from './layout.ts';
import { firstOf, type Length, lengthOf, placeOf } from './length.ts';
import { type End, endOf } from './marks.ts';
import { correctBy, countIn, countOf, flagOf, isEmpty, isRow, listOf } from './value.ts';

/** A prompt with more characters is a text, and is replaced by a fingerprint. */
const longestId = 64;

/** Returns the response of a unit, or why it is left out. Throws `invalid_input` with file, line and field. */
export function responseOf(unit: Unit, context: DumpContext): DumpedResponse | SkipReason {
  const { fields } = unit;
  const end = endIn(fields, context);
  if (end === 'failed' || end === 'pending') return end;
  const length = lengthOf(unit, context);
  if (length === undefined) return end === 'aborted' ? 'aborted' : without(unit, context);
  for (const [role, path] of length.from) context.used?.(role, path);
  if (length.tokens === 0) return end === 'aborted' ? 'aborted' : 'empty';
  const step = numberAt('step', unit, context) ?? context.step;
  const correct = correctIn(fields, context);
  const task = firstOf(fields, 'task')?.value;
  const [part, turn] = [firstOf(fields, 'part'), firstOf(fields, 'turn')];
  const sample = part === undefined ? numberAt('sample', unit, context) : undefined;
  if (part !== undefined) context.used?.('part', part.path);
  return {
    group: groupOf(unit, context),
    ...(step === undefined ? undefined : { step }),
    ...(part === undefined ? undefined : { part: partOf(part.value) }),
    ...(turn === undefined || part !== undefined ? undefined : { turn: countIn(turn.value) ?? -1 }),
    ...(sample === undefined ? undefined : { row: sample }),
    tokens: length.tokens,
    ...(length.turns === undefined || length.turns.length < 2 ? undefined : { turns: length.turns }),
    promptTokens: () => promptTokensOf(unit, length, context),
    ...(end === undefined ? undefined : { truncated: end === 'cut' }),
    ...(end === 'aborted' ? { censored: true } : undefined),
    ...(correct === undefined ? undefined : { correct }),
    ...(typeof task === 'string' && task !== '' ? { task } : undefined),
    ...(length.estimated === undefined ? undefined : { estimated: length.estimated }),
    fromText: length.isFromText === true,
  };
}

const partOf = (value: unknown): number | string => (typeof value === 'number' ? value : String(value));

function numberAt(role: Role, unit: Unit, { where, used }: DumpContext): number | undefined {
  const found = firstOf(unit.fields, role);
  if (found === undefined) return undefined;
  const count = countOf(found.value, placeOf(unit, found.path, where));
  used?.(role, found.path);
  return count;
}

/** Says why a row without a length has none. */
function without({ fields, at, slice }: Unit, { where }: DumpContext): SkipReason {
  if (firstOf(fields, 'error') !== undefined) return 'failed';
  for (const role of ['tokens', 'length', 'response', 'ids'] as const) {
    const found = fields.get(role)?.find(({ value }) => isEmpty(value));
    if (found === undefined) continue;
    refuse(
      'invalid_input',
      placeOf({ at, ...(slice === undefined ? undefined : { slice }) }, found.path, where),
      role === 'response' ? 'a string' : 'a whole number >= 0',
      found.value,
    );
  }
  const names = [...fields.values()].flatMap((list) => list.map(({ path }) => path));
  return refuse('invalid_input', `${where}${at}`, expectedField(names), names.slice(0, 8));
}

/** The more important comes first: what was aborted was not whole, whatever else is said of it. */
const byImportance: readonly End[] = ['aborted', 'cut', 'failed', 'pending', 'whole'];

function endIn(fields: Fields, context: DumpContext): Exclude<End, object> | undefined {
  const ends = new Set<End>();
  for (const { path, value } of fields.get('mark') ?? []) {
    const end = endOf(value, markKindOf(path));
    if (end === undefined) continue;
    if (typeof end === 'object') context.unknownMark?.(path, end.unknown);
    else context.used?.('mark', path);
    ends.add(end);
  }
  const known = byImportance.find((end) => ends.has(end)) as Exclude<End, object> | undefined;
  if (known !== undefined) return known;
  const last = listOf(firstOf(fields, 'calls')?.value)?.at(-1);
  return isRow(last) ? endIn(fieldsOf(last), context) : undefined;
}

function correctIn(fields: Fields, { correctFrom, used }: DumpContext): boolean | undefined {
  const said = firstOf(fields, 'correct');
  const flag = said === undefined ? undefined : flagOf(said.value);
  if (flag !== undefined) {
    used?.('correct', said!.path);
    return flag;
  }
  const score = firstOf(fields, 'score');
  const correct = score === undefined ? undefined : correctBy(score.value, correctFrom);
  if (correct !== undefined) used?.('score', score!.path);
  return correct;
}

function groupOf(unit: Unit, context: DumpContext): string {
  const { fields, at, slice, isOfLine } = unit;
  const { where, fingerprint, used } = context;
  const [id, prompt] = [firstOf(fields, 'group'), firstOf(fields, 'prompt')];
  const hasTurns = firstOf(fields, 'part') !== undefined || firstOf(fields, 'turn') !== undefined;
  const isFirst = id !== undefined && (id.rank < 0 || prompt === undefined || hasTurns || isStrongId(id.path));
  const found = isFirst ? id : prompt;
  if (found === undefined) {
    if (unit.group !== undefined) return unit.group;
    return isOfLine ? where : `${where}${at}${slice === undefined ? '' : `[${slice.index}]`}`;
  }
  used?.(isFirst ? 'group' : 'prompt', found.path);
  return idOf(found.value, fingerprint);
}

/** Returns an id that a value makes: a long text is replaced by its fingerprint. */
export function idOf(value: unknown, fingerprint: DumpContext['fingerprint']): string {
  const id = typeof value === 'string' ? value : typeof value === 'bigint' ? `${value}` : JSON.stringify(value);
  return id.length > longestId ? fingerprint(id) : id;
}

function promptTokensOf(unit: Unit, length: Length, { where, textTokens, used }: DumpContext): number | undefined {
  const { fields } = unit;
  const found = firstOf(fields, 'promptTokens');
  if (found !== undefined && listOf(found.value) === undefined) {
    used?.('promptTokens', found.path);
    return countOf(found.value, placeOf(unit, found.path, where));
  }
  const ids = firstOf(fields, 'promptIds');
  const list = listOf(ids?.value);
  if (list !== undefined) {
    used?.('promptIds', ids!.path);
    return list.length;
  }
  if (length.promptTokens !== undefined && length.promptTokens > 0) return length.promptTokens;
  const prompt = firstOf(fields, 'prompt')?.value;
  return length.isFromText === true && typeof prompt === 'string' ? textTokens?.count(prompt) : undefined;
}
