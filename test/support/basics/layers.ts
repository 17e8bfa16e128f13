/** Which imports of a project break its layers. */
import { createRequire } from 'node:module';
import { cruise, type ICruiseResult, type IFlattenedRuleSet } from 'dependency-cruiser';

const config = createRequire(import.meta.url)('../../../.dependency-cruiser.cjs') as {
  forbidden: IFlattenedRuleSet['forbidden'];
};

/** The rules that `src` in a folder breaks, each with the file that does. */
export async function broken(baseDir: string): Promise<string[]> {
  const ruleSet = { forbidden: config.forbidden } as IFlattenedRuleSet;
  const options = {
    baseDir,
    ruleSet,
    validate: true,
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  };
  const { output } = await cruise(['src'], options);
  return (output as ICruiseResult).summary.violations.map((one) => `${one.rule.name}: ${one.from}`);
}
