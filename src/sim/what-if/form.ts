/** Questions that a page may ask about a logged session, and the answers. */
import { z } from 'zod';
import type { AnyPolicyDefinition } from '../../core/machine/definition.ts';
import type { Snapshot } from '../../core/machine/snapshot.ts';
import { refuse } from '../../errors.ts';
import { registry } from '../../registry.ts';
import { jobPresetIds, usualPreset } from '../models/presets.ts';
import { otherPolicies } from './ask.ts';
import { checkSimulated } from './logged-scheduler.ts';
import { fixedSettings } from './what-if.ts';

/** A setting of the policy, described by its schema. */
export interface SettingItem {
  readonly name: string;
  readonly description: string;
  /** Value in the log; absent if the setting is not set. */
  readonly value?: unknown;
  readonly kind: 'number' | 'boolean' | 'choice' | 'json';
  readonly choices?: readonly string[];
  /** Allowed range of a number, in words. */
  readonly range?: string;
}

/** The possible questions about a session. */
export interface WhatIfForm {
  readonly settings: readonly SettingItem[];
  readonly policies: readonly string[];
  readonly presets: readonly string[];
  readonly preset: string;
}

type Property = z.core.JSONSchema.BaseSchema;

/** Returns the possible questions about a session. Throws `infeasible` for a session that cannot be simulated. */
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

/** An answer as texts. */
export interface WhatIfText {
  /** The simulated range, and the changes. */
  readonly about: readonly string[];
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** The value of the change, with its interval; absent without a change. */
  readonly worth?: string;
  /** The assumptions. */
  readonly assumed: readonly string[];
}
