import type { IfMatchForm } from './entityTag.ts';
import type { FieldChoice } from './operations/bootFields.ts';

/**
 * What was found to work with one BMC, so that the next time begins with it. Whoever opens a BMC again hands it in; it is forgotten when
 * another model or firmware answers.
 */
export interface BmcMemory {
  /** Of whom this is remembered: model and firmware. */
  of?: string;
  ifMatch?: IfMatchForm;
  bootFields?: FieldChoice;
  /** Boot overrides go to the settings resource. */
  viaSettings?: boolean;
  /** Paths of the virtual CD drives. */
  cdDrives?: string[];
  /** What InsertMedia demands beside the URL. */
  insertFields?: string[];
}

/** Empties a memory of another model or firmware. */
export function rememberOf(memory: BmcMemory, of: string): void {
  if (memory.of !== undefined && memory.of !== of)
    for (const name of Object.keys(memory)) delete memory[name as keyof BmcMemory];
  memory.of = of;
}
