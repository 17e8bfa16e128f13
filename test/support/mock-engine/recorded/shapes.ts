/** The shape of an answer: what a client can rely on, without what differs from call to call. */

/** A shape as JSON: a type, `=value` for a constant, a list of the shapes of its items, or an object of shapes. */
export type Shape = string | readonly Shape[] | { readonly [key: string]: Shape };

/** Fields whose value is part of the shape. */
const constants: ReadonlySet<string> = new Set([
  'code',
  'finish_reason',
  'is_paused',
  'is_sleeping',
  'level',
  'object',
  'output_mode',
  'owned_by',
  'param',
  'role',
  'status',
  'success',
  'type',
]);
/** Objects whose keys are data: the texts of tokens. */
const maps: ReadonlySet<string> = new Set(['top_logprobs']);
/** Lists of numbers, which may be empty by chance. */
const lists: ReadonlySet<string> = new Set(['bytes', 'token_ids']);

/** Returns the shape of a value. */
export function shapeOf(value: unknown, key = ''): Shape {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    return lists.has(key) && value.length === 0 ? ['number'] : distinct(value.map((one) => shapeOf(one, key)));
  }
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    const isMap = maps.has(key) && entries.length > 0 && entries.every(([, one]) => typeof one === 'number');
    if (isMap) return { '*': 'number' };
    return Object.fromEntries(
      entries.map(([name, one]) => [name, shapeOf(one, name)] as const).sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  }
  return constants.has(key) ? `=${value}` : typeof value;
}

function distinct(shapes: readonly Shape[]): Shape[] {
  const texts = new Set(shapes.map((one) => JSON.stringify(one)));
  return [...texts].sort().map((text) => JSON.parse(text) as Shape);
}

/** Returns the shape of a body, by its content type: JSON, a stream of events, metrics, or text. */
export function bodyShape(type: string, text: string): Shape {
  if (text === '') return 'nothing';
  if (type.startsWith('application/json')) return shapeOf(JSON.parse(text));
  if (type.startsWith('text/event-stream')) return eventShapes(text);
  return text.includes('# TYPE ') ? metricShapes(text) : 'text';
}

/** Returns the shapes of the events of a stream, in the order in which they are first seen. */
function eventShapes(text: string): Shape[] {
  const events = text.split('\n\n').filter((one) => one !== '');
  const shapes = events.map((event): Shape => {
    const data = event.replace(/^data: /, '');
    return data === '[DONE]' ? '=[DONE]' : shapeOf(JSON.parse(data));
  });
  const texts = new Set(shapes.map((one) => JSON.stringify(one)));
  return [...texts].map((text) => JSON.parse(text) as Shape);
}

/** Returns type and labels of each metric of the engine. When a counter was made (`_created`) is left out. */
function metricShapes(text: string): Shape {
  const shapes: Record<string, string> = {};
  const labels = new Map<string, string>();
  for (const [, name, given = ''] of text.matchAll(/^(vllm:\w+)(?:\{(.*)\})? /gm)) {
    const names = [...given.matchAll(/(\w+)="/g)].map(([, label]) => label!).filter((label) => label !== 'le');
    labels.set(name!, names.sort().join(' '));
  }
  for (const [, name, type] of text.matchAll(/^# TYPE (vllm:\w+) (\w+)$/gm)) {
    if (name!.endsWith('_created')) continue;
    shapes[name!] = `${type} ${labels.get(name!) ?? labels.get(`${name}_count`) ?? ''}`.trim();
  }
  return Object.fromEntries(Object.entries(shapes).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Where two shapes differ, as `path: left | right`. */
export function differencesOf(real: Shape | undefined, mock: Shape | undefined, path = ''): string[] {
  if (JSON.stringify(real) === JSON.stringify(mock)) return [];
  const isObject = (one: unknown): one is Record<string, Shape> => typeof one === 'object' && !Array.isArray(one);
  if (isObject(real) && isObject(mock)) {
    const keys = [...new Set([...Object.keys(real), ...Object.keys(mock)])].sort();
    return keys.flatMap((key) => differencesOf(real[key], mock[key], path === '' ? key : `${path}.${key}`));
  }
  if (Array.isArray(real) && Array.isArray(mock) && real.length === mock.length) {
    return real.flatMap((one, at) => differencesOf(one, mock[at], `${path}[${real.length > 1 ? at : ''}]`));
  }
  const say = (one: Shape | undefined): string => (one === undefined ? 'absent' : JSON.stringify(one));
  return [`${path}: ${say(real)} | ${say(mock)}`];
}
