/** Each event and each decision has the type of its schema: the compiler says so. */
import type { z } from 'zod';
import type { decisions, events, Messages } from '../../src/schemas/index.ts';
import type { AllTrue, Same } from './same.ts';

type Message = (typeof events)[number] | (typeof decisions)[number];
type Schemas = { [W in Message as W['type']]: z.output<W['schema']> };

/** None is missing, and none is left over. */
export type Names = AllTrue<{ names: Same<keyof Messages, keyof Schemas> }>;
export type SameMessages = AllTrue<{ [T in keyof Messages]: Same<Messages[T], Schemas[T]> }>;
