import { access } from 'node:fs/promises';

/** Whether a file or folder is there. One that cannot be looked at counts as missing. */
export function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
