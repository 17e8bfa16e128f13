export { groupAssembly } from './group-assembly.ts';
export { type AssemblyConfig, type AssemblyInput, assemblyConfig } from './schema.ts';
