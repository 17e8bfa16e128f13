/** Prompt selection in front of an admission: what the admission asks for is chosen from what the source offers. */
import { z } from 'zod';
import { withPart } from '../../core/recipe/recipe.ts';
import type { Delivery } from '../../core/recipe/spec.ts';
import { copyPrompt } from '../../core/rollout/prompts.ts';
import { promptSelection } from '../../policies/prompt-selection/index.ts';
import { mostKeptFactor, selectionConfig, selectionSettings } from '../../policies/prompt-selection/schema.ts';
import { type admissionConfig, mostRequests, mostResponses } from '../../policies/speculative-admission/schema.ts';
import type { Message } from '../../schemas/messages.ts';

/** The switch, with the settings of the part. */
export const selectionSwitch = {
  promptSelection: z
    .strictObject(selectionSettings)
    .optional()
    .describe(
      'Prompts are taken by what their responses are expected to teach, by `prompt-selection` with these settings; with a filter, rounds begin as many as are likely to be kept, in place of `promptSpeculation`. Absent: all, in the order of the data.',
    ),
};

type Admission = z.output<typeof admissionConfig>;
interface Switched extends Admission {
  readonly promptSelection?: z.output<typeof selectionSwitch.promptSelection>;
}

/** The configuration of the part while it is switched off. */
const partOff = { responsesPerPrompt: 2 };

/** Derives the configuration of the part. */
export const partConfig = ({ promptSelection: settings, responsesPerPrompt, filter }: Switched) =>
  settings === undefined ? partOff : { ...settings, responsesPerPrompt, fill: filter === 'none' ? 'prompts' : 'kept' };

const { unbiased: _, maxPasses: _passes, rememberedPrompts: _remembered, ...orderSettings } = selectionSettings;
/** The switch where every prompt is trained in every epoch. */
export const orderSwitch = {
  promptSelection: z
    .strictObject(orderSettings)
    .optional()
    .describe(
      'Prompts whose responses are expected to teach most come first, by `prompt-selection` with these settings; each is trained in every epoch. Absent: in the order of the data.',
    ),
};
interface Ordered {
  readonly promptSelection?: z.output<typeof orderSwitch.promptSelection>;
  readonly responsesPerPrompt: number;
  readonly rememberedPrompts: number;
}

/** Derives the configuration of the part that gives prompts an order. */
export const orderConfig = ({ promptSelection: settings, responsesPerPrompt, rememberedPrompts }: Ordered) =>
  settings === undefined ? partOff : { ...settings, responsesPerPrompt, rememberedPrompts, passedOver: 'last' };

/** Refuses settings that contradict the order. */
export function checkOrder(config: Ordered, refuse: (path: string, message: string) => void): void {
  if (config.promptSelection === undefined) return;
  checkPart(orderConfig(config), refuse);
}

/** Refuses what the part would refuse, by the path in the settings of the recipe. */
function checkPart(config: object, refuse: (path: string, message: string) => void): void {
  for (const { path, message } of selectionConfig.safeParse(config).error?.issues ?? [])
    refuse(path[0] === 'responsesPerPrompt' ? 'responsesPerPrompt' : ['promptSelection', ...path].join('.'), message);
}

/** Settings of the admission that follow from the switch. */
export const selectedAdmission = ({ promptSelection }: Switched) =>
  promptSelection === undefined ? {} : { promptSpeculation: 1 };

/** Refuses settings that contradict the switch. */
export function checkSelection(config: Switched, refuse: (path: string, message: string) => void): void {
  const { promptSelection: settings, promptsPerRound, filter } = config;
  if (settings === undefined) return;
  if (config.speculation === 'auto')
    refuse('speculation', '`fixed` beside `promptSelection`, which says how many begin');
  if ((config.promptSpeculation ?? 1) > 1)
    refuse('promptSpeculation', '1, or nothing, beside `promptSelection`: it begins as many as are likely to be kept');
  if (config.quotas !== undefined)
    refuse('quotas', 'no `quotas` beside `promptSelection`: `domainFloor` is the least share of a domain');
  if (settings.unbiased) {
    if (filter !== 'none') refuse('filter', '`none` beside `unbiased`: what a filter keeps depends on the rewards');
    if ((config.responseSpeculation ?? 2) > 1)
      refuse('responseSpeculation', '1 beside `unbiased`: the responses that end first are no fair sample');
  }
  checkPart(partConfig(config), refuse);
  const requests = mostKeptFactor * promptsPerRound * mostResponses(config);
  if (requests > mostRequests)
    refuse(
      'promptsPerRound',
      `at most ${mostRequests} requests, of ${mostKeptFactor} × P0 prompts: they are ${requests}`,
    );
}

/**
 * Puts the selection, the last of the parts, before the others: what it still holds for them must be there when they learn that no
 * more comes.
 */
export const selectionFirst = (recipients: readonly string[]): readonly string[] =>
  recipients.at(-1) === 'selection' ? ['selection', ...recipients.slice(0, -1)] : recipients;

/** Route of prompts that were taken: the admission begins as many as are likely to be kept. */
export const selected = {
  to: (decision: Message<'prompts.selected'>, { filter }: { readonly filter: string }): Delivery[] => {
    const { at, roundId, prompts, choices } = decision;
    const taken = prompts.map((one, index) =>
      filter === 'none' ? copyPrompt(one) : copyPrompt({ ...one, keptChance: choices[index]!.keptChance }),
    );
    const event: Message<'prompts.supplied'> = { type: 'prompts.supplied', at, roundId, prompts: taken };
    // A round without any prompt was not opened: what came after it waits for the next one.
    const otherwise = taken.map((prompt): Delivery => {
      const reason = { code: 'round_closed' } as const;
      const back: Message<'prompt.returned'> = { type: 'prompt.returned', at, prompt, roundId, dropped: [], reason };
      return { part: 'queue', event: back };
    });
    return [{ part: 'admission', event, first: true, otherwise }];
  },
};

/** Adds the part to a state that was saved without it. */
export const withSelection = withPart('selection', promptSelection, partOff);
