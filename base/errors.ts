/** Predicates on system errors, so that a `catch` reads as a sentence. */
export function isENOENT(error: unknown): boolean {
  return systemCode(error) === 'ENOENT';
}

export function isEEXIST(error: unknown): boolean {
  return systemCode(error) === 'EEXIST';
}

/** The `code` of a Node system error; undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Throws away a failure that is expected and harmless, e.g. removing what may be gone. */
export function ignore(): void {}
