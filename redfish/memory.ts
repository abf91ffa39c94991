import Type, { type Static } from 'typebox';
import { OpenSession } from './lostSession.ts';

const paths = Type.Array(Type.String({ maxLength: 512 }), { maxItems: 16 });

/**
 * What was found to work with one BMC, so that the next time begins with it. Whoever opens a BMC again hands it in; it is forgotten when
 * another model or firmware answers. A BMC that would have more remembered than this has it found anew each time.
 */
export const BmcMemory = Type.Object(
  {
    /** Of whom this is remembered: model and firmware. */
    of: Type.Optional(Type.String({ maxLength: 512 })),
    ifMatch: Type.Optional(Type.Enum(['as-given', 'loosened', 'any', 'none'])),
    /** The login that it took last, where that is one in the place of another: its name. */
    login: Type.Optional(Type.String({ maxLength: 64 })),
    /** The session that is open; whoever finds one at the start was killed before. */
    session: Type.Optional(OpenSession),
    bootFields: Type.Optional(Type.Enum(['least', 'all'])),
    /** Boot overrides go to the settings resource. */
    viaSettings: Type.Optional(Type.Boolean()),
    /** Paths of the virtual CD drives. */
    cdDrives: Type.Optional(paths),
    /** Where the entries of its event log are; `none` when it has no such log. */
    eventLog: Type.Optional(Type.String({ maxLength: 512 })),
    /** What InsertMedia demands beside the URL. */
    insertFields: Type.Optional(paths),
  },
  { additionalProperties: false },
);
export type BmcMemory = Static<typeof BmcMemory>;

/** Empties a memory of another model or firmware. */
export function rememberOf(memory: BmcMemory, of: string): void {
  if (memory.of !== undefined && memory.of !== of)
    for (const name of Object.keys(memory)) delete memory[name as keyof BmcMemory];
  memory.of = of;
}
