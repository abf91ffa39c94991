import { variable } from './escape.ts';

/** In seconds. They grow by one: about two minutes before giving up, as iPXE's scripts do. */
const waits = Array.from({ length: 14 }, (_, index) => index + 1);

/**
 * Lines that run `attempt` until the variable `done` is set by it, with growing waits between the tries. GRUB has no numbers, and `source`
 * says success whatever happened: hence a list of waits and a variable.
 */
export function retried(attempt: readonly string[], done: string): string[] {
  return [
    `set ${done}=`,
    `for wait in ${waits.join(' ')} last; do`,
    ...attempt.map((line) => `  ${line}`),
    `  if [ -n "${variable(done)}" -o "${variable('wait')}" = last ]; then break; fi`,
    `  echo "railhead: trying again in ${variable('wait')} s"`,
    `  sleep ${variable('wait')}`,
    'done',
  ];
}
