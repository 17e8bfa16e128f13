export { sandboxTimeout, type TimeoutDecision, type TimeoutEvent } from './sandbox-timeout.ts';
export { type TimeoutConfig, type TimeoutInput, timeoutConfig, timeoutSettings } from './schema.ts';
