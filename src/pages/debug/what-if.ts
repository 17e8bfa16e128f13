/// <reference lib="dom" />
/** A form with the settings of the policy at the present event, and the simulated outcome with other settings. */

import type { SettingItem, WhatIfForm, WhatIfText } from '../../sim/what-if/form.ts';
import { ask, refusal } from '../kit/api.ts';
import { button, byId, element, option } from '../kit/elements.ts';
import { cells, table } from '../kit/tables.ts';

/** The event that is asked about. */
export interface AskedEvent {
  readonly session: string;
  readonly seq: number;
}

const panel = byId<HTMLDetailsElement>('what-if');
const form = byId('what-if-form');
const answer = byId('what-if-answer');

let formOf = '';
let asking = new AbortController();
const fields = new Map<string, { readonly item: SettingItem; readonly field: HTMLInputElement | HTMLSelectElement }>();

const textOf = (value: unknown): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function choice(options: readonly (readonly [value: string, label: string])[], chosen: string): HTMLSelectElement {
  const made = document.createElement('select');
  made.append(...options.map(([value, label]) => option(value, label)));
  made.value = chosen;
  return made;
}

function fieldOf({
  kind,
  value,
  choices = ['true', 'false'],
  range,
}: SettingItem): HTMLInputElement | HTMLSelectElement {
  if (kind === 'choice' || kind === 'boolean') {
    const unset = value === undefined ? [['', 'not set'] as const] : [];
    return choice([...unset, ...choices.map((one) => [one, one] as const)], textOf(value));
  }
  const made = document.createElement('input');
  made.value = textOf(value);
  made.placeholder = value === undefined ? 'not set' : (range ?? '');
  made.spellcheck = false;
  made.inputMode = kind === 'number' ? 'decimal' : 'text';
  return made;
}

const labelled = (name: string, field: HTMLElement, title = ''): HTMLLabelElement => {
  const made = element('label', 'setting', element('span', 'soft', name), field);
  made.title = title;
  return made;
};

function draw({ settings, policies, presets, preset }: WhatIfForm, run: () => void): void {
  fields.clear();
  const all = settings.map((item) => {
    const field = fieldOf(item);
    field.name = item.name;
    fields.set(item.name, { item, field });
    return labelled(item.name, field, `${item.description}${item.range === undefined ? '' : ` (${item.range})`}`);
  });
  const policy = choice([['', 'the same'], ...policies.map((one) => [one, one] as const)], '');
  policy.id = 'what-if-policy';
  policy.addEventListener('change', () => {
    for (const { field } of fields.values()) field.disabled = policy.value !== '';
  });
  const model = choice(
    presets.map((one) => [one, one] as const),
    preset,
  );
  model.id = 'what-if-preset';
  const cap = document.createElement('input');
  cap.id = 'what-if-cap';
  cap.inputMode = 'numeric';
  cap.placeholder = 'of the preset';
  const submit = element('button', '', 'what if');
  submit.id = 'what-if-run';
  const made = element(
    'form',
    'what-if',
    labelled('policy', policy, 'Another one takes over after the open round, with its own settings.'),
    ...all,
    labelled('model and GPUs', model, 'What engines and training cost, up to a factor that is fitted to the log.'),
    labelled('longest response', cap, 'Tokens at which a response is cut.'),
    element('div', 'row', submit),
  );
  made.addEventListener('submit', (event) => {
    event.preventDefault();
    run();
  });
  form.replaceChildren(made);
}

/** Returns the settings that differ from the log. */
function changes(): Record<string, unknown> {
  const set: Record<string, unknown> = {};
  for (const [name, { item, field }] of fields) {
    if (field.disabled || field.value === textOf(item.value)) continue;
    try {
      set[name] = item.kind === 'choice' ? field.value : JSON.parse(field.value);
    } catch {
      set[name] = field.value;
    }
  }
  return set;
}

function show(text: WhatIfText): void {
  answer.replaceChildren(
    ...text.about.map((line) => element('p', 'soft', line)),
    element(
      'p',
      'answer',
      text.worth ?? 'Nothing is changed: the second row shows how far the simulation can be believed.',
    ),
    table(
      text.head,
      text.rows.map((row) => element('tr', '', ...cells(...row))),
    ),
    element('ul', 'list', ...text.assumed.map((line) => element('li', '', line))),
  );
}

/** Shows an error of the command; rethrows any other error. */
function refused(error: unknown): void {
  if (error instanceof DOMException) return;
  answer.replaceChildren(element('p', 'note', refusal(error)));
}

const queryOf = ({ session, seq }: AskedEvent) => ({ session, seq: String(seq) });

async function run(event: AskedEvent): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  const textIn = (id: string): string => byId<HTMLInputElement>(id).value.trim();
  const policy = textIn('what-if-policy');
  const query = {
    policy,
    preset: textIn('what-if-preset'),
    cap: textIn('what-if-cap'),
    set: JSON.stringify(changes()),
  };
  const stop = button('', 'stop');
  stop.addEventListener('click', () => {
    asking.abort();
    answer.replaceChildren();
  });
  answer.replaceChildren(element('p', 'soft', 'The job is simulated from here on … ', stop));
  try {
    show(await ask<WhatIfText>('what-if', { ...queryOf(event), ...query }, signal));
  } catch (error) {
    refused(error);
  }
}

/** Shows the form for an event if it is open, and cancels questions about other events. */
export async function whatIfAt(present: () => AskedEvent, failed: (error: unknown) => void, signal: AbortSignal) {
  if (!panel.open) return;
  const event = present();
  try {
    const found = await ask<WhatIfForm>('what-if-form', queryOf(event), signal);
    const text = JSON.stringify([event.session, found]);
    if (text === formOf) return;
    formOf = text;
    draw(found, () => void run(present()).catch(failed));
    answer.replaceChildren();
  } catch (error) {
    formOf = '';
    form.replaceChildren();
    refused(error);
  }
}

/** Asks again when the form is opened. */
export const onWhatIf = (opened: () => void): void => panel.addEventListener('toggle', opened);
