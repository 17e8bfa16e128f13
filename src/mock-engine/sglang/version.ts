/** The version in the engine's answers, which shows that the engine is not SGLang. */
export const versionFollowed = 'rollflex-mock-engine (sglang routes)';
