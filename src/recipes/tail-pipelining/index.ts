export { type TailPipeliningConfig, type TailPipeliningInput, tailPipeliningConfig } from './schema.ts';
export { tailPipelining } from './tail-pipelining.ts';
