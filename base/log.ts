import { type Logger, pino } from 'pino';

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> & {
  child(bindings: Record<string, unknown>): Log;
};

/** JSON lines on standard output, which journald keeps. `level`: debug, info, warn, error or silent. */
export function openLog(name: string, level = 'info'): Log {
  return pino({
    name,
    level,
    redact: ['password', '*.password', 'token', '*.token', 'authorization'],
  }) as unknown as Log;
}

/** For tests and library use: says nothing. */
export function silentLog(): Log {
  return pino({ level: 'silent' }) as unknown as Log;
}
