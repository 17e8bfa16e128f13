/** What the engine says of its version: it is not SGLang. */
export const versionFollowed = 'rollflex-mock-engine (sglang routes)';
