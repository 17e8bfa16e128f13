/** Messages of the vocabulary as TypeScript types, by name. */
import type { Messages } from '../generated/messages/index.ts';

/** An event or a decision by its type, or any of them. */
export type Message<T extends keyof Messages = keyof Messages> = Messages[T];

/** A notice that a host sends as an event, with an optional reason. */
export type Reported<M extends { readonly reason: unknown }> = Omit<M, 'reason'> & Partial<Pick<M, 'reason'>>;
