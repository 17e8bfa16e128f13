/** What a page may ask about a logged session, and what it is told. */
import { z } from 'zod';
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import { refuse } from '../../errors.ts';
import { registry } from '../../registry.ts';
import { jobPresetIds, usualPreset } from '../models/presets.ts';
import { otherPolicies } from './ask.ts';
import { checkSimulated } from './logged-scheduler.ts';
import { fixedSettings } from './what-if.ts';

/** A setting of the policy, as its schema describes it. */
export interface SettingItem {
  readonly name: string;
  readonly description: string;
  /** Its value in the log; absent where it is not set. */
  readonly value?: unknown;
  readonly kind: 'number' | 'boolean' | 'choice' | 'json';
  readonly choices?: readonly string[];
  /** What a number may be, in words. */
  readonly range?: string;
}

/** What can be asked. */
export interface WhatIfForm {
  readonly settings: readonly SettingItem[];
  readonly policies: readonly string[];
  readonly presets: readonly string[];
  readonly preset: string;
}

type Property = z.core.JSONSchema.BaseSchema;

/** Returns what can be asked about a session. Throws `infeasible` for one that cannot be simulated. */
export function formOf(snapshot: Snapshot | undefined): WhatIfForm {
  if (snapshot === undefined) return refuse('infeasible', 'seq', 'an event whose state is known', 'another');
  const { policy, config } = snapshot;
  checkSimulated(policy, config);
  const definition = registry.get(policy) as AnyPolicyDefinition;
  const schema = z.toJSONSchema(definition.config, { io: 'input', unrepresentable: 'any' });
  const all = Object.entries(schema.properties ?? {}) as [string, Property][];
  const settings = all
    .filter(([name]) => !fixedSettings.includes(name))
    .map(([name, property]) => settingOf(name, property, (config as Record<string, unknown>)[name]));
  const policies = Object.keys(otherPolicies).filter((one) => one !== policy);
  return { settings, policies, presets: jobPresetIds, preset: usualPreset };
}

function settingOf(name: string, property: Property, value: unknown): SettingItem {
  const { type, description = '', enum: choices } = property;
  const item = { name, description, ...(value === undefined ? undefined : { value }) };
  if (choices !== undefined) return { ...item, kind: 'choice', choices: choices.map(String) };
  if (type === 'boolean') return { ...item, kind: 'boolean' };
  if (type === 'number' || type === 'integer') return { ...item, kind: 'number', range: rangeOf(property) };
  return { ...item, kind: 'json' };
}

function rangeOf({ type, minimum, exclusiveMinimum, maximum, exclusiveMaximum }: Property): string {
  const limits = [
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(exclusiveMinimum === undefined ? [] : [`more than ${exclusiveMinimum}`]),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [`at most ${maximum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`less than ${exclusiveMaximum}`]),
  ];
  return [type === 'integer' ? 'whole' : 'a number', ...limits].join(', ');
}

/** An answer, in texts. */
export interface WhatIfText {
  /** From where to where, and what is other. */
  readonly about: readonly string[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What the change is worth, with its interval; absent without a change. */
  readonly worth?: string;
  /** What is assumed. */
  readonly assumed: readonly string[];
}
