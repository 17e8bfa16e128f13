/**
 * What programs and their environments change in what is awaited: what a policy holds back is owed by nobody, and of a program that is
 * over nothing is owed any more.
 */
import type { AnyDecision, AnyEvent } from '../../core/definition.ts';
import type { Message } from '../../schemas/messages.ts';
import type { Owed } from './state.ts';

const ofProgram = ['response.completed', 'tool.finished', 'turn.finished', 'turn.requested'] as const;
const isBegun = (type: string): boolean => type === 'request.launch' || type === 'request.resume';

/** Whether programs wait for environments: then they begin when they have one, and not when they are launched. */
const needSlots = ({ commands }: Owed): boolean => commands.usual('slot.ready') !== undefined;

/** Forgets what is owed of a program. */
export function forgetProgram(owed: Owed, requestId: string, types: readonly string[] = ofProgram): void {
  owed.forget(...types.map((type) => ({ type, requestId })));
}

/** Follows a decision that is answered. */
export function told(owed: Owed, decision: AnyDecision, at: number): void {
  const { type, requestId } = decision as AnyDecision & { readonly requestId?: string };
  if (isBegun(type) && needSlots(owed)) return;
  owed.told(decision, at);
  // A program whose environment ends is over.
  if (type === 'slot.reclaim' && requestId !== undefined) forgetProgram(owed, requestId);
}

/** Follows an event that answers. */
export function heard(owed: Owed, event: AnyEvent, at: number): void {
  const neededSlots = needSlots(owed);
  owed.heard(event, at);
  // Until the turn is routed, the policy holds it back.
  if (event.type === 'turn.requested')
    forgetProgram(owed, (event as Message<'turn.requested'>).requestId, ['response.completed']);
  if (neededSlots || !needSlots(owed)) return;
  for (const { type, ids } of owed.commands.open)
    if (isBegun(type)) forgetProgram(owed, ids.requestId!, ['response.completed']);
}

/** What is owed of a program no more after a report that changes nothing. */
export function forgetLate(owed: Owed, { requestId, reason }: Message<'program.late'>): void {
  forgetProgram(owed, requestId, reason.code === 'already_ended' ? ofProgram : ['turn.requested']);
}
