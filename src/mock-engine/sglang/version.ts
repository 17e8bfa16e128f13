/** The version that the engine reports, which says that it is not SGLang. */
export const versionFollowed = 'rollflex-mock-engine (sglang routes)';
