import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

/** The result of a call of libc that tells of a failure by a negative one. @throws Error with the system's `code` */
export function checked(what: string, result: number): number {
  if (result >= 0) return result;
  const code = getSystemErrorName(-koffi.errno());
  throw Object.assign(new Error(`${what}: ${code}`), { code });
}
