/** Loads packages that few users need; these users install them. */
import { caused, refuse } from '../errors.ts';

/**
 * Loads an optional package.
 *
 * @param name - name of the package in the registry
 * @param path - the setting that needs the package, for the error
 * @throws PolicyError `invalid_input`, with the command that installs it
 */
export async function optionalPackage<T>(name: string, path: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    // `ERR_MODULE_NOT_FOUND` of `import`, `MODULE_NOT_FOUND` of `require`.
    const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
    // An installed package may lack one of its own dependencies.
    const isAbsent = /MODULE_NOT_FOUND$/.test(String(code)) && message.includes(`'${name}'`);
    const got = isAbsent ? undefined : caused(error);
    refuse(
      'invalid_input',
      path,
      `the package ${name} beside the npm package rollflex (npm install ${name})`,
      got,
      error,
    );
  }
}
