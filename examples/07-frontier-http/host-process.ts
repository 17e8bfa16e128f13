/** A host as a process of its own, so that it can be killed. */
import { type HostOptions, runHost, type Surroundings } from './host.ts';

const { options, surroundings } = JSON.parse(process.argv[2]!) as { options: HostOptions; surroundings: Surroundings };
await runHost(options, surroundings);
