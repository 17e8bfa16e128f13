/** What enters and leaves policies with messages, by the names of ledgers; it is no part of the package's vocabulary. */
import type { KeptResponse, Prompt } from './prompts.ts';

/** Returns the ids of requests. */
export const requestIds = (all: readonly { readonly requestId: string }[]): string[] => all.map((one) => one.requestId);

/** Returns the complete responses that a prompt keeps. */
export const finishedOf = ({ kept = [] }: Kept): KeptResponse[] => kept.filter((one) => one.finished);
/** Returns the ids of these responses. */
export const finishedIds = (one: Kept): string[] => requestIds(finishedOf(one));
type Kept = Pick<Prompt, 'kept'>;

type Prompts = Prompt | readonly Prompt[];
/** What enters or leaves with whole prompts: the `prompts`, and the complete `responses` that they keep. */
export const promptsIn = <K extends string>(field: K) => ({
  prompts: (message: Readonly<Record<K, Prompts>>) => [message[field]].flat().map((one) => one.promptId),
  responses: (message: Readonly<Record<K, Prompts>>) => [message[field]].flat().flatMap(finishedIds),
});

interface Dropped {
  readonly dropped: readonly { readonly requestId: string }[];
}
/** What leaves with a prompt that is given up, and its responses with it. */
export const endsPrompt = {
  prompts: ({ promptId }: { readonly promptId: string }) => [promptId],
  responses: ({ dropped }: Dropped) => requestIds(dropped),
};
/** What leaves with a prompt that goes on elsewhere: the responses that it keeps, and those that it does not. */
export const wholePrompt = {
  prompts: promptsIn('prompt').prompts,
  responses: ({ prompt: one, dropped }: Dropped & { readonly prompt: Kept }) => [
    ...requestIds(dropped),
    ...finishedIds(one),
  ],
};

/** Makes the id of a group in a ledger, with its round: the same prompt may be in several rounds. */
export const groupKey = (roundId: string, groupId: string): string => `${roundId}\n${groupId}`;
