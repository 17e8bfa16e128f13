/** Configuration of group-assembly. */
import { z } from 'zod';

/** Schema of the configuration: there is nothing to set. */
export const assemblyConfig = z.strictObject({});

/** What a caller writes. */
export type AssemblyInput = z.input<typeof assemblyConfig>;
/** The configuration with its defaults filled in. */
export type AssemblyConfig = z.output<typeof assemblyConfig>;
