import { setting } from './escape.ts';

/** The waits grow by a second: 1 + 2 + … + 14, so about two minutes before giving up. */
const twoMinutes = 15;

/**
 * Lines that run `command` until it works, with growing waits between the `tries`, and go to `failed` in the end. `label`
 * tells several of these in one script apart.
 */
export function retried(command: string, label: string, failed: string, tries = twoMinutes): string[] {
  const count = `${label}-tries`;
  return [
    `set ${count}:int32 0`,
    `:${label}`,
    `${command} && goto ${label}-done ||`,
    `inc ${count}`,
    `iseq ${setting(count)} ${tries} && goto ${failed} ||`,
    `echo railhead: trying again in ${setting(count)} s`,
    `sleep ${setting(count)}`,
    `goto ${label}`,
    `:${label}-done`,
  ];
}
