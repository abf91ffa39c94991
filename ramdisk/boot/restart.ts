import { restartNow } from '#base/libc.ts';

/**
 * Restarts the machine at once. kexec would go here, once an image says which kernel and command line it starts; the caller
 * reports the method that was used.
 */
export function restartMachine(): void {
  restartNow();
}
