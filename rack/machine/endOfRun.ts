/** What follows when QEMU ends: the machine stays off, or it was a reset and starts again. */
export type EndOfRun = 'off' | 'restart';

/**
 * Decides by the reason of QMP's SHUTDOWN event; without one QEMU died, which leaves the machine off as a failed power
 * supply does. Reasons are those of QEMU's ShutdownCause (7.2 to 10.0).
 */
export function endOfRun(shutdownReason: string | undefined): EndOfRun {
  return shutdownReason === 'guest-reset' || shutdownReason === 'host-qmp-system-reset' ? 'restart' : 'off';
}
