/** The version in the answers of the engine: it shows that the engine is not SGLang. */
export const versionFollowed = 'rollflex-mock-engine (sglang routes)';
