/**
 * How a record holds its responses: one; columns as lists; a table inside of an object; several responses as lists, as objects, or
 * in columns with numbers. Whatever it is becomes units: the fields of one response each.
 */
import { refuse } from '../../../../errors.ts';
import { type FieldChoices, type Fields, type Found, fieldsOf, plain, type Role, roleOf } from './fields.ts';
import { isConversation, isEmpty, isRow, listOf, type Row } from './value.ts';

/** One response, and what its record says of it. */
export interface Unit {
  readonly fields: Fields;
  /** Its place in the record, for errors: `.data[3]`. */
  readonly at: string;
  /** Its number in lists of the record, and the names of these lists. */
  readonly slice?: { readonly index: number; readonly names: ReadonlySet<string> };
  /** Whether responses of the record without a prompt are of one prompt, the record's. */
  readonly isOfLine: boolean;
  /** Id of its prompt, where the record names it by a key. */
  readonly group?: string;
  /** Texts of all responses of the record, and the tokens of all of them together, where only these are known. */
  readonly sum?: { readonly found: Found; readonly texts: readonly (string | undefined)[]; readonly index: number };
}

const perResponse = new Set<Role>([
  'tokens',
  'length',
  'ids',
  'mask',
  'total',
  'each',
  'calls',
  'response',
  'sample',
  'mark',
  'score',
  'correct',
]);
const primary: readonly Role[] = ['response', 'ids', 'tokens', 'length', 'mask', 'total'];

/** Returns the responses of a record. Throws `invalid_input` where it can be read in two ways. */
export function unitsOf(record: Row, choices: FieldChoices, where: string): readonly Unit[] {
  const rows = rowsIn(record);
  if (rows !== undefined) {
    return rows.flatMap(({ row, at, group }) =>
      unitsOf(row, choices, `${where}${at}`).map((unit) => ({
        ...unit,
        at: `${at}${unit.at}`,
        ...(group === undefined || unit.group !== undefined ? undefined : { group }),
      })),
    );
  }
  const fields = fieldsOf(record, choices);
  return (
    objectUnits(fields, choices) ??
    listUnits(record, fields, choices, where) ??
    wideUnits(record, fields, choices) ?? [{ fields, at: '', isOfLine: false }]
  );
}

interface InnerRow {
  readonly row: Row;
  readonly at: string;
  readonly group?: string;
}

const wrappers = ['data', 'rows', 'records', 'results', 'samples', 'rollouts', 'responses', 'instances'];

/** Returns the rows of a table that is one object; undefined for any other object. */
export function rowsIn(record: Row): readonly InnerRow[] | undefined {
  const { columns, data } = record;
  if (Array.isArray(columns) && Array.isArray(data) && data.every(Array.isArray)) {
    const names = columns.map(String);
    // pandas' `split`, and tables of wandb.
    return data.map((cells: readonly unknown[], index) => ({
      row: Object.fromEntries(names.map((name, at) => [name, cells[at]])),
      at: `.data[${index}]`,
    }));
  }
  for (const name of wrappers) {
    const list = record[name];
    if (!Array.isArray(list) || list.length === 0 || !list.every(isRow) || list.some(isConversation)) continue;
    // Rows have a prompt of their own; several responses of a prompt have that of the record.
    const first = fieldsOf(list[0] as Row);
    const hasPrompt = first.has('group') || first.has('prompt');
    if (!hasPrompt && (name !== 'data' || !('schema' in record))) continue;
    return (list as Row[]).map((row, index) => ({ row, at: `.${name}[${index}]` }));
  }
  return byKeys(record);
}

/** pandas' `columns` and `index`: an object for each column, or for each row. */
function byKeys(record: Row): readonly InnerRow[] | undefined {
  const names = Object.keys(record);
  if (names.length === 0 || !names.every((name) => isRow(record[name]))) return undefined;
  const inner = names.map((name) => record[name] as Row);
  const keys = Object.keys(inner[0]!);
  if (keys.length === 0) return undefined;
  const isColumns =
    names.some((name) => isResponseName(name)) &&
    keys.every((key) => /^\d+$/.test(key) || roleOf(key) === undefined) &&
    inner.every((one) => Object.keys(one).length === keys.length && keys[0]! in one);
  if (isColumns) {
    return keys.map((key) => ({
      row: Object.fromEntries(names.map((name, at) => [name, inner[at]![key]])),
      at: `[${key}]`,
    }));
  }
  if (names.some((name) => roleOf(name) !== undefined) || !inner.every((one) => namesResponse(Object.keys(one))))
    return undefined;
  const areNumbers = names.every((name) => /^\d+$/.test(name));
  return names.map((name, at) => ({ row: inner[at]!, at: `.${name}`, ...(areNumbers ? undefined : { group: name }) }));
}

const lengthRoles = new Set<Role | undefined>([
  'tokens',
  'length',
  'ids',
  'mask',
  'each',
  'response',
  'calls',
  'total',
]);
const isResponseName = (name: string): boolean => lengthRoles.has(roleOf(name.split(/[./]/).at(-1)!));
const numbered = /^(.*?)[_. -]?(\d+)$/;

/** Whether fields with these names tell the length of a response. */
export const namesResponse = (names: readonly string[]): boolean =>
  names.some((name) => isResponseName(name) || isResponseName(numbered.exec(name)?.[1] ?? ''));

/** Joins the fields of one of several responses with those of its record. */
function joined(item: Fields, record: Fields, count: number, list: string): Fields {
  const all = new Map(record);
  for (const [role, found] of record) {
    if (count > 1 && perResponse.has(role)) all.delete(role);
    else {
      const others = found.filter(({ path }) => path !== list);
      if (others.length === 0) all.delete(role);
      else all.set(role, others);
    }
  }
  for (const [role, found] of item) {
    // What one response says beats what the record says of all.
    if (!isEmpty(found[0]!.value) || !all.has(role)) all.set(role, found);
  }
  return all;
}

/** Responses as objects: `choices` of OpenAI, `outputs` of vLLM. */
function objectUnits(fields: Fields, choices: FieldChoices): readonly Unit[] | undefined {
  for (const { path, value } of fields.get('response') ?? []) {
    if (!Array.isArray(value) || value.length === 0 || !value.every(isRow) || isConversation(value)) continue;
    // Items of one answer of OpenAI's responses.
    if (value.some((one) => typeof one.type === 'string' && !('finish_reason' in one))) continue;
    const items = value.map((one) => fieldsOf(one as Row, choices));
    const known = items.filter((one) => [...one.keys()].some((role) => lengthRoles.has(role)));
    if (known.length === 0) continue;
    const [sum] = (fields.get('tokens') ?? []).filter((one) => !isEmpty(one.value) && !one.path.startsWith(path));
    const texts = items.map(
      (one) => one.get('response')?.find((text) => typeof text.value === 'string')?.value as string | undefined,
    );
    const isCounted = items.every((one) =>
      (['tokens', 'ids', 'mask', 'each', 'length'] as const).some((role) => one.has(role)),
    );
    return items.map((one, index) => ({
      fields: joined(one, fields, items.length, path),
      at: `.${path}[${index}]`,
      isOfLine: choices.group !== 'none',
      ...(sum === undefined || isCounted || items.length === 1 ? undefined : { sum: { found: sum, texts, index } }),
    }));
  }
  return undefined;
}

const isText = (value: unknown): boolean => typeof value === 'string' || value === null || value === undefined;
const areTexts = (list: readonly unknown[]): boolean =>
  list.some((one) => typeof one === 'string') && list.every(isText);
const areLists = (list: readonly unknown[]): boolean =>
  list.length > 0 && list.every((one) => listOf(one) !== undefined);
const areConversations = (list: readonly unknown[]): boolean => list.length > 0 && list.every(isConversation);

/** Columns, or several responses, as lists of one length. */
function listUnits(record: Row, fields: Fields, choices: FieldChoices, where: string): readonly Unit[] | undefined {
  const lists = new Map<string, readonly unknown[]>();
  for (const key in record) {
    const list = listOf(record[key]);
    if (list !== undefined) lists.set(key, list);
  }
  if (lists.size === 0) return undefined;
  const main = mainList(lists, fields, record, choices, where);
  if (main === undefined) return undefined;
  const count = lists.get(main)!.length;
  const isSliced = (key: string, list: readonly unknown[]): boolean => {
    if (list.length !== count) return false;
    const role = roleOf(key);
    if (isConversation(list)) return key === main;
    // A list of ids is one prompt.
    return key === main || !((role === 'promptIds' || role === 'ids' || role === 'mask') && !areLists(list));
  };
  const sliced = [...lists].filter(([key, list]) => isSliced(key, list));
  const inner = new Set(sliced.map(([key]) => key));
  const rest: Row = Object.fromEntries(Object.entries(record).filter(([key]) => !inner.has(key)));
  const restFields = fieldsOf(rest, choices);
  const has = (role: Role): boolean => sliced.some(([key]) => roleOf(key) === role);
  const hasPrompt = has('group') || has('prompt') || restFields.has('group') || restFields.has('prompt');
  const areRows =
    choices.group === 'none' ||
    ['promptTokens', 'promptIds', 'step', 'sample', 'turn', 'part'].some((role) => has(role as Role));
  if (!hasPrompt && !areRows && count > 1 && choices.group !== 'line') {
    refuse(
      'invalid_input',
      `${where}.${main}`,
      '--field group=line, if the responses of a line are of one prompt, or --field group=none, if each has its own: nothing says it',
      `${count} responses in a line, without a prompt`,
    );
  }
  return Array.from({ length: count }, (_, index) => {
    const item = fieldsOf(Object.fromEntries(sliced.map(([key, list]) => [key, unwrapped(list[index])])), choices);
    return {
      fields: joined(item, restFields, count, main),
      at: '',
      slice: { index, names: inner },
      isOfLine: choices.group === 'line',
    };
  });
}

/** `["text"]`, as lm-evaluation-harness writes each response. */
const unwrapped = (value: unknown): unknown =>
  Array.isArray(value) && value.length === 1 && typeof value[0] === 'string' ? value[0] : value;

/** Returns the name of the list whose items are responses. Throws `invalid_input` if it may also be a list of token ids. */
function mainList(
  lists: ReadonlyMap<string, readonly unknown[]>,
  fields: Fields,
  record: Row,
  choices: FieldChoices,
  where: string,
): string | undefined {
  for (const role of primary) {
    for (const { path, value } of fields.get(role) ?? []) {
      const list = lists.get(path);
      if (list === undefined || list.length === 0 || value !== record[path]) continue;
      if (role === 'response') {
        if (
          areTexts(list) ||
          areConversations(list) ||
          (areLists(list) && list.some((one) => typeof (one as unknown[])[0] === 'string'))
        )
          return path;
      } else if (role === 'ids' || role === 'mask') {
        if (areLists(list)) return path;
      } else if (areLists(list)) return path;
      else if (choices[role === 'length' ? 'tokens' : role] === path || areCounts(path, list, lists, fields, where))
        return path;
    }
  }
  return undefined;
}

/** Whether numbers are counts of several responses, and not the ids of the tokens of one. */
function areCounts(
  name: string,
  list: readonly unknown[],
  lists: ReadonlyMap<string, readonly unknown[]>,
  fields: Fields,
  where: string,
): boolean {
  if (!/tokens$/.test(plain(name)) || /^(num|n)[^a-z]|count/i.test(name)) return true;
  const companions: readonly (Role | undefined)[] = [
    'response',
    'score',
    'mark',
    'correct',
    'step',
    'prompt',
    'group',
    'promptTokens',
  ];
  for (const [other, values] of lists) {
    if (
      other !== name &&
      values.length === list.length &&
      companions.includes(roleOf(other)) &&
      !isConversation(values)
    )
      return true;
  }
  const ofOne: readonly Role[] = ['response', 'score', 'mark', 'correct', 'total', 'sample', 'part'];
  const saysOne = ofOne.some((role) =>
    fields.get(role)?.some(({ path, value }) => !isEmpty(value) && !lists.has(path) && !isRow(value)),
  );
  if (saysOne || list.length === 0 || list.some((one) => typeof one === 'number' && !Number.isInteger(one)))
    return false;
  return refuse(
    'invalid_input',
    `${where}.${name}`,
    `--field token-ids=${name}, if these are the ids of the tokens of one response, or --field tokens=${name}, if each is the length of a response: both are possible`,
    list.slice(0, 5),
  );
}

/** Several responses as columns with numbers: `tokens_0`, `tokens_1`, …. */
function wideUnits(record: Row, fields: Fields, choices: FieldChoices): readonly Unit[] | undefined {
  if (['tokens', 'ids', 'response', 'length', 'total', 'mask'].some((role) => fields.has(role as Role)))
    return undefined;
  const columns = new Map<number, Record<string, unknown>>();
  let isWide = false;
  for (const key in record) {
    const [, base = '', digits] = numbered.exec(key) ?? [];
    if (digits === undefined || roleOf(base) === undefined) continue;
    const index = Number(digits);
    columns.set(index, { ...columns.get(index), [base]: record[key] });
    isWide ||= isResponseName(base);
  }
  if (!isWide) return undefined;
  const units = [...columns]
    .sort(([a], [b]) => a - b)
    .flatMap(([index, row]) => {
      const item = fieldsOf(row, choices);
      const isThere = primary.some((role) => item.get(role)?.some(({ value }) => !isEmpty(value)));
      return isThere
        ? [
            {
              fields: joined(item, fields, columns.size, ''),
              at: '',
              slice: { index, names: new Set<string>() },
              isOfLine: choices.group !== 'none',
            },
          ]
        : [];
    });
  return units;
}
