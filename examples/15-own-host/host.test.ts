/** The host does its part: every command is answered, once, whatever the policy asks for. */
import { test } from 'node:test';
import { checkHost } from 'rollflex/testing';
import { ToyEngine } from './engine.ts';
import { Host } from './host.ts';

test('the host keeps the contract of a policy', async () => {
  let prompts = 0;
  await checkHost((report) => new Host(new ToyEngine(), () => `p${prompts++}`, report));
});
