import type { EndToEndCase } from '../endToEndCase.ts';
import { freshDebian } from './freshDebian.ts';

/** Every end-to-end case, in the order in which `--list` names them. */
export const cases: readonly EndToEndCase[] = [freshDebian];
