/**
 * The router as a process: `serve.ts http://10.0.0.1:8000 http://10.0.0.2:8000 --port 8080`. The key of the engines is in
 * `ENGINE_API_KEY`, where they have one.
 */
import { parseArgs } from 'node:util';
import { create, programScheduling } from 'rollflex';
import { roundRobin } from './round-robin.ts';
import { Router } from './router.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '8080' },
    /** Settings of the policy, as JSON. */
    settings: { type: 'string', default: '{}' },
    'round-robin': { type: 'boolean', default: false },
  },
});
if (positionals.length === 0) throw new Error('expected the addresses of engines, such as http://10.0.0.1:8000');
const policy = values['round-robin'] ? roundRobin() : create(programScheduling, JSON.parse(values.settings));
const apiKey = process.env.ENGINE_API_KEY;
const router = new Router({ engines: positionals, ...(apiKey === undefined ? {} : { apiKey }) }, policy);
console.log(await router.start(Number(values.port), values.host));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void router.stop());
