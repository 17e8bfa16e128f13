/** Whether types are the same: not only assignable both ways, but with the same fields, optional where the other has them so. */
export type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Takes a record of answers that are all `true`; the compiler names any other. */
export type AllTrue<T extends { readonly [K in keyof T]: true }> = T;
